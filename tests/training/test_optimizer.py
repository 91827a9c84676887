"""Muon is the published one, and each parameter has one owner."""

import copy
import sys
from inspect import unwrap
from itertools import groupby

import numpy as np
import pytest
import torch
from torch import nn

from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.training.config import TrainingConfig
from dragoman.training.optimizer import (
    POLYNOMIALS,
    Muon,
    Optimizers,
    build_optimizers,
    orthogonalise,
)

SHAPES = [(12, 12), (7, 20), (20, 7)]


def transformer() -> Transformer:
    torch.manual_seed(1)
    config = TransformerConfig(
        d_model=8, d_ff=12, num_heads=2, num_encoder_layers=1, num_decoder_layers=2
    )
    return Transformer(config, source_vocab_size=11, target_vocab_size=11, padding_id=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_values_come_near_one_and_singular_vectors_stay(shape: tuple[int, int]) -> None:
    torch.manual_seed(2)
    left, _, right = torch.linalg.svd(torch.randn(shape), full_matrices=False)
    values = torch.logspace(0, -1.5, len(right))

    (found,) = orthogonalise(((left * values) @ right)[None])

    inside = left.t() @ found @ right.t()
    between = inside - torch.diag(torch.diag(inside))
    assert between.abs().max() < 1e-4
    assert torch.diag(inside).min() > 0.69
    assert torch.diag(inside).max() < 1.31


def test_each_polynomial_is_the_best_for_what_the_one_before_it_leaves() -> None:
    low, high = 0.002315, 1.0
    for a, b, c in POLYNOMIALS:
        values = np.linspace(low, 1.02 * high, 100_001)
        errors = 1.0 - (a * values + b * values**3 + c * values**5)
        worst = np.abs(errors).max()
        extremes = np.sign(errors[np.abs(errors) > 0.99 * worst])

        # As many as there are coefficients, and one more, with alternating signs (Chebyshev).
        assert [sign for sign, _ in groupby(extremes)] == [1.0, -1.0, 1.0, -1.0]
        low, high = 1.0 - worst, 1.0 + worst
    assert low == pytest.approx(0.7, abs=0.005)


@pytest.mark.parametrize("rank", [1, 2, 60])
def test_rounding_in_bf16_lets_no_singular_value_grow(rank: int) -> None:
    torch.manual_seed(2)
    matrix = torch.randn(1, 64, rank) @ torch.randn(1, rank, 128)

    found = orthogonalise(matrix.to(torch.bfloat16)).float()

    assert torch.linalg.matrix_norm(found, ord=2).item() < 1.35


def test_a_wide_matrix_and_its_transpose_are_treated_alike() -> None:
    torch.manual_seed(3)
    matrices = torch.randn(2, 5, 9)

    torch.testing.assert_close(orthogonalise(matrices.mT), orthogonalise(matrices).mT)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_matrix_without_any_gradient_only_decays(dtype: torch.dtype) -> None:
    matrix = nn.Parameter(torch.ones(3, 4))
    matrix.grad = torch.zeros(3, 4)

    Optimizers(Muon([matrix], weight_decay=0.5, dtype=dtype)).step(0.1)

    torch.testing.assert_close(matrix.detach(), torch.full((3, 4), 0.95))


def test_matrices_are_updated_as_each_would_be_alone() -> None:
    dtype = torch.bfloat16  # in float32, each is alone
    torch.manual_seed(5)
    together = [nn.Parameter(torch.randn(shape)) for shape in (*SHAPES, *SHAPES)]
    alone = [nn.Parameter(matrix.detach().clone()) for matrix in together]
    ours = Optimizers(Muon(together, weight_decay=0.1, dtype=dtype))
    theirs = Optimizers(*(Muon([matrix], weight_decay=0.1, dtype=dtype) for matrix in alone))

    for _ in range(3):
        for one, other in zip(together, alone, strict=True):
            one.grad = torch.randn_like(one)
            other.grad = one.grad.clone()
        ours.step(0.02)
        theirs.step(0.02)

    torch.testing.assert_close(together, alone)


def test_adamw_has_the_averages_and_the_epsilon_of_the_recipe() -> None:
    """Kingma and Ba 2015, algorithm 1, for two updates."""
    model = transformer()
    config = TrainingConfig(adam_betas=(0.5, 0.75), adam_epsilon=0.25)
    optimizers = build_optimizers(model, config)
    expected = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    mean = square = 0.0

    for update, gradient in enumerate((1.0, 3.0), start=1):
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, gradient)
        optimizers.step(0.1)
        mean, square = 0.5 * mean + 0.5 * gradient, 0.75 * square + 0.25 * gradient**2
        root = (square / (1 - 0.75**update)) ** 0.5
        for weight in expected.values():
            weight.sub_(0.1 * mean / (1 - 0.5**update) / (root + 0.25))

    torch.testing.assert_close(dict(model.named_parameters()), expected)


