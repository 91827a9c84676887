"""An update depends on its tokens, not on how they are cut into batches."""

import math
from contextlib import nullcontext
from itertools import pairwise

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import HashStore  # type: ignore[attr-defined]
from torch.nn.parallel import DistributedDataParallel

from dragoman.errors import DragomanError
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.training.averaging import weights_of
from dragoman.training.objective import Loss, Objective
from dragoman.training.optimizer import Optimizers
from dragoman.training.step import (
    MicroBatch,
    add_gradients,
    add_gradients_at_once,
    rehearse,
    update,
)

VOCAB, PAD = 13, 0


def objective() -> Objective:
    torch.manual_seed(2)
    config = TransformerConfig(
        d_model=8, d_ff=10, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, dropout=0.0
    )
    model = Transformer(config, source_vocab_size=VOCAB, target_vocab_size=VOCAB, padding_id=PAD)
    return Objective(Loss(model, label_smoothing=0.1), dtype=torch.float32)


def sentences() -> tuple[Tensor, Tensor]:
    torch.manual_seed(3)
    source = torch.randint(4, VOCAB, (6, 5))
    target = torch.randint(4, VOCAB, (6, 7))
    for row in range(6):  # unequal lengths, so that a mean of means differs
        target[row, 3 + row // 2 :] = PAD
    return source, target


def change(model: Objective, micro_batches: list[MicroBatch]) -> tuple[float, float]:
    # Plain gradient descent: Adam would blow up the noise in gradients that are almost zero.
    optimizers = Optimizers(torch.optim.SGD(model.parameters(), lr=0.0))
    tokens = sum(int((batch.target[:, 1:] != PAD).sum()) for batch in micro_batches)
    report = update(
        model,
        micro_batches,
        optimizers,
        num_target_tokens=tokens,
        learning_rate=0.1,
        max_gradient_norm=0.0,  # clipping would hide a wrong scale
    )
    return report.read()


def apply(model: Objective, micro_batches: list[MicroBatch]) -> dict[str, Tensor]:
    loss, _ = change(model, micro_batches)
    assert loss > 0
    return {name: tensor.clone() for name, tensor in weights_of(model).items()}


def test_gradients_may_be_added_all_at_once() -> None:
    one, other = objective(), objective()
    batch = MicroBatch(*sentences())
    scale = torch.tensor(0.5)
    for model in (one, other):
        add_gradients(model, batch, 3.0)

    losses = add_gradients(one, batch, scale), add_gradients_at_once(other, batch, scale)

    torch.testing.assert_close(*losses)
    for ours, theirs in zip(other.parameters(), one.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


def test_what_is_frozen_or_idle_is_no_obstacle_to_adding_gradients_all_at_once() -> None:
    one, other = objective(), objective()
    batch = MicroBatch(*sentences())
    scale = torch.tensor(0.5)
    for model in (one, other):
        model.transformer.encoder.requires_grad_(False)
        model.transformer.register_parameter("idle", torch.nn.Parameter(torch.ones(3)))
        add_gradients(model, batch, 3.0)
        model.transformer.get_parameter("idle").grad = torch.zeros(3)  # as after an update

    add_gradients(one, batch, scale)
    add_gradients_at_once(other, batch, scale)

    for ours, theirs in zip(other.parameters(), one.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.parametrize("frozen", [False, True])
def test_what_has_no_part_in_the_loss_is_named_before_several_processes_wait_for_it(
    frozen: bool,
) -> None:
    model = objective()
    idle = torch.nn.Parameter(torch.ones(3), requires_grad=not frozen)
    model.transformer.register_parameter("idle", idle)
    optimizers = Optimizers(torch.optim.SGD(model.parameters(), lr=0.0))
    refused = pytest.raises(DragomanError, match=r"no part .*: loss\.transformer\.idle; freeze")
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    try:
        with nullcontext() if frozen else refused:
            rehearse(DistributedDataParallel(model), MicroBatch(*sentences()), optimizers)
    finally:
        dist.destroy_process_group()


@pytest.mark.parametrize("cuts", [[0, 6], [0, 2, 6], [0, 1, 5, 6]])
def test_an_update_follows_the_gradient_of_the_mean_loss_of_a_token_however_it_is_cut(
    cuts: list[int],
) -> None:
    source, target = sentences()
    model = objective()
    parameters = dict(model.named_parameters())
    mean = model(source, target) / int((target[:, 1:] != PAD).sum())
    gradients = torch.autograd.grad(mean, list(parameters.values()))

    parts = [slice(*ends) for ends in pairwise(cuts)]
    moved = apply(objective(), [MicroBatch(source[rows], target[rows]) for rows in parts])

    for (name, parameter), gradient in zip(parameters.items(), gradients, strict=True):
        torch.testing.assert_close(moved[name], parameter.detach() - 0.1 * gradient)


def test_a_filler_row_changes_nothing() -> None:
    source, target = sentences()
    filler = torch.full((1, 7), PAD)
    filler[0, 0] = 2

    plain = apply(objective(), [MicroBatch(source, target)])
    filled = apply(
        objective(),
        [MicroBatch(source, target), MicroBatch(source[:1], filler)],
    )

    for name in plain:
        torch.testing.assert_close(filled[name], plain[name], atol=1e-5, rtol=0)


def test_a_loss_that_is_not_finite_leaves_the_weights_alone() -> None:
    model = objective()
    with torch.no_grad():
        next(model.transformer.encoder.parameters())[0, 0] = float("inf")
    before = {name: tensor.clone() for name, tensor in weights_of(model).items()}

    loss, _ = change(model, [MicroBatch(*sentences())])

    assert math.isnan(loss)
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights_of(model).items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_gradient_that_is_not_finite_leaves_the_weights_alone() -> None:
    model = objective()
    before = {name: tensor.clone() for name, tensor in weights_of(model).items()}
    next(model.parameters()).register_hook(lambda gradient: gradient * float("inf"))

    loss, norm = change(model, [MicroBatch(*sentences())])

    assert math.isfinite(loss)
    assert not math.isfinite(norm)
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights_of(model).items())


def test_clipping_bounds_the_gradient() -> None:
    model = objective()
    optimizers = Optimizers(torch.optim.SGD(model.parameters(), lr=0.0))
    before = {name: tensor.clone() for name, tensor in weights_of(model).items()}
    source, target = sentences()

    report = update(
        model,
        [MicroBatch(source, target)],
        optimizers,
        num_target_tokens=1,  # a gradient that is far too long
        learning_rate=1.0,
        max_gradient_norm=0.5,
    )

    moved = torch.cat([(t - before[n]).flatten() for n, t in weights_of(model).items()])
    assert report.read()[1] > 1.0
    torch.testing.assert_close(moved.norm(), torch.tensor(0.5), rtol=1e-3, atol=0)
