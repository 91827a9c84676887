"""Blocks: the parts of a document that sentences do not cross."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from dragoman.languages.scripts import CLOSING, SENTENCE_ENDS
from dragoman.markup.rules import CODE, Rules
from dragoman.markup.tags import ICON, Token, find_ends
from dragoman.terms.term import is_of_word


def find_blocks(tokens: Sequence[Token], rules: Rules) -> Iterator[list[Token]]:
    """Group tokens that are within the same sentences; any other is a group of its own."""
    mixed = _mixed(tokens) if rules.mixed_is_inline else set()
    block: list[Token] = []
    for i, token in enumerate(tokens):
        is_apart = token.name in rules.block or (rules.is_xml and token.is_cdata)
        is_within = not is_apart and (i in mixed or is_inline(rules, token))
        is_cut = not rules.is_xml and _is_between_sentences(token, block)
        if is_cut or not (is_within or token.kind == "wrap"):
            yield from _without_edges(block)
            yield [token]
            block = []
            continue
        if not rules.is_xml and (place := _end_of_words(block, token)):
            yield from _without_edges(block[:place])
            block = block[place:]
        block.append(token)
    yield from _without_edges(block)


def is_inline(rules: Rules, token: Token) -> bool:
    """Tell whether a token stands within sentences by what it is."""
    is_known = token.name in (*rules.inline, CODE) or token.is_sign or token.is_comment
    return is_known or token.kind in ("text", "wrap")


_SEPARATOR = re.compile(
    r"""\s+/\s+ | (?: \s | &nbsp; )*+
    (?: [|·•»›→>] | &(?: gt | raquo | rsaquo | bull | middot | rarr ); ) (?: \s | &nbsp; )*+""",
    re.VERBOSE,
)
"""What pages put between links that stand side by side."""

_NEAR = 16
"""A link is looked for among so many tokens before such a sign."""

_ENDS_SENTENCE = re.compile(rf"[{SENTENCE_ENDS}]\s*[{re.escape(CLOSING)}]*\Z")


def _is_between_sentences(token: Token, block: Sequence[Token]) -> bool:
    """Tell whether nothing goes on behind a token: a sign between links, a note behind a full stop.

    Args:
        token: With tags on both sides, if it is text.
        block: What comes before it.
    """
    if token.kind == "text":
        is_separator = _SEPARATOR.fullmatch(token.raw) is not None
        return is_separator and any(tag.name == "a" for tag in block[-_NEAR:])
    return token.is_sign and (not block or bool(_ENDS_SENTENCE.search(block[-1].raw)))


def _end_of_words(block: Sequence[Token], token: Token) -> int:
    """Find where words end, if those of a text touch them, but are shown apart from them.

    Returns:
        The number of tokens before that place, closing tags included; 0 if there is none.
    """
    if token.name == ICON:
        return _end_of_previous(block)
    if token.kind != "text":
        return 0
    tags = list(
        takewhile(lambda each: each.kind in ("open", "close") or each.is_comment, reversed(block))
    )
    before = block[-len(tags) - 1] if len(tags) < len(block) else None
    if not tags or before is None or before.kind != "text":
        return 0
    tags.reverse()
    if not _are_apart(before.raw, tags, token.raw):
        return 0
    closing = [i for i, tag in enumerate(tags, start=1) if tag.kind == "close"]
    return len(block) - len(tags) + (closing[-1] if closing else 0)


def _end_of_previous(block: Sequence[Token]) -> int:
    """Find where an element begins that starts with an icon, if another ends just before it."""
    num_opening = len(list(takewhile(lambda each: each.kind == "open", reversed(block))))
    place = len(block) - num_opening
    before = [each for each in block[max(0, place - 2) : place] if each.raw.strip()]
    return place if num_opening and before and before[-1].kind == "close" else 0


def _are_apart(before: str, tags: Sequence[Token], after: str) -> bool:
    """Tell whether two texts with only tags between them are not parts of one word.

    Tags may stand within a word, as in `<b>un</b>able`, `H<sub>2</sub>O` and `<a>cat</a>s`, so that
    only what is never one is apart: two links, a capital behind a word, a number that ends one.
    Emphasis may begin within any word, as in `You<b>Tube</b>`; a label beside one is a `<span>`.
    """
    last, first = before[-1], after[0]
    if not (is_of_word(last) and is_of_word(first)):
        return False
    if all(tag.kind == "open" and tag.name in _EMPHASES for tag in tags if not tag.is_comment):
        return False
    if [tag.kind for tag in tags if tag.name == "a"] == ["close", "open"]:
        return last.isalpha() or first.isalpha()
    if first.isdigit():
        is_badge = after.isdigit() and not any(tag.name in ("sub", "sup") for tag in tags)
        return is_badge and last.islower() and before[-2:].isalpha()
    is_capital = first.isupper() and after[1:2].islower()
    is_unit = bool(_UNIT.match(after))
    return is_capital or (last.isdigit() and not is_unit and first.islower())


_EMPHASES = ("b", "em", "i", "mark", "strong", "u")
_UNIT = re.compile(r"\w{1,3}(?!\w)")
"""What may end a word that begins with digits: `90s`, `3rd`, `5km`."""


def _without_edges(block: list[Token]) -> Iterator[list[Token]]:
    """Split off what is no part of a sentence before or after all the text of a block.

    Tags around all of it are around no words in particular, and the sentences in them are like any
    others.
    """
    ends = find_ends(block)
    starts = {end: start for start, end in ends.items()}
    start, end = 0, len(block)
    while start < end:
        first, last = block[start], block[end - 1]
        if _is_at_edge(first) or (first.kind == "open" and ends.get(start, end) >= end - 1):
            start += 1
        elif _is_at_edge(last) or (last.kind == "close" and starts.get(end - 1, -1) < start):
            end -= 1
        else:
            break
    yield from ([token] for token in block[:start])
    if start < end:
        yield block[start:end]
    yield from ([token] for token in block[end:])


def _is_at_edge(token: Token) -> bool:
    is_blank = token.kind == "text" and not token.raw.strip()
    return token.is_comment or token.kind == "wrap" or token.is_sign or is_blank


def _mixed(tokens: Sequence[Token]) -> set[int]:
    """Find the tokens that have text beside them, within the same element."""
    open_elements, num_elements = [0], 1
    parents: list[int] = []
    with_text: set[int] = set()
    for token in tokens:
        if token.kind == "close" and len(open_elements) > 1:
            open_elements.pop()
        parents.append(open_elements[-1])
        if token.kind == "text" and token.raw.strip():
            with_text.add(open_elements[-1])
        elif token.kind == "open":
            open_elements.append(num_elements)
            num_elements += 1
    return {i for i, parent in enumerate(parents) if parent in with_text}
