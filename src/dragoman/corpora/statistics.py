"""What a corpus is like, in numbers, before anyone trains on it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from dragoman.batched import batched
from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, CorpusConfig
from dragoman.corpora.expected_language import OtherLanguage, SwappedPairs
from dragoman.corpora.overlap import canonical
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.seen import SeenTexts
from dragoman.corpora.signs import Signs
from dragoman.corpora.text_file import CorpusError
from dragoman.languages.scripts import WITHOUT_SPACES, is_unspaced

BLOCK = 4096  # sources hashed together
PERCENTILES = (50, 90, 99, 100)
MAX_EXAMPLES = 5

WRONG_WAY_ROUND = "wrong way round"

Listed = Callable[[Pair | None, str], None]
"""Called for what someone should look at, with the reason: a pair, or a line that holds none."""


@dataclass(frozen=True)
class SideStatistics:
    """The text of one language."""

    language: str
    characters: int
    words: int | None
    """What white space delimits; None if most sentences are written without spaces."""

    character_percentiles: dict[int, int]
    """For each percentage, the number of characters that so many of the sentences do not exceed."""

    word_percentiles: dict[int, int] | None
    """The same for words, if there are any."""

    other_language: OtherLanguage | None
    """The language that it, or some of it, seems to be in."""


@dataclass(frozen=True)
class Suspicion:
    """The pairs that a rule of cleaning finds fault with."""

    count: int
    lines: list[int]
    """The first few of them."""


@dataclass(frozen=True)
class CorpusStatistics:
    """A corpus in numbers."""

    corpus: str
    pairs: int
    sides: tuple[SideStatistics, SideStatistics]
    suspicious: dict[str, Suspicion]
    """By reason, the most frequent one first. A pair counts for its first reason only."""

    warnings: tuple[str, ...]
    """What is wrong with the file, not with a pair."""

    num_refused: int
    """Lines that hold no pair, for which the file would be refused."""

    refused: tuple[str, ...]
    """What is wrong with the first few of them."""

    source_hashes: np.ndarray = field(repr=False)
    """Hashes of the distinct source sentences."""


def measure(
    corpus: CorpusConfig,
    *,
    languages: tuple[str, str],
    config: CleaningConfig,
    listed: Listed | None = None,
) -> CorpusStatistics:
    """Read a corpus once, and count.

    Memory: up to 24 bytes per pair, whatever the length of the sentences.

    Args:
        corpus: What to read.
        languages: The codes of the source and of the target.
        config: The thresholds beyond which a pair is suspicious.
        listed: Called for all lines that hold no pair, all suspicious pairs, and all that seem to
            be the wrong way round. To look for the last takes half a millisecond a pair.

    Raises:
        CorpusError: the corpus cannot be read, or has no pair at all.
    """
    lengths = [_Lengths(language) for language in languages]
    sources = SeenTexts()
    signs = Signs(corpus, languages)
    refusals = _Refusals(listed)
    read = signs.watch(read_pairs(corpus, languages=languages, refuse=refusals.add))
    pairs = _remembered(_measured(read, lengths), sources)
    report = _Suspicions(listed)
    swapped = SwappedPairs(languages)
    for pair in clean(pairs, config, report, languages=languages):
        if listed is not None and swapped.has_swapped(pair):
            listed(pair, WRONG_WAY_ROUND)
    if not report.read and refusals.first:
        raise refusals.first[0]
    source, target = signs.seeming
    return CorpusStatistics(
        corpus=corpus.path or corpus.name,
        pairs=report.read,
        sides=(lengths[0].summary(source), lengths[1].summary(target)),
        suspicious={
            reason: Suspicion(count, report.lines[reason])
            for reason, count in report.dropped.most_common()
        },
        warnings=tuple(signs.warnings()),
        num_refused=refusals.count,
        refused=tuple(map(str, refusals.first)),
        source_hashes=sources.hashes(),
    )


def shared_sources(first: CorpusStatistics, second: CorpusStatistics) -> int:
    """Count the source sentences that two corpora share, ignoring case and outer punctuation."""
    shared = np.intersect1d(first.source_hashes, second.source_hashes, assume_unique=True)
    return len(shared)


class _Suspicions(CleaningReport):
    """Keeps the lines of the first few pairs for each reason, and lists them all."""

    def __init__(self, listed: Listed | None) -> None:
        super().__init__()
        self.lines: defaultdict[str, list[int]] = defaultdict(list)
        self._listed = listed

    def drop(self, pair: Pair, reason: str) -> None:
        super().drop(pair, reason)
        if len(self.lines[reason]) < MAX_EXAMPLES:
            self.lines[reason].append(pair.line)
        if self._listed is not None:
            self._listed(pair, reason)


class _Refusals:
    """Counts the lines that hold no pair, and keeps what is wrong with the first few."""

    def __init__(self, listed: Listed | None) -> None:
        self.count = 0
        self.first: list[CorpusError] = []
        self._listed = listed

    def add(self, error: CorpusError) -> None:
        self.count += 1
        if self._listed is not None:
            self._listed(None, str(error))
        if len(self.first) < MAX_EXAMPLES:
            self.first.append(error)


class _Lengths:
    """Counts how many sentences of a language have each length."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.characters: Counter[int] = Counter()
        self.words: Counter[int] = Counter()
        self.num_unspaced = 0

    def add(self, text: str) -> None:
        self.characters[len(text)] += 1
        self.words[len(text.split())] += 1
        self.num_unspaced += WITHOUT_SPACES.search(text) is not None and is_unspaced(text)

    def summary(self, other_language: OtherLanguage | None) -> SideStatistics:
        has_words = 2 * self.num_unspaced <= self.words.total()
        return SideStatistics(
            language=self.language,
            characters=_total(self.characters),
            words=_total(self.words) if has_words else None,
            character_percentiles=_percentiles(self.characters),
            word_percentiles=_percentiles(self.words) if has_words else None,
            other_language=other_language,
        )


def _total(lengths: Counter[int]) -> int:
    return sum(length * count for length, count in lengths.items())


def _percentiles(counts: Counter[int]) -> dict[int, int]:
    """Return for each percentile the smallest length that so many sentences do not exceed."""
    lengths = np.array(sorted(counts))
    cumulative = np.cumsum([counts[length] for length in lengths.tolist()])
    ranks = [-(-cumulative[-1] * percentile // 100) for percentile in PERCENTILES]
    places = np.searchsorted(cumulative, ranks)
    return dict(zip(PERCENTILES, lengths[places].tolist(), strict=True))


def _measured(pairs: Iterable[Pair], lengths: list[_Lengths]) -> Iterator[Pair]:
    """Measure the pairs that pass."""
    for pair in pairs:
        lengths[0].add(pair.source)
        lengths[1].add(pair.target)
        yield pair


def _remembered(pairs: Iterable[Pair], sources: SeenTexts) -> Iterator[Pair]:
    """Remember the sources that pass, a block at a time."""
    for block in batched(pairs, BLOCK):
        sources.add([source for pair in block if (source := canonical(pair.source))])
        yield from block
