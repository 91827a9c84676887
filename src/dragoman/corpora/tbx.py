"""Terms and their translations from termbases (TBX 2 and 3), in constant memory."""

from collections.abc import Iterator
from pathlib import Path

from dragoman.corpora.xml_units import Element, Text, Unit, UnitReader, walk, words

LANGUAGES = ("langSet", "langSec")  # of TBX 2 and 3

AVOIDED = ("deprecated", "superseded")
"""How the status of a term begins that nobody is to use."""


def read_tbx(path: Path, languages: tuple[str, str]) -> Iterator[tuple[str, str, int]]:
    """Yield each term with each of its translations, and the line where its entry begins.

    A term that is not to be used is left out, and so is an entry without terms in both languages.

    Raises:
        CorpusError: the file is missing, cut short or badly written, or no entry has both
            languages.
    """
    return _Termbase(path).pairs(languages)


class _Termbase(UnitReader):
    """Finds the terms of a termbase in all its languages."""

    format, content, units = "TBX", "termbase", ("termEntry", "conceptEntry")
    has_synonyms = True

    def _read_unit(self, unit: Element) -> Iterator[Unit]:
        texts, language = list[Text](), ""
        for each in walk(unit, ("term",)):
            if isinstance(each, str):
                continue
            if each.name in LANGUAGES:
                language = each.attributes.get("xml:lang", "")
            elif each.name == "term":
                texts.append(Text(language, words(each)))
            elif texts and _is_avoided(each):
                texts.pop()
        yield Unit(unit.line, texts)


def _is_avoided(note: Element) -> bool:
    """Tell whether a note says of the term before it that it is not to be used."""
    is_status = "administrativeStatus" in (note.attributes.get("type"), note.name.split(":")[-1])
    return is_status and words(note).strip().startswith(AVOIDED)
