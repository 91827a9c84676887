"""Sentences with tags in them: translated as a whole, with the tags put back."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from html import escape, unescape
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from dragoman.serving.passage import PlainText
from dragoman.serving.tags import Token

Cut = Callable[[str], PlainText]
"""Takes a text apart that has no tags."""


class Span(NamedTuple):
    """Some text, and the tags that stand around it."""

    text: str
    """Without entities."""

    before: tuple[Token, ...] = ()
    after: tuple[Token, ...] = ()
    fixed: str | None = None
    """What is not translated, with its tags."""

    @property
    def is_bare(self) -> bool:
        """Whether there is text and nothing else."""
        return not (self.before or self.after or self.fixed)

    @property
    def is_closed(self) -> bool:
        """Whether the tags around it belong together."""
        return [("open", tag.name) for tag in self.before] == [
            ("open" if tag.kind == "close" else "close", tag.name) for tag in reversed(self.after)
        ]

    @property
    def speaks(self) -> bool:
        """Whether there is something to translate."""
        return self.fixed is None and any(map(str.isalpha, self.text))


def build_spans(tokens: Sequence[Token]) -> list[Span]:
    """Give tags to the text that they stand around; put together, the spans are the tokens.

    Args:
        tokens: Text, inline tags, and elements that are not translated, as tokens of kind "other".
    """
    spans: list[Span] = []
    waiting: list[Token] = []
    for token in tokens:
        if token.kind in ("text", "other"):
            fixed = token.raw if token.kind == "other" else None
            text = unescape(_TAG.sub("", token.raw) if fixed else token.raw)
            spans.append(Span(text, before=tuple(waiting), fixed=fixed))
            waiting = []
        elif token.kind == "close" and spans and not waiting:
            spans[-1] = spans[-1]._replace(after=(*spans[-1].after, token))
        else:
            waiting.append(token)
    if waiting and spans:
        spans[-1] = spans[-1]._replace(after=(*spans[-1].after, *waiting))
    return spans


_TAG = re.compile(r"<[^<>]*>")


def cut_sentences(spans: Sequence[Span], cut: Cut) -> Iterator[list[Span]]:
    """Cut a block of text behind its sentences, but not within tags that belong together."""
    ends = list(accumulate(len(piece) for piece in cut("".join(s.text for s in spans)).pieces))
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
            if stop in within or stop in ends[bisect_left(ends, end) :][:1]:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


class Sentence:
    """A sentence with tags in it.

    It is translated as a whole, without its tags, and what stands between two tags that belong
    together is translated once more on its own. Where that is found in the translation of the
    whole, exactly once, the tags go around it. If one is not found, or the tags are more tangled
    than that, the text between any two tags is translated for itself, which keeps all tags in order
    and costs fluency.
    """

    def __init__(self, spans: Sequence[Span], cut: Cut, *, keeps_nbsp: bool) -> None:
        self._spans = spans
        self._keeps_nbsp = keeps_nbsp
        self._runs = [cut(span.text) if span.speaks else None for span in spans]
        self._whole = None
        if len(spans) > 1 and all(span.is_closed for span in spans):
            self._whole = cut("".join(span.text for span in spans))
        self.pieces = [
            piece
            for text in (self._whole, *self._runs)
            if text is not None
            for piece in text.pieces
        ]

    def put_together(self, translations: list[str]) -> str:
        """Write the sentence anew, with its tags."""
        rest = iter(translations)
        whole, *runs = (
            None if text is None else text.put_together(list(islice(rest, len(text.pieces))))
            for text in (self._whole, *self._runs)
        )
        texts = [
            span.text if run is None else run for span, run in zip(self._spans, runs, strict=True)
        ]
        placed = None if whole is None else self._place(whole, texts)
        if placed is not None:
            return placed
        return "".join(map(self._dress, self._spans, texts))

    def _dress(self, span: Span, text: str) -> str:
        """Put its tags around the translation of a span."""
        inside = self._escape(text) if span.fixed is None else span.fixed
        return "".join(
            [*(tag.raw for tag in span.before), inside, *(tag.raw for tag in span.after)]
        )

    def _escape(self, text: str) -> str:
        text = escape(text, quote=False)
        return text.replace("\u00a0", "&nbsp;") if self._keeps_nbsp else text

    def _place(self, whole: str, texts: list[str]) -> str | None:
        """Find the spans that have tags in the translation of the whole, each exactly once."""
        places: list[tuple[int, int, Span]] = []
        for span, text in zip(self._spans, texts, strict=True):
            if not span.is_bare:
                found = _find(text, whole)
                if len(found) != 1:
                    return None
                places.append((*found[0], span))
        places.sort(key=lambda place: place[0])
        written, done = "", 0
        for start, end, span in places:
            if start < done:
                return None  # in each other
            written += self._escape(whole[done:start]) + self._dress(span, whole[start:end])
            done = end
        return written + self._escape(whole[done:])


def _find(text: str, whole: str) -> list[tuple[int, int]]:
    """Find a translation, but for case and a full stop, where whole words stand."""
    words = text.strip().rstrip(".")
    if not words:
        return []
    pattern = rf"(?<!\w){re.escape(words)}(?!\w)"
    return [found.span() for found in re.finditer(pattern, whole, re.IGNORECASE)]
