"""A model whose every probability is written down: the next token depends on the prefix alone."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dragoman.decoding.problem import SearchProblem

PAD, UNK, BOS, EOS = 0, 1, 2, 3

Logits = Callable[[tuple[int, ...]], Sequence[float]]
"""From the tokens decoded so far, without BOS, to the logits of the next one."""


@dataclass(frozen=True)
class Prefixes:
    """A state that remembers, for each sentence, which one it is and what its prefixes are."""

    sentences: tuple[int, ...]
    decoded: tuple[tuple[tuple[int, ...], ...], ...]

    def select(self, sentences: Tensor) -> "Prefixes":
        kept = sentences.tolist()
        return Prefixes(
            tuple(self.sentences[i] for i in kept), tuple(self.decoded[i] for i in kept)
        )

    def reorder(self, parents: Tensor) -> "Prefixes":
        pairs = zip(self.decoded, parents.tolist(), strict=True)
        return replace(self, decoded=tuple(tuple(old[i] for i in new) for old, new in pairs))

    def extend(self, tokens: Tensor) -> "Prefixes":
        pairs = zip(self.decoded, tokens.tolist(), strict=True)
        return replace(
            self,
            decoded=tuple(
                tuple((*prefix, token) for prefix, token in zip(prefixes, row, strict=True))
                for prefixes, row in pairs
            ),
        )


def problem(
    models: Sequence[Logits],
    *,
    source_lengths: Sequence[int] | None = None,
    forced_prefixes: Sequence[Sequence[int]] | None = None,
    forbidden: tuple[int, ...] = (PAD, UNK, BOS),
) -> SearchProblem[Prefixes]:
    """Search in one model for each sentence."""

    def step(tokens: Tensor, state: Prefixes) -> tuple[Tensor, Prefixes]:
        state = state.extend(tokens)
        logits = [
            [list(models[sentence](prefix[1:])) for prefix in prefixes]
            for sentence, prefixes in zip(state.sentences, state.decoded, strict=True)
        ]
        return torch.tensor(logits), state

    lengths = source_lengths or [1] * len(models)
    return SearchProblem(
        step=step,
        state=Prefixes(tuple(range(len(models))), (((),),) * len(models)),
        sources=[[7] * length for length in lengths],
        forced_prefixes=forced_prefixes or [()] * len(models),
        bos=BOS,
        eos=EOS,
        forbidden=forbidden,
        device=torch.device("cpu"),
    )


def written_down(probabilities: dict[tuple[int, ...], dict[int, float]], vocab_size: int) -> Logits:
    """Take the probabilities of the next token after each prefix from a table."""

    def logits(prefix: tuple[int, ...]) -> list[float]:
        # A search may ask about prefixes that it has ruled out, for company of those it has not.
        row = probabilities.get(prefix, {EOS: 1.0})
        assert abs(sum(row.values()) - 1.0) < 1e-9
        return [math.log(row[i]) if i in row else -math.inf for i in range(vocab_size)]

    return logits


def random_model(seed: int, *, vocab_size: int, scale: float = 2.0) -> Logits:
    """Draw the logits after each prefix, always the same ones."""

    def logits(prefix: tuple[int, ...]) -> list[float]:
        number = seed
        for token in prefix:
            number = (number * 31 + token + 1) % 2**32
        generator = torch.Generator().manual_seed(number)
        drawn: list[float] = (scale * torch.randn(vocab_size, generator=generator)).tolist()
        return drawn

    return logits
