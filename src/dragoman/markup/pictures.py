"""Pictures, formulas and icons within sentences, for which a model has no words."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise

from dragoman.markup.tags import ANCHOR, ICON, PICTURE, Token, written
from dragoman.terms.term import is_of_word

_PICTURES = ("img", "math", "svg")
_SPACE = re.compile(r"((?:\s|&nbsp;|&#160;)++)")
_WITHOUT_ATTRIBUTES = re.compile(r"<[\w-]+\s*/?>")


def join_pictures(tokens: Sequence[Token], is_inline: Callable[[Token], bool]) -> list[Token]:
    """Turn each picture, or several side by side, into one token; joined, all are the same.

    One between words of a sentence is a `PICTURE`. One at the beginning or the end of what its tags
    or its block contain is an `ICON`, with the white space beside it. One that parts words, or that
    stands between two elements alike, has no name, so that it ends a sentence.

    Args:
        tokens: Of a document, elements that are not translated as one each.
        is_inline: Tells what is within sentences.
    """
    runs = [list(run) for _, run in groupby(_find_pictures(tokens, is_inline), key=_is_wordless)]
    found: list[Token] = []
    for run, later in pairwise([*runs, []]):
        places = [i for i, token in enumerate(run) if token.name == PICTURE]
        if not places:
            found += run
            continue
        starts = not found or not is_inline(found[-1]) or found[-1].kind == "open"
        ends = not later or not is_inline(later[0]) or later[0].kind == "close"
        if starts or ends:
            before = _cut_space(found, at_end=True) if ends else ""
            after = _cut_space(later, at_end=False) if starts else ""
            found.append(Token("other", before + written(run) + after, ICON))
        else:
            first, stop = places[0], places[-1] + 1
            name = "" if _is_apart(found, run, later) else PICTURE
            found += [*run[:first], Token("other", written(run[first:stop]), name), *run[stop:]]
    return found


def _find_pictures(tokens: Sequence[Token], is_inline: Callable[[Token], bool]) -> list[Token]:
    """Make one token of each picture, and of each inline element that has no words."""
    found: list[Token] = []
    for token in tokens:
        if token.name in _PICTURES and token.kind in ("void", "other"):
            found.append(token._replace(kind="other", name=PICTURE))
        elif token.kind == "void" and is_inline(token):
            found.append(_without_words([token]))
        elif (
            token.kind == "close" and is_inline(token) and (size := _size_of_wordless(found, token))
        ):
            found[-size:] = [_without_words([*found[-size:], token])]
        else:
            found.append(token)
    return found


def _size_of_wordless(before: Sequence[Token], end: Token) -> int:
    """Count the tokens of an element before its end, if there are no words in it; else 0."""
    for size, token in enumerate(reversed(before), start=1):
        if not _is_wordless(token):
            return size if (token.kind, token.name) == ("open", end.name) else 0
    return 0


def _without_words(element: Sequence[Token]) -> Token:
    """Join an element without words: a picture, unless nothing could show one."""
    is_bare = element[0].name == "wbr" or _WITHOUT_ATTRIBUTES.fullmatch(element[0].raw)
    is_seen = not is_bare or any(not token.is_comment for token in element[1:-1])
    return Token("other", written(element), PICTURE if is_seen else ANCHOR)


def _is_wordless(token: Token) -> bool:
    is_space = token.kind == "text" and _SPACE.fullmatch(token.raw) is not None
    return is_space or token.is_comment or token.name == PICTURE


def _is_apart(before: Sequence[Token], run: Sequence[Token], after: Sequence[Token]) -> bool:
    """Tell whether pictures part what is on both sides: words, or elements of a list."""
    if (before[-1].kind, after[0].kind) == ("close", "open"):
        return before[-1].name == after[0].name
    return (
        _touches(reversed(before), -1)
        and _touches(iter(after), 0)
        and not any(token.kind == "text" for token in run)
    )


def _touches(tokens: Iterator[Token], place: int) -> bool:
    text = next((token.raw for token in tokens if token.kind not in ("open", "close")), " ")
    return is_of_word(text[place])


def _cut_space(tokens: list[Token], *, at_end: bool) -> str:
    """Remove the white space at an end of some tokens, and return it."""
    place = -1 if at_end else 0
    if not tokens or tokens[place].kind != "text":
        return ""
    parts = _SPACE.split(tokens[place].raw)  # text, space, text and so on
    if parts[place] or len(parts) == 1:
        return ""
    space = parts.pop(-2 if at_end else 1)
    tokens[place] = tokens[place]._replace(raw="".join(parts))
    return space
