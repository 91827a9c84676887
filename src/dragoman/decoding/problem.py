"""What every search is given."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

Same = TypeVar("Same")


@runtime_checkable
class SearchState(Protocol):
    """All that a model remembers of a batch of sentences and of the tokens decoded so far."""

    def select(self: Same, rows: Int[Tensor, " kept"]) -> Same:
        """Keep these rows of the batch."""
        ...

    def reorder(self: Same, rows: Int[Tensor, " batch"]) -> Same:
        """Select rows that stand on the same source sentence as those they replace."""
        ...


State = TypeVar("State", bound=SearchState)


@dataclass(frozen=True, kw_only=True)
class SearchProblem(Generic[State]):
    """A batch of sentences to translate, and the model as a step function.

    A search sees no more of a model than this: from the last token of each row and a state, the
    logits of the next token and the next state.
    """

    step: Callable[[Tensor, State], tuple[Tensor, State]]
    """(tokens of shape (batch), state) -> (logits of shape (batch, vocab), state)."""

    state: State
    """The state before the first step; a row a sentence."""

    sources: Sequence[Sequence[int]]
    """The source tokens of each row, without EOS. They decide how long a translation may be."""

    bos: int
    """The token that every translation starts from."""

    eos: int
    """The token that ends a translation."""

    forbidden: tuple[int, ...] = ()
    """Tokens that are never produced."""

    device: torch.device
    """Where the model computes."""

    def log_probabilities(
        self, logits: Float[Tensor, "batch vocab"]
    ) -> Float[Tensor, "batch vocab"]:
        """Normalise logits, then hide the forbidden tokens.

        In this order, so that the result is the model's own probability of each token.
        """
        log_probabilities = logits.log_softmax(dim=-1, dtype=torch.float32)
        for token in self.forbidden:
            log_probabilities[:, token] = -math.inf
        return log_probabilities

    def repeat(self, times: int) -> "SearchProblem[State]":
        """Give each sentence `times` neighbouring rows."""
        if times == 1:
            return self
        rows = torch.arange(len(self.sources), device=self.device).repeat_interleave(times)
        return replace(
            self,
            state=self.state.select(rows),
            sources=[source for source in self.sources for _ in range(times)],
        )
