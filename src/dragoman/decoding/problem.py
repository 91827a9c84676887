"""What every search is given."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.host_copy import HostCopy
from dragoman.decoding.top_tokens import top_tokens

FEW_SENTENCES = 256
"""With no more, a GPU has little to do, and the host that tells it what to do takes the time."""

IN_CACHE = 2**18
"""Numbers that a processor can work on without leaving its cache."""

Same = TypeVar("Same")


@runtime_checkable
class SearchState(Protocol):
    """All that a model remembers of a batch of sentences and of some prefixes of each."""

    def select(self: Same, sentences: Int[Tensor, " kept"]) -> Same:
        """Keep these sentences of the batch."""
        ...

    def reorder(self: Same, parents: Int[Tensor, "batch prefixes"]) -> Same:
        """Let each prefix continue the one in its parent's place.

        There may be more of them than before, or fewer. Before the first token there is one.
        """
        ...


State = TypeVar("State", bound=SearchState)


@dataclass(frozen=True, kw_only=True)
class SearchProblem(Generic[State]):
    """A batch of sentences to translate, and the model as a step function.

    This is all that a search sees of a model: from the last token of each prefix and a state, the
    logits of the next token and the next state. A prefix is what a search has decided on so far of
    a translation that it follows; a forced prefix is what the caller wants a translation to begin
    with, and so every prefix of it.
    """

    step: Callable[[Tensor, State], tuple[Tensor, State]]
    """(tokens of shape (batch, prefixes), state) -> (logits of (batch, prefixes, vocab), state).

    The state that it is given cannot be used again, unless it is the one before the first step.
    """

    state: State
    """The state before the first step."""

    sources: Sequence[Sequence[int]]
    """The tokens of each sentence, without EOS. They decide how long a translation may be."""

    forced_prefixes: Sequence[Sequence[int]]
    """The tokens that the translation of each sentence begins with, the same number for each."""

    bos: int
    """The token that every translation starts from."""

    eos: int
    """The token that ends a translation."""

    forbidden: tuple[int, ...] = ()
    """Tokens that are never produced."""

    device: torch.device
    """Where the model computes."""

    @cached_property
    def _forbidden(self) -> Int[Tensor, " forbidden"]:
        return torch.tensor(self.forbidden, dtype=torch.long, device=self.device)

    @property
    def runs_ahead(self) -> bool:
        """Whether the device computes while the host goes on."""
        return self.device.type == "cuda"

    def begin(self, num_prefixes: int) -> "Beginning[State]":
        """Let the model read the forced prefix of each translation, up to its last token.

        Args:
            num_prefixes: How many prefixes of a sentence the state is for. All begin alike, so only
                one of them is read.
        """
        begun = [[self.bos, *prefix] for prefix in self.forced_prefixes]
        tokens = torch.tensor(begun, device=self.device)[:, None]
        values = [torch.empty(len(begun), 1, 0, device=self.device)]
        state = self.state
        for given, following in pairwise(tokens.unbind(dim=2)):
            logits, state = self.step(given, state)
            log_probabilities = logits.log_softmax(dim=-1, dtype=torch.float32)
            values.append(log_probabilities.gather(2, following[..., None]))
        return Beginning(
            tokens.expand(-1, num_prefixes, -1),
            torch.cat(values, dim=2).expand(-1, num_prefixes, -1),
            state.reorder(torch.zeros_like(tokens[..., 0]).expand(-1, num_prefixes)),
        )

    def advance(
        self,
        tokens: Int[Tensor, "batch prefixes"],
        state: State,
        is_going: Bool[Tensor, " batch"],
    ) -> "Advance[State]":
        """Step from the last tokens of each sentence, without those that are complete if that pays.

        On a CPU, the complete sentences are dropped before the step. A GPU is told the step before
        it is asked which sentences go on, and they are dropped from what the step gives; otherwise
        the GPU would have nothing to do while it is told, and the host nothing while it computes.
        So there the last step of a batch is one that nobody needs.
        """
        asked = HostCopy(is_going)
        stepped = self.step(tokens, state) if self.runs_ahead else None
        going = asked.wait()
        num_going = int(going.sum())
        if not worth_dropping(len(going) - num_going, len(going), on_gpu=self.runs_ahead):
            return Advance(None, *(stepped or self.step(tokens, state)))
        kept = going.nonzero()[:, 0].to(self.device)
        if stepped is not None:
            logits, state = stepped
            return Advance(going, logits[kept], state.select(kept))
        if num_going == 0:  # a model need not know how to step from nothing
            return Advance(going, torch.empty(0, tokens.size(1), 0), state)
        return Advance(going, *self.step(tokens[kept], state.select(kept)))

    def limits(self, config: SearchConfig) -> list[int]:
        """Compute how many tokens each translation may have, its end included."""
        return [
            config.max_length(len(source), len(prefix))
            for source, prefix in zip(self.sources, self.forced_prefixes, strict=True)
        ]

    def log_probabilities(
        self, logits: Float[Tensor, "batch prefixes vocab"]
    ) -> Float[Tensor, "batch prefixes vocab"]:
        """Normalise logits, then hide the forbidden tokens.

        In this order, so that the result is the model's own probability of each token.
        """
        log_probabilities = logits.log_softmax(dim=-1, dtype=torch.float32)
        return log_probabilities.index_fill_(-1, self._forbidden, -math.inf)

    def most_probable(
        self, logits: Float[Tensor, "batch prefixes vocab"], count: int
    ) -> tuple[Float[Tensor, "batch prefixes count"], Int[Tensor, "batch prefixes count"]]:
        """Return the best log-probabilities of each prefix and their tokens.

        On a CPU, the vocabulary is processed for only as many sentences at a time as its cache
        holds.
        """
        of_sentence = logits.shape[1:].numel()
        at_once = max(1, IN_CACHE // of_sentence) if logits.device.type == "cpu" else len(logits)
        best, tokens = zip(
            *(top_tokens(self.log_probabilities(part), count) for part in logits.split(at_once)),
            strict=True,
        )
        return torch.cat(best), torch.cat(tokens)


class Advance(NamedTuple, Generic[State]):
    """What a step gives, for the sentences that are left."""

    going: Bool[Tensor, " batch"] | None
    """On the host, which sentences are left; None if no sentence is dropped."""

    logits: Float[Tensor, "left prefixes _vocab"]
    """Of the next token."""

    state: State


@dataclass(frozen=True)
class Beginning(Generic[State]):
    """Where the search for translations begins."""

    tokens: Int[Tensor, "sentences prefixes length"]
    """BOS, then what each translation must begin with."""

    token_log_probabilities: Float[Tensor, "sentences prefixes forced"]
    """One for each token after BOS."""

    state: State
    """It covers all tokens but the last, which is the next one to step from."""


def worth_dropping(num_complete: int, num_followed: int, *, on_gpu: bool = False) -> bool:
    """Tell whether the other sentences of a batch are faster without the complete ones.

    Dropping some means copying the state of the others, which costs more than a step with a few
    rows that nobody needs. A GPU has to record its steps anew then: with few sentences that takes
    longer than it saves (`docs/experiments.md`, 2026-11-27).
    """
    if num_complete == num_followed:
        return True
    if on_gpu and num_followed <= FEW_SENTENCES:
        return False
    return num_complete * (2 if on_gpu else 4) >= num_followed
