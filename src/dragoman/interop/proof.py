"""What every import and export shows before it says that it worked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Protocol

import numpy as np

from dragoman.decoding.config import SearchConfig
from dragoman.engines.protocol import Engine
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import Tokenizer

LENGTH_LIMIT = 40
GREEDY = SearchConfig(beam_size=1, max_length_ratio=0.0, max_length_extra=LENGTH_LIMIT)
NUM_SENTENCES = 20
MOST_PIECES = 12
TOLERANCE = 1e-3
"""For a log-probability: rounding is a hundred times smaller in single precision, mistakes are
larger."""

Pair = tuple[Sequence[int], Sequence[int]]
"""The tokens of a text and of a translation, without beginning and end."""


@dataclass(frozen=True)
class LoadedModel:
    """A model directory, with its contents in memory."""

    directory: ModelDirectory
    transformer: Transformer
    tokenizers: TokenizerPair

    @classmethod
    def load(cls, path: Path) -> "LoadedModel":
        """Read a model directory.

        Raises:
            ModelError: there is no model.
        """
        directory = ModelDirectory(path)
        return cls(directory, directory.load_transformer(), directory.load_tokenizers())

    @cached_property
    def in_pytorch(self) -> "EngineCopy":
        """The model as PyTorch runs it, to which copies are compared."""
        description = self.directory.description
        return EngineCopy(
            PyTorchEngine(
                self.transformer, description.special_ids, forbidden_ids=description.forbidden_ids
            )
        )


class Copy(Protocol):
    """The same model in another format, as the software that reads the format runs it."""

    def translate(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Translate greedily, to at most `LENGTH_LIMIT` tokens each, the end included."""

    def score(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """Give the log-probability of each token of each translation, and of its end."""


class EngineCopy:
    """A `Copy` that an engine runs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def translate(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Search as users do, greedily."""
        return [list(found[0].ids) for found in self._engine.search(sources, GREEDY)]

    def score(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """Ask the engine."""
        sources, translations = zip(*pairs, strict=True)
        return list(map(list, self._engine.log_probabilities(sources, translations)))


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The result of a comparison."""

    num_sentences: int
    num_equal: int
    """Sentences whose greedy translation is the same, token by token, or parts from the other with
    a token that is as probable: rounding decides between the two, and neither is wrong."""

    largest_difference: float
    """Between the two log-probabilities of a token."""

    @property
    def holds(self) -> bool:
        """Whether both sides compute the same."""
        return self.num_equal == self.num_sentences and self.largest_difference < TOLERANCE


def compare(model: LoadedModel, copy: Copy) -> Agreement:
    """Translate sentences of random pieces with both, and let both score translations.

    They score what the model has found, and random texts, whose tokens it would not choose.
    """
    sources = list(draw_sentences(model.tokenizers.source))
    expected, actual = model.in_pytorch.translate(sources), copy.translate(sources)
    triples = zip(sources, expected, actual, strict=True)
    drawn = draw_sentences(model.tokenizers.target)
    pairs = [*zip(sources, expected, strict=True), *zip(sources, drawn, strict=False)]
    scores = zip(model.in_pytorch.score(pairs), copy.score(pairs), strict=True)
    differences = [np.abs(np.subtract(ours, theirs)).max() for ours, theirs in scores]
    return Agreement(
        num_sentences=len(sources),
        num_equal=sum(_are_equal(model.in_pytorch, *triple) for triple in triples),
        largest_difference=float(np.max(differences)),  # NaN if one of them is
    )


def _are_equal(
    judge: Copy, source: Sequence[int], one: Sequence[int], other: Sequence[int]
) -> bool:
    """Tell whether two translations are the same up to a token that is as probable as another."""
    if one == other:
        return True
    same = len(list(takewhile(bool, map(eq, one, other))))
    first, second = judge.score([(source, one[: same + 1]), (source, other[: same + 1])])
    return abs(first[same] - second[same]) < TOLERANCE  # of the end, where one of them ends


def pick(log_probabilities: np.ndarray, tokens: Sequence[int]) -> list[float]:
    """Look up one token at each position, from the first on."""
    picked: list[float] = log_probabilities[np.arange(len(tokens)), tokens].tolist()
    return picked


def draw_sentences(tokenizer: Tokenizer) -> Iterator[list[int]]:
    """Draw texts of random pieces, the same ones each time, and encode them."""
    for text in draw_texts(tokenizer):
        if ids := tokenizer.encode(text):
            yield ids


def draw_texts(tokenizer: Tokenizer) -> Iterator[str]:
    """Draw texts of random pieces, the same ones each time."""
    random = np.random.default_rng(0)
    for _ in range(NUM_SENTENCES):
        pieces = random.integers(tokenizer.vocab_size, size=random.integers(1, MOST_PIECES + 1))
        yield tokenizer.decode(pieces.tolist())
