"""Sentence pairs from translation memories (TMX 1.1 to 1.4b), in constant memory."""

from collections.abc import Iterator
from pathlib import Path

from dragoman.corpora.text_file import CorpusError
from dragoman.corpora.xml_units import Element, Text, Unit, UnitReader, walk, words


def read_tmx(path: Path, languages: tuple[str, str]) -> Iterator[tuple[str, str, int]]:
    """Yield source, target and the number of the first line of each unit.

    Raises:
        CorpusError: the file is missing, cut short or badly written, or no unit has both languages.
    """
    return _Memory(path).pairs(languages)


class _Memory(UnitReader):
    """Finds the texts of a memory in all its languages."""

    format, content, units = "TMX", "memory", ("tu",)

    def _read_unit(self, unit: Element) -> Iterator[Unit]:
        texts, language = list[Text](), None
        for each in walk(unit, ("seg",)):
            if isinstance(each, str):
                continue
            if each.name == "tuv":
                language = each.attributes.get("xml:lang") or each.attributes.get("lang", "")
            elif each.name == "seg":
                if language is None:
                    raise CorpusError(
                        f"{self._path}:{each.line}: a <seg> that is not the only one of a <tuv>; "
                        "join the two, or give each a <tu> of its own"
                    )
                texts.append(Text(language, words(each)))
                language = None
        yield Unit(unit.line, texts)
