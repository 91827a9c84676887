r"""Line breaks and tabs that are written in a string as `\n`, `\r` and `\t`, or as entities."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from dragoman.markup.tags import Token
from dragoman.terms.protected import PATH

ESCAPE = "escape"
"""The name of such a token."""

BREAK = r"(?: \\[nrt] | &(?: \#0*(?:9|10|13) | \#[xX]0*[9aAdD] | NewLine | Tab ); )"
"""A verbose pattern for one of them; an entity counts as an escape, as reading it would break the
line that the string is on."""

_ESCAPE = re.compile(rf"{PATH} | (?P<escape> (?<!\s)\s*+ (?: {BREAK} \s*+ )+ )", re.VERBOSE)
_BREAK = re.compile(rf"\\r\\n | &\#13;&\#10; | &\#xD;&\#xA; | {BREAK}", re.VERBOSE | re.IGNORECASE)


def cut_at_escapes(tokens: Sequence[Token]) -> list[Token]:
    r"""Cut text at line breaks that are written as escapes; joined, the tokens are the same.

    A single one within a sentence only wraps it: there is no punctuation before it, and a small
    letter after it. Others end a sentence.

    >>> [token.kind for token in cut_at_escapes([Token("text", r"One\nmore.\nTwo")])]
    ['text', 'wrap', 'text', 'other', 'text']
    """
    found = [piece for token in tokens for piece in _cut(token)]
    texts = [token.raw.strip() if token.kind == "text" else "" for token in found]
    before = accumulate(texts, _last)
    after = reversed(list(accumulate(reversed(texts), _last)))
    return [
        token._replace(kind="wrap") if token.name == ESCAPE and _wraps(token, *texts) else token
        for token, *texts in zip(found, before, after, strict=True)
    ]


def _cut(token: Token) -> Iterator[Token]:
    if token.kind != "text":
        yield token
        return
    end = 0
    for found in _ESCAPE.finditer(token.raw):
        if found["escape"]:
            if found.start() > end:
                yield Token("text", token.raw[end : found.start()])
            yield Token("other", found.group(), ESCAPE)
            end = found.end()
    if token.raw[end:]:
        yield Token("text", token.raw[end:])


def _last(last: str, text: str) -> str:
    return text or last


def _wraps(token: Token, before: str, after: str) -> bool:
    single = len(_BREAK.findall(token.raw)) == 1
    return (
        single
        and (before[-1:].isalnum() or before.endswith((",", ")", '"', "'")))
        and after[:1].islower()
    )
