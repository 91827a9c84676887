"""A document as tokens, in which each element that is not translated is one."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from html import unescape

from dragoman.markup.rules import CODE, Rules
from dragoman.markup.tags import ANCHOR, NOTE, Kind, Token, find_ends, read_tokens, written


def read_document(document: str, rules: Rules) -> list[Token]:
    """Read a document as tokens, each element that is not translated as one."""
    tokens = read_tokens(document, is_xml=rules.is_xml, is_string=rules.is_string)
    return list(_collapse(tokens, rules))


def _collapse(tokens: Sequence[Token], rules: Rules) -> Iterator[Token]:
    """Turn each element that is not translated into one token of kind "other".

    One that has `translate="yes"` within it is divided: its tags stay tags, as they belong
    together, and each text between them is such a token.
    """
    ends = find_ends(tokens)
    starts = {end: start for start, end in ends.items()}
    asked = [i for i, token in enumerate(tokens) if token.asked and i in ends]
    # The last tokens of divided elements, and of what is asked for in them.
    around = [(len(tokens) - 1, "")]
    place = 0
    while place < len(tokens):
        while around[-1][0] < place:
            around.pop()
        token, (last, divided) = tokens[place], around[-1]
        found: tuple[int, Kind, str] | None = None
        if token.asked and ends.get(place, len(tokens)) <= last:
            around.append((ends[place], ""))
        elif not divided:
            found = _find_kept(tokens, place, rules, ends, starts)
        elif token.kind != "close" and token.raw.strip():
            end = ends.get(place, place)
            found = (end if end <= last else place), "other", divided
        if found is None or (found[1] == "other" and _has_asked(place, found[0], asked, ends)):
            if found is not None:
                around.append((found[0], found[2]))
            yield token
            place += 1
        else:
            end, kind, name = found
            yield Token(kind, written(tokens[place : end + 1]), name)
            place = end + 1


def _find_kept(
    tokens: Sequence[Token],
    place: int,
    rules: Rules,
    ends: Mapping[int, int],
    starts: Mapping[int, int],
) -> tuple[int, Kind, str] | None:
    """Find the last token, the kind and the name of an element that is not translated, if it is.

    One that is never closed in a string is a name, as in "Cannot open <object> now."
    """
    token = tokens[place]
    name = "" if rules.is_xml or rules.is_string else _name_of_whole(tokens, place, ends)
    if name:
        return ends.get(place, place), "other", name
    kind = rules.codes.get(token.name, "other")
    is_named = kind != "other" or token.name in rules.untranslated
    is_kept = token.kind == "open" and not token.asked and (token.marked or is_named)
    if not is_kept or (rules.is_string and place not in ends):
        return None
    end = ends[place] if place in ends else _end_of_unclosed(place, tokens, starts)
    return end, kind, token.name if kind == "other" else CODE


def _has_asked(place: int, end: int, asked: Sequence[int], ends: Mapping[int, int]) -> bool:
    """Tell whether an element has another in it that asks to be translated.

    Args:
        place: Its first token.
        end: Its last token.
        asked: The tokens that open such elements.
        ends: Maps the index of each opening tag to that of its closing tag.
    """
    nearest = bisect_left(asked, place)
    return nearest < len(asked) and ends[asked[nearest]] < end


_MOST_TOKENS = 16
"""In the mark of a note; encyclopaedias put its brackets into tags of their own."""

_NOTE = re.compile(r"\W*+(?:\d{1,3}|[ivxl]{1,6}|[^\W\d_])?\W*+", re.IGNORECASE)
_REFERENCE = re.compile(r"""\s(?:epub:type|role)\s*=\s*["'](?:doc-)?noteref["']""")
_PLACE = re.compile(r"\s(?:id|name)\s*=")
_PAGE_BREAK = re.compile(r"""\s(?:epub:type|role)\s*=\s*["'](?:doc-)?pagebreak["']""")
_SHOWN = re.compile(r"\s(?:class|style|href|title|aria-label)\s*=")


def _name_of_whole(tokens: Sequence[Token], place: int, ends: Mapping[int, int]) -> str:
    """Tell whether an element is the mark of a note or a mere place; it is no part of its sentence.

    A place has no words, and no class, by which a page shows a picture there.
    """
    token = tokens[place]
    if token.name not in ("a", "span", "sup") or token.kind not in ("open", "void"):
        return ""
    end = place if token.kind == "void" else ends.get(place, len(tokens))
    if end - place > _MOST_TOKENS:
        return ""
    inside = tokens[place + 1 : end]
    names = {token.name, *(each.name for each in inside)}
    said = unescape("".join(each.raw for each in inside if each.kind == "text"))
    if said.strip() and (names >= {"a", "sup"} or _REFERENCE.search(token.raw)):
        return NOTE if _NOTE.fullmatch(said) else ""
    is_place = not inside and _PLACE.search(token.raw) and not _SHOWN.search(token.raw)
    return ANCHOR if is_place or _PAGE_BREAK.search(token.raw) else ""


def _end_of_unclosed(place: int, tokens: Sequence[Token], starts: Mapping[int, int]) -> int:
    """Find the last token of an element that is never closed.

    As in a browser, it ends with the element around it, or before the next of its name, so items of
    lists, cells and paragraphs need no end tag.

    Args:
        place: Index of the tag that opens it.
        tokens: The tokens of the document.
        starts: Maps the index of each closing tag to that of its opening tag.
    """
    next_of_name = ("open", tokens[place].name)
    for later in range(place + 1, len(tokens)):
        is_end_of_parent = starts.get(later, place) < place
        if is_end_of_parent or (tokens[later].kind, tokens[later].name) == next_of_name:
            return later - 1
    return len(tokens) - 1
