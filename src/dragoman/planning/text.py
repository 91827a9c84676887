"""What a plan has to know about the text."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.corpora import overlap
from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.counting import counted
from dragoman.errors import DragomanError
from dragoman.planning.sample import Sample, draw_sample
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import TokenizerError
from dragoman.tokenizers.training import (
    automatic_vocab_size,
    learnt_from_one_in,
    train_tokenizers,
)

VOCABULARY_BYTES_PER_CHARACTER = 20.4
"""Memory that SentencePiece takes to learn a vocabulary (software texts and Europarl)."""

PROCESS_MIB = 280.0
"""Memory of the process before it learns the vocabulary (PyTorch 2.13 for CPUs on Linux)."""

FEWEST_SOURCES = 2
"""Different ones: a rehearsal learns from one and holds the other out to validate."""

FEW_PAIRS = 10_000
"""Fewer are not enough for a translator of free text. 29,000 are, for one of captions."""

SLACK = 0.25
"""With few pairs, the longest sentence may have more tokens in training than in the sample, by this
share: the vocabulary is then learnt without the pairs held out, and splits the others more."""

SLACK_PAIRS = 12
"""With fewer than 48 pairs, the share is this divided by the number of pairs instead: of two pairs,
the one held out may share no token with the other."""

LONGEST_SHARE = 0.999
"""Share of the pairs that should fit into a batch; the rest is left out of training and counted."""

SHORTEST, LONGEST = 32, 256
"""Bounds of a plan's longest sentence: attention to long ones takes time and memory."""


class PlanError(DragomanError):
    """There is nothing to plan, or no plan that fits."""


@dataclass(frozen=True, kw_only=True)
class TextMeasure:
    """Sizes of a text, after cleaning."""

    pairs: int
    """How many can be learnt from."""

    may_validate: int
    """How many of them are of corpora that validation text may be held out of."""

    target_tokens: int
    """Of all of them, ends of sentences included; estimated from the sample."""

    epoch_tokens: int
    """Target tokens of an epoch, which takes each corpus as many times as it weighs."""

    effective_tokens: int
    """Target tokens of a text without weights whose pairs are repeated as often. With weights, some
    are seen more often than others: this is a mean over what is seen, and so never more than
    `target_tokens`."""

    max_length: int
    """The tokens of the longer side that all but one pair in a thousand do not exceed; with few
    pairs, a quarter more or several times as many; or `LONGEST` if that is less. Pairs with more
    are left out."""

    share_too_long: float
    """Share of the pairs kept by cleaning that have more tokens."""

    vocab_size: int
    sample: tuple[CorpusConfig, ...]
    """A random part of the pairs, in TSV files."""

    warnings: tuple[str, ...]
    """What is probably wrong with the text."""

    cleaning_seconds: float
    further_vocabulary_seconds: float
    """How much longer it takes to learn the vocabulary of all of the text than of the sample."""

    vocabulary_mib: float
    """Peak memory of the process while it learns the vocabulary."""


def measure_text(
    corpora: CorporaConfig, languages: tuple[str, str], directory: Path
) -> TextMeasure:
    """Read all of the training text, keep a sample of it in a directory, and count its tokens.

    Raises:
        CorpusError: a corpus cannot be read, or overlaps with the evaluation text.
        PlanError: no pair is worth learning from, all are of one source, or all are too long.
    """
    began = time.perf_counter()
    sample = draw_sample(corpora, languages)
    cleaning_seconds = time.perf_counter() - began
    if not sample.pairs:
        raise PlanError("cleaning leaves no pair to learn from; look at dragoman corpus check")
    num_sources = len({overlap.canonical(source) for source, _ in sample.pairs})
    if num_sources < FEWEST_SOURCES:
        raise PlanError(
            f"{num_sources} source sentence after cleaning is too few to plan for; give at least "
            f"{FEWEST_SOURCES} different ones"
        )
    began = time.perf_counter()
    tokenizers = _learn(automatic_vocab_size(sample.characters), sample, directory)
    learning_seconds = time.perf_counter() - began
    one_in = learnt_from_one_in(sample.characters)
    learnt_from = max(len(sample.pairs), sample.counts.sum() / one_in)
    sources, targets = _count_tokens(tokenizers, sample)
    longer = np.maximum(sources, targets)
    longest = float(np.quantile(longer, LONGEST_SHARE))
    if len(sample.pairs) < FEW_PAIRS:
        longest *= 1 + max(SLACK, SLACK_PAIRS / len(sample.pairs))
    max_length = int(np.clip(-(-longest // 8) * 8, SHORTEST, LONGEST))
    fits = longer - 1 <= max_length  # the end is not counted
    if not fits.any():
        raise PlanError(
            f"every pair has more than {max_length} tokens; cut the text into sentences"
        )
    pairs = sample.totals(fits.astype(float))
    num_pairs = _at_least_one(pairs.sum())
    tokens = sample.totals(np.where(fits, targets, 0))
    in_epoch = sample.weights * tokens
    return TextMeasure(
        pairs=num_pairs,
        may_validate=round(float(pairs[[corpus.hold_out for corpus in corpora.train]].sum())),
        target_tokens=_at_least_one(tokens.sum()),
        epoch_tokens=_at_least_one(in_epoch.sum()),
        effective_tokens=_at_least_one(in_epoch.sum() ** 2 / (sample.weights * in_epoch).sum()),
        max_length=max_length,
        share_too_long=1 - float(fits.mean()),
        vocab_size=tokenizers.target.vocab_size,
        sample=sample.write(directory),
        warnings=_warnings(sample, num_pairs),
        cleaning_seconds=cleaning_seconds,
        further_vocabulary_seconds=learning_seconds * (learnt_from / len(sample.pairs) - 1),
        vocabulary_mib=PROCESS_MIB
        + VOCABULARY_BYTES_PER_CHARACTER * sample.characters / one_in / 2**20,
    )


def _at_least_one(number: float) -> int:
    return max(1, round(float(number)))


def _count_tokens(
    tokenizers: TokenizerPair, sample: Sample
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count the tokens of both sides of each pair, ends included."""
    sources, targets = zip(*sample.pairs, strict=True)
    return (
        np.array([len(ids) + 1 for ids in tokenizers.source.encode_batch(sources)]),
        np.array([len(ids) + 1 for ids in tokenizers.target.encode_batch(targets)]),
    )


def _warnings(sample: Sample, num_pairs: int) -> tuple[str, ...]:
    few = (
        f"{counted(num_pairs, 'pair')}: that is little, as a translator of free text needs tens of "
        "thousands; with a finished model, dragoman finetune makes more of it"
    )
    return (*([few] if num_pairs < FEW_PAIRS else []), *sample.warnings)


def _learn(vocab_size: int, sample: Sample, directory: Path) -> TokenizerPair:
    """Learn a vocabulary, of another size if the text has too many characters for this one."""
    try:
        config = TokenizerConfig(vocab_size=vocab_size)
        return train_tokenizers(config, lambda: sample.pairs, directory)
    except TokenizerError:
        return train_tokenizers(TokenizerConfig(), lambda: sample.pairs, directory)
