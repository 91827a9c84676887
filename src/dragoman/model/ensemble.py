"""Several transformers that decide together (Sutskever et al. 2014, section 3.6)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.model.decoder_state import BlockState, DecoderState
from dragoman.model.projection import Project
from dragoman.model.transformer import Transformer


class Ensemble(nn.Module):
    """Transformers of the same sizes and vocabularies, for translating and judging.

    Each reads the source and the prefixes for itself. The probability of a token is the mean of
    those that they give it; their geometric mean, which needs no logarithms, translated a little
    worse (`benchmarks/ensembles.md`). A state of the ensemble is the states of its members, side by
    side, and so is its cache.
    """

    def __init__(self, members: Sequence[Transformer]) -> None:
        super().__init__()
        self.config = members[0].config
        self.members = nn.ModuleList(members)
        self.projection = JointProjection(members)

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocab"]:
        """Compute the logits of every next target token, as `Transformer.forward` does."""
        return self.project(self.states(source, target))

    def states(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model_of_all"]:
        """Compute what `project` takes, at every target position."""
        return torch.cat([member.states(source, target) for member in self._members()], dim=-1)

    def project(
        self, states: Float[Tensor, "*positions d_model_of_all"]
    ) -> Float[Tensor, "*positions vocab"]:
        """Compute the logits, which are log-probabilities, of the token that follows each state."""
        return self.projection(states)

    def start(self, source: Int[Tensor, "batch source"]) -> DecoderState:
        """Let each encode the source, and prepare to decode it token by token.

        The blocks of all members follow one another; mask, length and slots are the same for all.
        """
        states = [member.start(source) for member in self._members()]
        blocks = tuple(block for state in states for block in state.blocks)
        return replace(states[0], blocks=blocks)

    def step(
        self,
        tokens: Int[Tensor, "batch prefixes"],
        state: DecoderState,
        project: Project | None = None,
    ) -> tuple[Float[Tensor, "batch prefixes vocab"], DecoderState]:
        """Compute the logits of the tokens that follow these, as `Transformer.step` does."""
        states, state = self.advance(tokens, state.extend())
        return (project or self.project)(states), state

    def advance(
        self, tokens: Int[Tensor, "batch prefixes"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch prefixes d_model_of_all"], DecoderState]:
        """Compute what `step` projects; `state.extend` has made room for the tokens."""
        blocks_of_each = len(state.blocks) // len(self.members)
        states = list[Tensor]()
        blocks = list[BlockState]()
        for i, member in enumerate(self._members()):
            begin = i * blocks_of_each
            own = replace(state, blocks=state.blocks[begin : begin + blocks_of_each])
            of_member, own = member.advance(tokens, own)
            states.append(of_member)
            blocks += own.blocks
        return torch.cat(states, dim=-1), replace(state, blocks=tuple(blocks))

    @property
    def first(self) -> Transformer:
        """The first member."""
        return next(self._members())

    def _members(self) -> Iterator[Transformer]:
        """Yield the members, whose type a ModuleList does not know."""
        for member in self.members:
            assert isinstance(member, Transformer)
            yield member


class JointProjection(nn.Module):
    """The log-probabilities of several transformers together, from their states side by side."""

    def __init__(self, members: Sequence[Transformer]) -> None:
        super().__init__()
        self._projections = [member.projection for member in members]

    def forward(self, states: Float[Tensor, "... d_model_of_all"]) -> Float[Tensor, "... vocab"]:
        """Return log(1/n * sum of softmax(logits of each)), in single precision.

        All is computed from logarithms, as some probabilities are too small to be numbers.
        """
        each = zip(self._projections, states.chunk(len(self._projections), dim=-1), strict=True)
        log_probabilities = (
            project(part).log_softmax(dim=-1, dtype=torch.float32) for project, part in each
        )
        return reduce(torch.logaddexp, log_probabilities) - math.log(len(self._projections))
