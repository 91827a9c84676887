"""What a plan has to know of the text."""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from dragoman.config import DragomanError
from dragoman.corpora import overlap
from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, CorpusConfig
from dragoman.corpora.expected_language import ExpectedLanguage, language_warnings
from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.prepared_text import read_tsv
from dragoman.corpora.seen import SeenPairs
from dragoman.durable import open_whole
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import TokenizerError
from dragoman.tokenizers.training import MAX_CHARACTERS, automatic_vocab_size, train_tokenizers

SAMPLE_PAIRS = 30_000
"""Pairs that are looked at closely, and that a rehearsal trains on."""

VOCABULARY_BYTES_PER_CHARACTER = 20.4
"""Memory that SentencePiece takes to learn a vocabulary (software texts and Europarl)."""

PROCESS_MIB = 280.0
"""Memory of the process in which that happens, without its text."""

FEWEST_SOURCES = 2
"""Different ones: a rehearsal learns from one and holds the other out to validate."""

LONGEST_SHARE = 0.999
"""Pairs that should fit into a batch; the rest is left out of training and counted."""


SHORTEST, LONGEST = 32, 256
"""Between these the longest sentence of a plan is: attention to long ones takes time and memory."""

Drawn = tuple[str, str, int]
"""Source, target, and which of the corpora they are from."""


class PlanError(DragomanError):
    """There is nothing to plan, or no plan that fits."""


@dataclass(frozen=True, kw_only=True)
class TextMeasure:
    """Sizes of a text, after cleaning."""

    pairs: int
    """That can be learnt from."""

    target_tokens: int
    """Of all of them, ends of sentences included; estimated from the sample."""

    epoch_tokens: int
    """Target tokens of an epoch, which takes each corpus as often as it weighs."""

    max_length: int
    """Tokens that the longer side of all but one pair in a thousand has, or `LONGEST` if that is
    less; pairs with more are left out."""

    share_too_long: float
    """Of the pairs that cleaning keeps, those that have more tokens."""

    vocab_size: int
    sample: tuple[CorpusConfig, ...]
    """A random part of the pairs: a TSV file for each corpus, which weighs what that one does."""

    warnings: tuple[str, ...]
    """What is probably wrong with the text."""

    cleaning_seconds: float
    further_vocabulary_seconds: float
    """What learning the vocabulary of all of the text takes longer than that of the sample."""

    vocabulary_mib: float
    """The most memory that the process has while it learns the vocabulary."""


def measure_text(
    corpora: Sequence[CorpusConfig], languages: tuple[str, str], directory: Path
) -> TextMeasure:
    """Read all of the text, keep a sample of it in a directory, and count its tokens.

    Raises:
        CorpusError: a corpus cannot be read.
        PlanError: no pair is worth learning from, all are of one source, or all are too long.
    """
    began = time.perf_counter()
    sample, pairs, characters = _sample(corpora, languages)
    cleaning_seconds = time.perf_counter() - began
    if not pairs:
        raise PlanError("cleaning leaves no pair to learn from; look at dragoman corpus check")
    num_sources = len({overlap.canonical(source) for source, _, _ in sample})
    if num_sources < FEWEST_SOURCES:
        raise PlanError(
            f"{num_sources} source sentence after cleaning is too few to plan for; give at least "
            f"{FEWEST_SOURCES} different ones"
        )
    written = _write(sample, corpora, directory)
    began = time.perf_counter()
    tokenizers = _learn(automatic_vocab_size(characters), written, directory)
    learning_seconds = time.perf_counter() - began
    learnt_from = pairs * min(1.0, MAX_CHARACTERS / characters)
    source_texts, target_texts, places = zip(*sample, strict=True)
    sources, targets = (
        np.array([len(ids) + 1 for ids in tokenizer.encode_batch(side)])
        for tokenizer, side in (
            (tokenizers.source, source_texts),
            (tokenizers.target, target_texts),
        )
    )
    weights = np.array([corpus.weight for corpus in corpora])[list(places)]
    longer = np.maximum(sources, targets)
    longest = float(np.quantile(longer, LONGEST_SHARE))
    max_length = int(np.clip(-(-longest // 8) * 8, SHORTEST, LONGEST))
    fits = longer - 1 <= max_length  # the end is not counted
    if not fits.any():
        raise PlanError(
            f"every pair has more than {max_length} tokens; cut the text into sentences"
        )
    return TextMeasure(
        pairs=max(1, round(float(fits.mean()) * pairs)),
        target_tokens=round(float((targets * fits).mean()) * pairs),
        epoch_tokens=max(1, round(float((targets * fits * weights).mean()) * pairs)),
        max_length=max_length,
        share_too_long=1 - float(fits.mean()),
        vocab_size=tokenizers.target.vocab_size,
        sample=written,
        warnings=_warnings(sample, languages),
        cleaning_seconds=cleaning_seconds,
        further_vocabulary_seconds=learning_seconds * max(0.0, learnt_from / len(sample) - 1),
        vocabulary_mib=PROCESS_MIB
        + VOCABULARY_BYTES_PER_CHARACTER * min(characters, MAX_CHARACTERS) / 2**20,
    )


def _write(
    sample: list[Drawn], corpora: Sequence[CorpusConfig], directory: Path
) -> tuple[CorpusConfig, ...]:
    """Write what was drawn of each corpus to a file of its own."""
    written: list[CorpusConfig] = []
    for place, corpus in enumerate(corpora):
        if lines := [f"{s}\t{t}\n".encode() for s, t, drawn_from in sample if drawn_from == place]:
            path = directory / f"sample-{place}.tsv"
            with open_whole(path) as file:
                file.writelines(lines)
            truecase = corpus.truecase and bool(written)  # there is case to learn from
            written.append(CorpusConfig(path=str(path), weight=corpus.weight, truecase=truecase))
    return tuple(written)


def _warnings(sample: list[Drawn], languages: tuple[str, str]) -> tuple[str, ...]:
    source, target = map(ExpectedLanguage, languages)
    for source_text, target_text, _ in sample:
        source.add(source_text)
        target.add(target_text)
    return tuple(language_warnings(languages, (source.other(), target.other())))


def _learn(vocab_size: int, sample: tuple[CorpusConfig, ...], directory: Path) -> TokenizerPair:
    """Learn a vocabulary, of another size if the text has too many characters for this one."""

    def pairs() -> Iterator[tuple[str, str]]:
        return chain.from_iterable(read_tsv(Path(str(part.path))) for part in sample)

    try:
        return train_tokenizers(TokenizerConfig(vocab_size=vocab_size), pairs, directory)
    except TokenizerError:
        return train_tokenizers(TokenizerConfig(), pairs, directory)


def _sample(
    corpora: Sequence[CorpusConfig], languages: tuple[str, str]
) -> tuple[list[Drawn], int, int]:
    """Draw pairs without knowing how many there are (Vitter 1985, algorithm R)."""
    draw = random.Random(1)
    sample: list[Drawn] = []
    pairs = characters = 0
    config, report, seen = CleaningConfig(), CleaningReport(), SeenPairs()
    for place, corpus in enumerate(corpora):
        read = read_pairs(corpus, languages=languages)
        for pair in clean(read, config, report, languages=languages, seen=seen):
            kept = (normalise(pair.source), normalise(pair.target), place)
            characters += len(kept[0]) + len(kept[1])
            if len(sample) < SAMPLE_PAIRS:
                sample.append(kept)
            elif (replaced := draw.randrange(pairs + 1)) < SAMPLE_PAIRS:
                sample[replaced] = kept
            pairs += 1
    return sample, pairs, characters
