"""Sentences with tags in them: translated as a whole, with the tags put back."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from dragoman.languages.scripts import UNSPACED_CHARACTER, is_mark
from dragoman.markup.passage import PlainText
from dragoman.markup.placeholders import unused_names
from dragoman.markup.resemblance import find_alike
from dragoman.markup.tags import ANCHOR, Token, written
from dragoman.terms.protected import find_protected
from dragoman.terms.term import is_of_word
from dragoman.tokenizers.sentences import joint
from dragoman.translation import Alternative, join

Cut = Callable[[str], PlainText]
"""Takes apart a text that has no tags."""

Write = Callable[[str], str]
"""Writes text as a document has it, with entities or without."""


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


def _group_elements(spans: Sequence[Span]) -> list[list[int]] | None:
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
        groups = _group_elements(spans)
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
        if whole is not None and (placed := self._place(whole.text, texts)) is not None:
            return replace(whole, text=placed)
        return join([run for run in runs if run], self._line_up(texts))

    def _end_alike(self, source: str, text: str) -> str:
        """Take off a full stop that a model adds to a part of a sentence, as it would stay within.

        In a script without spaces a sentence may end without a sign, and its translation with one.
        """
        said, last = text.rstrip(), source.rstrip()[-1:]
        is_word = last.isalnum() and not UNSPACED_CHARACTER.search(last)
        is_added = is_word and said.endswith(tuple(_FULL_STOPS)) and not said.endswith("..")
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
        wraps = self._place_wraps(whole, taken)
        if wraps is None:
            return None
        comments = self._place_comments(whole, taken)
        places = sorted(places + wraps + comments, key=lambda place: place[:2])
        written, done = "", 0
        for start, end, span in places:
            if start < done:
                return None  # they overlap
            written += self._write(whole[done:start]) + self._dress(span, whole[start:end])
            done = end
        return written + self._write(whole[done:])

    def _find(self, span: Span, text: str, whole: str, end: int) -> list[tuple[int, int]]:
        """Find the translation of a span, which ends somewhere in the source, in the whole."""
        if span.fixed is not None:
            return _find_kept(text, whole)
        middle = (end - len(span.text) / 2) / len(self.source)
        places = (end - len(span.text), end)
        if _is_within_word(self.source, end) and _INITIAL.fullmatch(self.source, 0, end):
            return _find_initial(span, whole)
        found = _find(text, whole, *(_is_within_word(self.source, place) for place in places))
        is_comparable = len(self._spans) * len(whole) <= _MOST_COMPARED
        if len(found) > 1 and is_comparable:
            found = [min(found, key=lambda place: abs(sum(place) / 2 - middle * len(whole)))]
        elif not found and is_comparable:
            found = find_alike(whole, text, source=span.text, middle=middle)
        if span.text.rstrip().endswith(_SENTENCE_ENDS):
            found = [(start, _end_of_sentence(whole, stop)) for start, stop in found]
        return found

    def _place_wraps(
        self, whole: str, taken: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int, Span]] | None:
        """Find the nearest free space in the translation for each wrap, keeping their order."""
        ends = list(accumulate(len(span.text) for span in self._spans))
        found_spaces = (found.start() for found in re.finditer(r"(?<=\S) (?=\S)", whole))
        spaces = list(_outside(found_spaces, taken, bisect_right))
        placed: list[tuple[int, int, Span]] = []
        wraps = [(span, end) for span, end in zip(self._spans, ends, strict=True) if span.wraps]
        for left, (span, end) in zip(range(len(wraps) - 1, -1, -1), wraps, strict=True):
            free = spaces[: len(spaces) - left]  # the last ones are needed for the other wraps
            if not free:
                return None
            wanted = end / ends[-1] * len(whole)
            nearest = min(free, key=lambda space: abs(space - wanted))
            spaces = [space for space in spaces if space > nearest]
            placed.append((nearest, nearest + 1, span))
        return placed

    def _place_comments(
        self, whole: str, taken: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int, Span]]:
        """Put comments about as far into the translation as they were in the source, in order."""
        ends = list(accumulate(len(span.text) for span in self._spans))
        free = [0, *(found.end() for found in re.finditer(r"\s+", whole)), len(whole)]
        free = list(_outside(free, taken, bisect_left))
        source, place, alike = self.source, 0, True
        placed: list[tuple[int, int, Span]] = []
        for span, end in zip(self._spans, ends, strict=True):
            if span.is_comment:
                alike = alike and source[place:end] == whole[place:end]
                if alike:  # it stays after the same words
                    place = end
                else:
                    wanted = end / len(source) * len(whole)
                    behind = bisect_left(free, wanted)
                    around = free[max(0, behind - 1) : behind + 1]
                    nearest = min(around, key=lambda at: abs(at - wanted))
                    place = max(place, nearest)
                placed.append((place, place, span))
        return placed


def _stay_together(groups: Sequence[Sequence[int]], places: Sequence[tuple[int, int]]) -> bool:
    """Tell whether the parts of each element follow each other, and nothing else is between."""
    ordered = sorted(range(len(places)), key=lambda i: places[i])
    ranks = {i: rank for rank, i in enumerate(ordered)}
    return all(
        ranks[after] == ranks[before] + 1 for group in groups for before, after in pairwise(group)
    )


def _outside(
    places: Iterable[int],
    taken: Sequence[tuple[int, int]],
    bisect: Callable[[Sequence[int], int], int],
) -> Iterator[int]:
    """Yield the places that are in none of some stretches.

    Args:
        places: Positions in a text.
        taken: From where to where.
        bisect: `bisect_right` if the start of a stretch is in it, `bisect_left` if it is not.
    """
    ordered = sorted(taken)
    starts = [start for start, _ in ordered]
    furthest = list(accumulate((end for _, end in ordered), max))
    for place in places:
        num_begun = bisect(starts, place)
        if num_begun == 0 or furthest[num_begun - 1] <= place:
            yield place


def respace(
    sources: tuple[str, str], translations: tuple[str, str], language: str
) -> tuple[str, str, str]:
    """Choose the white space between two texts that are translated one by one.

    A space becomes what the language puts between sentences, but stays between two words that need
    one. Where the source has none, as its script has no spaces, one comes if the language has them.

    Returns:
        The first translation, what stands behind it, and the second translation.
    """
    left, right = translations
    first, second = left.rstrip(), right.lstrip()
    gap = left[len(first) :] + right[: len(right) - len(second)]
    if not (first and second):
        return left, "", right
    if gap == " ":
        is_chosen = not (is_of_word(first[-1]) and is_of_word(second[0]))
    else:
        is_chosen = not gap and _needs_no_space(sources[0][-1:], sources[1][:1])
    if not is_chosen or gap == joint(language):
        return left, "", right
    return first, joint(language), second


def _needs_no_space(before: str, after: str) -> bool:
    """Tell whether only a script without spaces has none between two characters, if there are."""
    if not (before and after and UNSPACED_CHARACTER.search(before + after)):
        return False
    opens, closes = unicodedata.category(before), unicodedata.category(after)
    return opens not in ("Ps", "Pi") and closes not in ("Pe", "Pf", "Po")


_MOST_COMPARED = 20_000
"""Spans of a sentence times letters of its translation: 0.1 seconds with spans of three words, one
with fourteen. Sentences that people write have a few thousand."""

_FULL_STOPS = ".\u3002\uff0e\uff61\u0964"
_SENTENCE_ENDS = (*_FULL_STOPS, *"!?…\uff01\uff1f")


_MOST_SEARCHED = 10_000_000
"""Spans of a sentence times its letters, as each span is searched for in all of it: 0.1 seconds. A
page of 240,000 letters without a full stop took 19."""


def _end_of_sentence(whole: str, place: int) -> int:
    """Tell how far the signs go that end a sentence, from a place on."""
    while whole.startswith(_SENTENCE_ENDS, place):
        place += 1
    return place


def _find(text: str, whole: str, begins_in_word: bool, ends_in_word: bool) -> list[tuple[int, int]]:
    """Find a translation as whole words, ignoring case and a final full stop.

    What began or ended within a word of the source, as in `<b>core</b>1.97`, may do so again.
    """
    words = text.strip().rstrip(_FULL_STOPS)
    found = _find_words(words, whole, re.IGNORECASE)
    if found or not (begins_in_word or ends_in_word):
        return found
    return _find_words(words, whole, re.IGNORECASE, begins_in_word, ends_in_word)


_SURE_BY_LENGTH = 4
"""A kept word of at least this many letters is surely itself when it is found in the translation;
the commonest words are shorter."""


def _is_sure(words: str) -> bool:
    """Tell whether what is kept is not by chance a word of the translation, too."""
    is_short = words.isalpha() and len(words) < _SURE_BY_LENGTH
    return not is_short or (words.isupper() and len(words) > 1)


def _find_kept(text: str, whole: str) -> list[tuple[int, int]]:
    """Find what was not translated, verbatim, with the white space beside it that it contains."""
    begins, ends = text[:1].isspace(), text[-1:].isspace()
    return [
        (
            start - (begins and whole[start - 1 : start].isspace()),
            end + (ends and whole[end : end + 1].isspace()),
        )
        for start, end in _find_words(text.strip(), whole, re.NOFLAG)
        if not (is_of_word(whole[start - 1 : start]) and is_of_word(whole[end : end + 1]))
    ]


_INITIAL = re.compile(r"\W*+[^\W\d_]")
"""A sentence up to its first letter, which books print large."""


def _find_initial(span: Span, whole: str) -> list[tuple[int, int]]:
    """Find the first letter of a translation, and the signs before it if they are in the span."""
    found = _INITIAL.match(whole)
    if not found:
        return []
    return [(found.end() - 1 if span.text[0].isalpha() else found.start(), found.end())]


def _is_between_words(text: str, place: int) -> bool:
    """Tell whether no word continues at a place, as between the two of %s%s."""
    before, after = text[max(0, place - 1) : place], text[place : place + 1]
    return not (is_mark(after) or (_is_of_name(before) and _is_of_name(after)))


def _is_of_name(character: str) -> bool:
    return is_of_word(character) or character == "_"


def _is_within_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and is_of_word(text[place - 1]) and is_of_word(text[place])


def _find_words(
    words: str,
    whole: str,
    flags: re.RegexFlag,
    begins_in_word: bool = False,
    ends_in_word: bool = False,
) -> list[tuple[int, int]]:
    if not words:
        return []
    pattern = re.compile(re.escape(words), flags)
    places: list[tuple[int, int]] = []
    start = 0
    while found := pattern.search(whole, start):
        start, end = found.span()
        begins = begins_in_word or _is_between_words(whole, start)
        ends = ends_in_word or _is_between_words(whole, end)
        if begins and ends and not is_mark(whole[end : end + 1]):
            places.append((start, end))
            start = end
        else:
            start += 1
    return places
