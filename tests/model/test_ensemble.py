"""An ensemble is the mean of its members' probabilities, at once and token by token."""

from collections.abc import Callable

import torch

from dragoman.model.ensemble import Ensemble
from dragoman.model.transformer import Transformer

from .conftest import PADDING, VOCAB

Build = Callable[..., Transformer]


@torch.inference_mode()
def test_its_probabilities_are_the_means_of_its_members(build: Build) -> None:
    members = [build(), build(), build()]
    source, target = torch.randint(1, VOCAB, (4, 9)), torch.randint(1, VOCAB, (4, 6))
    source[1, 5:] = PADDING

    ensemble = Ensemble(members)

    logits = ensemble(source, target)
    theirs = torch.stack([member(source, target) for member in members])
    torch.testing.assert_close(logits.exp(), theirs.softmax(dim=-1).mean(dim=0))
    halved = ensemble.bfloat16()(source, target)
    assert halved.dtype == torch.float32
    torch.testing.assert_close(halved.exp().sum(dim=-1), torch.ones(4, 6))


@torch.inference_mode()
def test_token_by_token_it_computes_the_same_for_each_branch_of_a_beam(build: Build) -> None:
    ensemble = Ensemble([build(), build()])
    source = torch.randint(1, VOCAB, (2, 7))
    state = ensemble.start(source)
    prefixes = torch.randint(1, VOCAB, (2, 1, 1))
    for step in range(12):  # the room of the cache grows, and what nobody descends from is dropped
        logits, state = ensemble.step(prefixes[..., -1], state)
        parents = torch.randint(prefixes.size(1), (2, 3))
        prefixes = prefixes.take_along_dim(parents[..., None], dim=1)
        logits = logits.take_along_dim(parents[..., None], dim=1)
        for beam in range(3):
            whole = ensemble.project(ensemble.states(source, prefixes[:, beam]))[:, -1]
            torch.testing.assert_close(logits[:, beam], whole, msg=f"step {step}")
        state = state.reorder(parents)
        prefixes = torch.cat([prefixes, torch.randint(1, VOCAB, (2, 3, 1))], dim=-1)
        if step == 8:
            source, prefixes = source[1:], prefixes[1:]
            state = state.select(torch.tensor([1]))
            source, prefixes = source.repeat(2, 1), prefixes.repeat(2, 1, 1)
            state = state.select(torch.tensor([0, 0]))
