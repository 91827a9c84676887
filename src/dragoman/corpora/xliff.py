"""Sentence pairs from XLIFF 1.2 and 2, in constant memory."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from dragoman.corpora.xml_units import NATIVE_CODES, Element, Text, Unit, UnitReader, walk, words

INHERITING = ("file", "group", "unit")
"""Elements around units that say whether what is in them is to be translated."""

UNCONFIRMED = ("new", "needs-", "initial")
"""How the states of translations begin that nobody has confirmed."""

UNCONFIRMED_IN = {
    "mq:status": (
        *("notstarted", "pretranslated", "machinetranslated", "assembledfromfragments"),
        *("partiallyedited", "rejected"),
    ),
    "m:confirmed": ("0",),
}
"""The same in memoQ and Phrase, by the attributes of a unit, in small letters."""

TAGS_IN_BRACES = re.compile(
    r"\{(?:[biu_^]{1,4}|\d{1,4})>(?![^{}\s<]*\}) | <(?:[biu_^]{1,4}|\d{1,4})\}", re.VERBOSE
)
"""Tags around words as Phrase writes them, which are native codes; `{1}` is a placeholder."""

CONFIRMED_IN_TRADOS = ("Translated", "ApprovedTranslation", "ApprovedSignOff")


def read_xliff(path: Path, languages: tuple[str, str]) -> Iterator[tuple[str, str, int]]:
    """Yield source, target and the number of the first line of each segment.

    A unit of XLIFF 1.2 is one pair; if it is cut into segments that its two sides have in common,
    each is a pair. Where there is no translation, or nobody has confirmed it, or the text is not to
    be translated (what stands beside it is then a copy), the side of the translation is empty,
    which cleaning leaves out and counts.

    Raises:
        CorpusError: the file is missing, cut short or badly written, or no unit has both languages.
    """
    return _Document(path).pairs(languages)


class _Document(UnitReader):
    """Finds the texts of a document and their translations."""

    format, content = "XLIFF", "file"
    units = ("trans-unit", "segment")  # of XLIFF 1.2 and 2

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._languages = "", ""  # source and target
        self._is_to_translate = [True]  # of the elements in each other

    def _enter(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in ("xliff", "file"):
            self._read_languages(attributes)
        if name in INHERITING:
            self._is_to_translate.append(self._translates(attributes))

    def _leave(self, name: str) -> None:
        if name in INHERITING:
            self._is_to_translate.pop()

    def _translates(self, attributes: Mapping[str, str]) -> bool:
        """Tell whether what is in an element is to be translated."""
        translate = attributes.get("translate")
        return self._is_to_translate[-1] if translate is None else translate == "yes"

    def _read_languages(self, attributes: Mapping[str, str]) -> None:
        """Read the languages that an element declares for all in it."""
        for source, target in (("srcLang", "trgLang"), ("source-language", "target-language")):
            if source in attributes:
                self._languages = attributes[source], attributes.get(target, "")

    def _read_unit(self, unit: Element) -> Iterator[Unit]:
        inside = {each.name: each for each in unit.content if isinstance(each, Element)}
        nothing = Element("", {}, unit.line, [])
        source, target = inside.get("source", nothing), inside.get("target", nothing)
        of_source, of_target = (
            declared or side.attributes.get("xml:lang", "")
            for declared, side in zip(self._languages, (source, target), strict=True)
        )
        state = target.attributes.get("state", unit.attributes.get("state", ""))
        is_confirmed = (
            self._translates(unit.attributes)
            and not state.startswith(UNCONFIRMED)
            and not any(
                unit.attributes.get(name, "").lower() in values
                for name, values in UNCONFIRMED_IN.items()
            )
        )
        drafts = _drafts(inside.get("sdl:seg-defs", nothing))
        pairs = _segments(inside.get("seg-source", source), target, drafts) or [
            (unit.line, words(source), "" if drafts else words(target))
        ]
        for line, text, translation in pairs:
            sides = (text, translation if is_confirmed else "")
            source_text, target_text = (TAGS_IN_BRACES.sub("", side) for side in sides)
            yield Unit(line, [Text(of_source, source_text), Text(of_target, target_text)])


def _drafts(definitions: Element) -> set[str]:
    """Return the names of the segments of a unit that Trados does not have as confirmed."""
    return {
        each.attributes.get("id", "")
        for each in definitions.content
        if isinstance(each, Element) and each.attributes.get("conf") not in CONFIRMED_IN_TRADOS
    }


def _segments(
    source: Element, target: Element, drafts: Collection[str]
) -> list[tuple[int, str, str]]:
    """Return the segments that both sides have, if these are all, each with its line."""
    ours, theirs = _cut(source), _cut(target)
    if ours.keys() != theirs.keys():
        return []
    return [
        (line, text, "" if id in drafts else theirs[id][1]) for id, (line, text) in ours.items()
    ]


def _cut(text: Element) -> dict[str, tuple[int, str]]:
    """Find line and words of the segments into which XLIFF 1.2 cuts a text, if all is in them."""
    found = [
        (each.attributes.get("mid", ""), each)
        for each in walk(text, NATIVE_CODES)
        if isinstance(each, Element) and (each.name, each.attributes.get("mtype")) == ("mrk", "seg")
    ]
    if len(dict(found)) < len(found):
        return {}
    segments = {id: (each.line, words(each)) for id, each in found}
    in_segments = "".join(inside for _, inside in segments.values())
    is_whole = _count_letters(in_segments) == _count_letters(words(text))
    return segments if is_whole else {}  # what stands between would be in no pair


def _count_letters(text: str) -> int:
    return sum(map(str.isalnum, text))