def test_gradients_are_kept_where_recordings_write_them() -> None:
    matrix = nn.Parameter(torch.ones(3, 4))
    optimizers = Optimizers(
        Muon([matrix], weight_decay=0.0, dtype=torch.float32), keep_gradients=True
    )
    matrix.grad = gradient = torch.randn(3, 4)

    optimizers.step(0.1)

    assert matrix.grad is gradient
    assert not gradient.any()


@pytest.mark.parametrize("shape", SHAPES)
def test_with_its_polynomial_updates_are_those_of_pytorch_which_computes_in_bf16(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    jordan = (3.4445, -4.7750, 2.0315)
    monkeypatch.setattr("dragoman.training.optimizer.POLYNOMIALS", 5 * [jordan])
    torch.manual_seed(4)
    ours = nn.Parameter(torch.randn(shape))
    theirs = nn.Parameter(ours.detach().clone())
    reference = torch.optim.Muon(
        [theirs], lr=0.02, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"
    )
    optimizers = Optimizers(Muon([ours], weight_decay=0.1, dtype=torch.float32))
    before = ours.detach().clone()

    for _ in range(4):
        gradient = torch.randn(shape)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        optimizers.step(0.02)
        reference.step()

    moved = (theirs.detach() - before).norm()
    assert (ours.detach() - theirs.detach()).norm() < 0.02 * moved


def test_muon_owns_the_hidden_matrices_and_adamw_the_rest() -> None:
    model = transformer()
    names = {id(parameter): name for name, parameter in model.named_parameters()}

    adamw, muon = build_optimizers(model, TrainingConfig(optimizer="muon")).members

    def owned(optimizer: torch.optim.Optimizer) -> list[str]:
        return [names[id(p)] for group in optimizer.param_groups for p in group["params"]]

    assert sorted(owned(adamw) + owned(muon)) == sorted(names.values())
    assert "source_embeddings.table.weight" in owned(adamw)
    assert all(name.endswith("weight") and "norm" not in name for name in owned(muon))
    assert len(owned(muon)) == 1 * (4 + 2) + 2 * (8 + 2)  # attention and feed-forward matrices


def test_adamw_owns_an_embedding_wherever_it_is() -> None:
    model = transformer()
    distances = nn.Embedding(5, 2)  # as of relative positions, in a part of one's own
    model.encoder.blocks[0].register_module("distances", distances)

    adamw, muon = build_optimizers(model, TrainingConfig(optimizer="muon")).members

    assert any(p is distances.weight for group in adamw.param_groups for p in group["params"])
    assert all(p is not distances.weight for group in muon.param_groups for p in group["params"])


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_what_is_frozen_has_no_owner_and_stays(optimizer: str) -> None:
    model = transformer()
    frozen = [model.source_embeddings.table.weight, *model.encoder.parameters()]
    before = [parameter.requires_grad_(False).clone() for parameter in frozen]
    optimizers = build_optimizers(model, TrainingConfig(optimizer=optimizer, weight_decay=0.5))  # type: ignore[arg-type]

    optimizers.step(0.1)

    owned = [p for member in optimizers.members for g in member.param_groups for p in g["params"]]
    assert len(owned) == sum(parameter.requires_grad for parameter in model.parameters())
    assert all(map(torch.equal, frozen, before))


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_only_matrices_decay(optimizer: str) -> None:
    config = TrainingConfig(optimizer=optimizer, weight_decay=0.25)  # type: ignore[arg-type]
    groups = [
        group
        for member in build_optimizers(transformer(), config).members
        for group in member.param_groups
    ]

    for group in groups:
        for parameter in group["params"]:
            assert group["weight_decay"] == (0.25 if parameter.dim() >= 2 else 0.0)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_what_a_checkpoint_keeps_brings_the_state_back(optimizer: str) -> None:
    config = TrainingConfig(optimizer=optimizer)  # type: ignore[arg-type]
    model = transformer()
    optimizers = build_optimizers(model, config)
    _step(model, optimizers, seed=5)
    other = copy.deepcopy(model)
    restored = build_optimizers(other, config)
    restored.load({name: tensor.clone() for name, tensor in optimizers.tensors().items()})

    _step(model, optimizers, seed=6)
    _step(other, restored, seed=6)

    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)
    assert all(parameter.grad is None for parameter in model.parameters())


def _step(model: Transformer, optimizers: Optimizers, *, seed: int) -> None:
    torch.manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizers.step(0.01)


def test_an_optimizer_of_ones_own_is_missed_before_the_first_update() -> None:
    optimizers = Optimizers(torch.optim.SGD([torch.zeros(2, requires_grad=True)], momentum=0.9))

    with pytest.raises(KeyError, match="SGD"):
        optimizers.shapes()


def test_a_training_that_compiles_nothing_loads_no_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)  # what imports it fails
    for name in ("add_param_group", "state_dict", "load_state_dict", "zero_grad"):
        method = unwrap(getattr(torch.optim.Optimizer, name))
        monkeypatch.delattr(method, "__dynamo_disable", raising=False)  # kept once it was loaded
    model = transformer()

    optimizers = build_optimizers(model, TrainingConfig(optimizer="muon"))
    _step(model, optimizers, seed=1)
    optimizers.load(optimizers.tensors())
    _step(model, optimizers, seed=2)
