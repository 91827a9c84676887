"""Sentences with tags in them: translated as a whole, with the tags put back."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, islice, pairwise

from dragoman.languages.scripts import SENTENCE_ENDS, UNSPACED_CHARACTER
from dragoman.markup.between_words import place_comments, place_wraps
from dragoman.markup.entities import Write
from dragoman.markup.finding import (
    FULL_STOPS,
    INITIAL,
    end_of_sentence,
    find_initial,
    find_kept,
    find_translation,
    is_within_word,
)
from dragoman.markup.resemblance import find_alike
from dragoman.markup.spacing import respace
from dragoman.markup.spans import Cut, Span, group_elements
from dragoman.terms.protected import find_protected
from dragoman.translation import Alternative, join

_MOST_COMPARED = 20_000
"""Spans of a sentence times letters of its translation: 0.1 seconds with spans of three words, one
with fourteen. Sentences that people write have a few thousand."""

_MOST_SEARCHED = 10_000_000
"""Spans of a sentence times its letters, as each span is searched for in all of it: 0.1 seconds. A
page of 240,000 letters without a full stop took 19."""


_MOST_FOUND = 100_000
"""Letters of a sentence at which any of its spans may be, each counted again for each span: half a
second. A thousand touching elements with the same letter in them took five, and four times as long
for each doubling."""


class Sentence:
    """A sentence with tags in it.

    It is translated as a whole, without its tags, and the text between two tags that belong
    together is translated once more on its own. The tags go around that in the translation of the
    whole, or around what resembles it most; tags within others stay there. A line break that only
    wraps the sentence goes between two words, about as far into the sentence as it was. If a place
    is not found, or the tags are more tangled than that, the text between any two tags is
    translated on its own, which keeps all tags in order but costs fluency. A comment goes between
    two words, too.

    Args:
        spans: The sentence.
        cut: Takes apart text that has no tags.
        write: Writes text as the document has it.
    """

    def __init__(self, spans: Sequence[Span], cut: Cut, write: Write) -> None:
        self._spans = spans
        self._write = write
        self._runs = [cut(span.text) if span.speaks else None for span in spans]
        self.source = "".join(span.text for span in spans)
        self.target = next((run.target for run in self._runs if run), "")
        num_visible = sum(not span.is_comment for span in spans)
        # A line break goes between any two words, and would take a tag beside it along.
        is_tangled = any(span.wraps and (span.before or span.after) for span in spans)
        groups = None if is_tangled else group_elements(spans)
        self._groups = groups or []
        is_readable = len(spans) * len(self.source) <= _MOST_SEARCHED
        is_whole = num_visible > 1 and groups is not None and is_readable
        self._whole = cut(self.source) if is_whole else None
        of_whole = self._whole.pieces if self._whole else []
        of_runs = [piece for run in self._runs if run for piece in run.pieces]
        self.pieces = of_whole + of_runs
        self.are_again = [False] * len(of_whole) + [is_whole] * len(of_runs)

    def put_together(self, translations: Sequence[Alternative]) -> Alternative:
        """Write the translated sentence, with its tags."""
        rest = iter(translations)
        whole, *runs = (
            None if text is None else text.put_together(list(islice(rest, len(text.pieces))))
            for text in (self._whole, *self._runs)
        )
        texts = [
            span.text if run is None else self._end_alike(span.text, run.text)
            for span, run in zip(self._spans, runs, strict=True)
        ]
        if whole is not None and not self._is_everywhere(whole.text, texts):
            placed = self._place(whole.text, texts)
            if placed is not None:
                return replace(whole, text=placed)
        return join([run for run in runs if run], self._line_up(texts))

    def _end_alike(self, source: str, text: str) -> str:
        """Take off a full stop that a model adds to a part of a sentence, as it would stay within.

        In a script without spaces a sentence may end without a sign, and its translation with one.
        """
        said, last = text.rstrip(), source.rstrip()[-1:]
        is_word = last.isalnum() and not UNSPACED_CHARACTER.search(last)
        is_added = is_word and said.endswith(tuple(FULL_STOPS)) and not said.endswith("..")
        return said[:-1] + text[len(said) :] if is_added and len(self._spans) > 1 else text

    def _line_up(self, texts: list[str]) -> str:
        """Write the spans one after another."""
        texts = [
            text if span.fixed is None else text.strip()
            for span, text in zip(self._spans, texts, strict=True)
        ]
        gaps = [""] * len(texts)
        for i, (before, after) in enumerate(pairwise(self._spans)):
            texts[i], gaps[i], texts[i + 1] = respace(
                (before.text, after.text), (texts[i], texts[i + 1]), self.target
            )
        dressed = map(self._dress, self._spans, texts)
        return "".join(text + gap for text, gap in zip(dressed, gaps, strict=True))

    def _dress(self, span: Span, text: str) -> str:
        """Put the tags of a span around its translation."""
        inside = self._write(text) if span.fixed is None else span.fixed
        return "".join(
            [*(tag.raw for tag in span.before), inside, *(tag.raw for tag in span.after)]
        )

    def _place(self, whole: str, texts: list[str]) -> str | None:
        """Find all spans in the translation of the whole, and write it with their tags."""
        places: list[tuple[int, int, Span]] = []
        ends = accumulate(len(span.text) for span in self._spans)
        within = {i for term in find_protected(whole) for i in range(term.start + 1, term.end)}
        for span, text, end in zip(self._spans, texts, ends, strict=True):
            if span.has_place:
                found = self._find(span, text, whole, end)
                if len(found) != 1 or not within.isdisjoint(found[0]):
                    return None  # it is not found for sure, or a tag would part a placeholder
                places.append((*found[0], span))
        taken = [place[:2] for place in places]
        if not _stay_together(self._groups, taken):
            return None
        wraps = place_wraps(self._spans, whole, taken)
        if wraps is None:
            return None
        comments = place_comments(self._spans, whole, taken)
        places = sorted(places + wraps + comments, key=lambda place: place[:2])
        written, done = "", 0
        for start, end, span in places:
            if start < done:
                return None  # they overlap
            written += self._write(whole[done:start]) + self._dress(span, whole[start:end])
            done = end
        return written + self._write(whole[done:])

    def _is_everywhere(self, whole: str, texts: Sequence[str]) -> bool:
        """Tell whether the spans could be at so many places that to look at each takes too long."""
        folded = whole.lower()
        sought = (
            text.strip().rstrip(FULL_STOPS).lower()
            for span, text in zip(self._spans, texts, strict=True)
            if span.has_place
        )
        return sum(folded.count(words) * len(words) for words in sought) > _MOST_FOUND

    def _find(self, span: Span, text: str, whole: str, end: int) -> list[tuple[int, int]]:
        """Find the translation of a span, which ends somewhere in the source, in the whole."""
        if span.fixed is not None:
            return find_kept(text, whole)
        middle = (end - len(span.text) / 2) / len(self.source)
        edges = (end - len(span.text), end)
        if is_within_word(self.source, end) and INITIAL.fullmatch(self.source, 0, end):
            return find_initial(span, whole)
        found = find_translation(text, whole, *(is_within_word(self.source, at) for at in edges))
        is_comparable = len(self._spans) * len(whole) <= _MOST_COMPARED
        if len(found) > 1 and is_comparable:
            found = [min(found, key=lambda place: abs(sum(place) / 2 - middle * len(whole)))]
        elif not found and is_comparable:
            found = find_alike(whole, text, source=span.text, middle=middle)
        if span.text.rstrip().endswith(tuple(SENTENCE_ENDS)):
            found = [(start, end_of_sentence(whole, stop)) for start, stop in found]
        return found


def _stay_together(groups: Sequence[Sequence[int]], places: Sequence[tuple[int, int]]) -> bool:
    """Tell whether the parts of each element follow each other, and nothing else is between."""
    ordered = sorted(range(len(places)), key=lambda i: places[i])
    ranks = {i: rank for rank, i in enumerate(ordered)}
    return all(
        ranks[after] == ranks[before] + 1 for group in groups for before, after in pairwise(group)
    )
