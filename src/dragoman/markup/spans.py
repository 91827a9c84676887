"""Text between tags: the spans of a sentence, with the tags around each."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from dragoman.markup.entities import Write
from dragoman.markup.passage import PlainText
from dragoman.markup.placeholders import unused_names
from dragoman.markup.tags import ANCHOR, Token, written

Cut = Callable[[str], PlainText]
"""Takes apart a text that has no tags."""


class Span(NamedTuple):
    """Some text, and the tags around it."""

    text: str
    """Without entities."""

    before: tuple[Token, ...] = ()
    after: tuple[Token, ...] = ()
    fixed: str | None = None
    """What is not translated, with its tags."""

    wraps: bool = False
    """Whether it is a line break between two words, which may go between any others."""

    is_comment: bool = False
    """Whether nobody sees it, so that it may go between any two words."""

    @property
    def is_bare(self) -> bool:
        """Whether there is text and nothing else."""
        return not (self.before or self.after or self.fixed)

    @property
    def has_place(self) -> bool:
        """Whether it is the translation of certain words, to be found in that of the sentence."""
        return not (self.is_bare or self.wraps or self.is_comment)

    @property
    def speaks(self) -> bool:
        """Whether there is something to translate."""
        return self.fixed is None and any(map(str.isalpha, self.text))


def build_spans(tokens: Sequence[Token], read: Write) -> list[Span]:
    """Attach tags to the text that they surround; joined, the spans are the tokens.

    Args:
        tokens: Text, inline tags, wraps, comments, and elements that are not translated, of kind
            "other". A comment beside a tag stays there.
        read: Takes entities out of text.
    """
    spans: list[Span] = []
    waiting: list[Token] = []
    names = unused_names(read(written(tokens)))
    for token in tokens:
        if token.is_comment and waiting:
            waiting.append(token)
        elif token.is_reading and spans:
            spans[-1] = spans[-1]._replace(after=(*spans[-1].after, token))
        elif token.kind in ("text", "other", "wrap"):
            spans.append(_build_span(token, read, names)._replace(before=tuple(waiting)))
            waiting = []
        elif token.kind == "close" and spans and not waiting:
            comments = _pop_comments(spans)
            spans[-1] = spans[-1]._replace(after=(*spans[-1].after, *comments, token))
        else:
            waiting.append(token)
    if waiting and spans:
        spans[-1] = spans[-1]._replace(after=(*spans[-1].after, *waiting))
    return spans


def _pop_comments(spans: list[Span]) -> list[Token]:
    """Remove the comments at the end of some spans, unless there is nothing else."""
    comments: list[Token] = []
    while len(spans) > 1 and spans[-1].is_comment and not (spans[-1].before or spans[-1].after):
        comments.insert(0, Token("other", spans.pop().fixed or "", ANCHOR))
    return comments


def _build_span(token: Token, read: Write, names: Iterator[str]) -> Span:
    """Read a token; what could not be found again is a placeholder, which the search keeps."""
    match token.kind:
        case "wrap":
            return Span(" ", fixed=token.raw, wraps=True)
        case "other" if token.is_comment:
            return Span("", fixed=token.raw, is_comment=True)
        case "other" if token.is_sign:
            return Span(next(names), fixed=token.raw)
        case "other":
            text = read(_TAG.sub("", token.raw))
            words = text.strip()
            said = text if _is_sure(words) else text.replace(words, next(names))
            return Span(said, fixed=token.raw)
        case _:
            return Span(read(token.raw))


_TAG = re.compile(r"<[^<>]*>")


_SURE_BY_LENGTH = 4
"""A kept word of at least this many letters is surely itself when it is found in the translation;
the commonest words are shorter."""


def _is_sure(words: str) -> bool:
    """Tell whether what is kept is not by chance a word of the translation, too."""
    is_short = words.isalpha() and len(words) < _SURE_BY_LENGTH
    return not is_short or (words.isupper() and len(words) > 1)


def group_elements(spans: Sequence[Span]) -> list[list[int]] | None:
    """Group the spans of each element that is in no other; None if tags do not belong together.

    Returns:
        Their numbers among the spans that have a place.
    """
    groups: list[list[int]] = []
    opened: list[str] = []
    num_placed = 0
    for span in spans:
        if not opened:
            groups.append([])
        if span.has_place:
            groups[-1].append(num_placed)
            num_placed += 1
        for tag in (*span.before, *span.after):
            if tag.is_comment:
                continue
            if tag.kind == "open":
                opened.append(tag.name)
            elif tag.kind != "close" or not opened or opened.pop() != tag.name:
                return None
    return None if opened else groups


def cut_sentences(spans: Sequence[Span], cut: Cut) -> Iterator[list[Span]]:
    """Cut a block of text after each sentence, but not within tags that belong together."""
    ends = list(accumulate(len(piece) for piece in cut("".join(s.text for s in spans)).pieces))
    known = frozenset(ends)
    sentence: list[Span] = []
    end = 0
    for span in spans:
        start, end = end, end + len(span.text)
        if not span.is_bare:
            sentence.append(span)
            continue
        within = ends[bisect_right(ends, start) : bisect_left(ends, end)]
        for begin, stop in pairwise([start, *within, end]):
            sentence.append(Span(span.text[begin - start : stop - start]))
            if stop in known:
                yield sentence
                sentence = []
    if sentence:
        yield sentence
