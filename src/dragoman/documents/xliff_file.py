"""The tokens of an XLIFF file, and the elements that they make."""

from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple

from dragoman.documents.document import DocumentError
from dragoman.documents.xliff_marks import (
    is_untranslated,
    keeps_lines,
    local_name,
    read_attributes,
)
from dragoman.markup.tags import CDATA, CDATA_END, Token, find_ends, read_tokens


class Part(NamedTuple):
    """An element of a unit, by the places of its tags in the list of tokens."""

    opening: int
    closing: int


class XliffFile:
    """The tokens of a file, and where each begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = read_tokens(text, is_xml=True, is_string=False)
        self.starts = [0, *accumulate(len(token.raw) for token in self.tokens)]
        self._ends = find_ends(self.tokens)
        self._keeping_lines = self._find_within(keeps_lines)
        self._untranslated = self._find_within(is_untranslated)

    def line(self, place: int) -> int:
        """Return the line of a token, from 1."""
        return self.text.count("\n", 0, self.starts[place]) + 1

    def inside(self, part: Part) -> str:
        """Return what stands between the tags of an element."""
        return self.text[self.starts[part.opening + 1] : self.starts[part.closing]]

    def span(self, part: Part) -> tuple[int, int]:
        """Return where an element begins and ends in the text."""
        return self.starts[part.opening], self.starts[part.closing + 1]

    def is_blank(self, part: Part) -> bool:
        """Tell whether an element says nothing; it may be divided into segments."""
        return all(
            token.is_comment
            or local_name(token) == "mrk"
            or not token.raw.removeprefix(CDATA).removesuffix(CDATA_END).strip()
            for token in self.tokens[part.opening + 1 : part.closing]
        )

    def is_text(self, part: Part) -> bool:
        """Tell whether there are no tags in an element, and no comments."""
        inside = self.tokens[part.opening + 1 : part.closing]
        return all(token.kind == "text" for token in inside)

    def keeps_lines(self, place: int) -> bool:
        """Tell whether line breaks are more than spaces in the element that begins at a place.

        It or an element around it says so, the innermost that says anything (XML 1.0, 2.10).
        """
        return place in self._keeping_lines

    def is_untranslated(self, place: int) -> bool:
        """Tell whether the element that begins at a place is to stay as it is."""
        return place in self._untranslated

    def _find_within(self, says: Callable[[Token], bool | None]) -> set[int]:
        """Find what is in elements that say something; the innermost that says anything counts."""
        said, found = [(len(self.tokens), False)], set[int]()
        for place, token in enumerate(self.tokens):
            while place > said[-1][0]:
                said.pop()
            if place in self._ends and (new := says(token)) is not None:
                said.append((self._ends[place], new))
            if said[-1][1]:
                found.add(place)
        return found

    def end(self, opening: int) -> int:
        """Find the token that ends an element.

        Raises:
            DocumentError: there is none.
        """
        if self.tokens[opening].kind != "open":
            return opening
        if opening not in self._ends:
            raise DocumentError(
                self.line(opening), f"<{local_name(self.tokens[opening])}> is not closed"
            )
        return self._ends[opening]

    def parts(self, opening: int, closing: int) -> dict[str, Part]:
        """Find the elements right inside a unit; alternatives and notes have deeper ones."""
        parts: dict[str, Part] = {}
        place = opening + 1
        while place < closing:
            token = self.tokens[place]
            end = self.end(place)
            if token.kind in ("open", "void"):
                parts.setdefault(local_name(token), Part(place, end))
            place = end + 1
        return parts

    def segments(self, part: Part) -> list[tuple[str, Part]]:
        """Find the segments into which a source or a target is divided, with their names."""
        segments: list[tuple[str, Part]] = []
        place = part.opening + 1
        while place < part.closing:
            token = self.tokens[place]
            attributes = read_attributes(token.raw) if local_name(token) == "mrk" else {}
            if attributes.get("mtype") == "seg":
                segments.append((attributes.get("mid", ""), Part(place, self.end(place))))
                place = segments[-1][1].closing
            place += 1
        return segments
