"""What a plan has to know of the text."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
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

VOCABULARY_KIB_PER_PAIR = 2.7
"""Memory that SentencePiece takes to learn a vocabulary: 150 MiB for 40,000 pairs of software texts
where it takes 72 MiB for 10,000."""

FEWEST_SOURCES = 2
"""Different ones: a rehearsal learns from one and holds the other out to validate."""

LONGEST_SHARE = 0.999
"""Pairs that should fit into a batch; the rest is left out of training and counted."""


SHORTEST, LONGEST = 32, 256
"""Between these the longest sentence of a plan is: attention to long ones takes time and memory."""


class PlanError(DragomanError):
    """There is nothing to plan, or no plan that fits."""


@dataclass(frozen=True, kw_only=True)
class TextMeasure:
    """Sizes of a text, after cleaning."""

    pairs: int
    """That can be learnt from."""

    target_tokens: int
    """Of all of them, ends of sentences included; estimated from the sample."""

    max_length: int
    """Tokens that the longer side of all but one pair in a thousand has, or `LONGEST` if that is
    less; pairs with more are left out."""

    share_too_long: float
    """Of the pairs that cleaning keeps, those that have more tokens."""

    vocab_size: int
    sample: Path
    """A TSV file with a random part of the pairs."""

    warnings: tuple[str, ...]
    """What is probably wrong with the text."""

    cleaning_seconds: float
    further_vocabulary_seconds: float
    """What learning the vocabulary of all of the text takes longer than that of the sample."""

    vocabulary_mib: float
    """The most memory that learning the vocabulary takes."""


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
    num_sources = len({overlap.canonical(source) for source, _ in sample})
    if num_sources < FEWEST_SOURCES:
        raise PlanError(
            f"{num_sources} source sentence after cleaning is too few to plan for; give at least "
            f"{FEWEST_SOURCES} different ones"
        )
    path = directory / "sample.tsv"
    with open_whole(path) as file:
        file.writelines(f"{source}\t{target}\n".encode() for source, target in sample)
    began = time.perf_counter()
    tokenizers = _learn(automatic_vocab_size(characters), path, directory)
    learning_seconds = time.perf_counter() - began
    learnt_from = pairs * min(1.0, MAX_CHARACTERS / characters)
    sources, targets = (
        np.array([len(ids) + 1 for ids in tokenizer.encode_batch(side)])
        for tokenizer, side in zip(
            (tokenizers.source, tokenizers.target), zip(*sample, strict=True), strict=True
        )
    )
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
        max_length=max_length,
        share_too_long=1 - float(fits.mean()),
        vocab_size=tokenizers.target.vocab_size,
        sample=path,
        warnings=_warnings(sample, languages),
        cleaning_seconds=cleaning_seconds,
        further_vocabulary_seconds=learning_seconds * max(0.0, learnt_from / len(sample) - 1),
        vocabulary_mib=VOCABULARY_KIB_PER_PAIR * learnt_from / 1024,
    )


def _warnings(sample: list[tuple[str, str]], languages: tuple[str, str]) -> tuple[str, ...]:
    source, target = map(ExpectedLanguage, languages)
    for pair in sample:
        source.add(pair[0])
        target.add(pair[1])
    return tuple(language_warnings(languages, (source.other(), target.other())))


def _learn(vocab_size: int, text: Path, directory: Path) -> TokenizerPair:
    """Learn a vocabulary, of another size if the text has too many characters for this one."""
    try:
        config = TokenizerConfig(vocab_size=vocab_size)
        return train_tokenizers(config, lambda: read_tsv(text), directory)
    except TokenizerError:
        return train_tokenizers(TokenizerConfig(), lambda: read_tsv(text), directory)


def _sample(
    corpora: Sequence[CorpusConfig], languages: tuple[str, str]
) -> tuple[list[tuple[str, str]], int, int]:
    """Draw pairs without knowing how many there are (Vitter 1985, algorithm R)."""
    draw = random.Random(1)
    sample: list[tuple[str, str]] = []
    pairs = characters = 0
    config, report, seen = CleaningConfig(), CleaningReport(), SeenPairs()
    for corpus in corpora:
        read = read_pairs(corpus, languages=languages)
        for pair in clean(read, config, report, languages=languages, seen=seen):
            kept = (normalise(pair.source), normalise(pair.target))
            characters += len(kept[0]) + len(kept[1])
            if len(sample) < SAMPLE_PAIRS:
                sample.append(kept)
            elif (place := draw.randrange(pairs + 1)) < SAMPLE_PAIRS:
                sample[place] = kept
            pairs += 1
    return sample, pairs, characters
