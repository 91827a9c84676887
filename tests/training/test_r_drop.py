"""R-Drop adds how far two predictions are from each other, however it is cut into chunks."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.training import loss as loss_module
from dragoman.training.config import TrainingConfig
from dragoman.training.objective import Objective, build_objective
from dragoman.training.r_drop import projected_r_drop_loss, r_drop_loss

PAD, VOCAB, D_MODEL, BATCH, LENGTH = 0, 11, 6, 3, 5


def test_a_loss_worked_by_hand() -> None:
    # P = 1/4, 3/4 and Q = 1/2, 1/2 diverge by (1/4 - 1/2) log 1/2 + (3/4 - 1/2) log 3/2 in all.
    one, other = torch.tensor([[0.0, math.log(3.0)]]), torch.tensor([[0.0, 0.0]])

    loss = r_drop_loss(one, other, torch.tensor([0]), smoothing=0.0, padding_id=-1, weight=4.0)

    divergences = -0.25 * math.log(0.5) + 0.25 * math.log(1.5)
    expected = (-math.log(0.25) - math.log(0.5) + 4.0 * divergences / 2) / 2
    assert float(loss) == pytest.approx(expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_rows", [2, 8, 1000])
def test_chunks_give_the_loss_and_the_gradients_of_the_whole(
    smoothing: float, chunk_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_ROWS", chunk_rows)
    whole, chunked = (
        partial(of, smoothing=smoothing, padding_id=PAD, weight=5.0)
        for of in (r_drop_loss, projected_r_drop_loss)
    )
    states = torch.randn(2 * BATCH, LENGTH, D_MODEL, requires_grad=True)
    labels = torch.randint(1, VOCAB, (BATCH, LENGTH))
    labels[:, -2:] = PAD
    projection = nn.Linear(D_MODEL, VOCAB)
    inputs = [states, *projection.parameters()]

    one, other = projection(states).flatten(1, 2).view(2, -1, VOCAB)
    expected_loss = whole(one, other, labels.flatten())
    expected = torch.autograd.grad(3.0 * expected_loss, inputs)
    loss = chunked(states, projection, labels)
    gradients = torch.autograd.grad(3.0 * loss, inputs)

    torch.testing.assert_close(loss, expected_loss, atol=1e-4, rtol=1e-5)
    for gradient, reference in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, reference, atol=1e-5, rtol=1e-4)


def objective(*, dropout: float, weight: float) -> Objective:
    torch.manual_seed(1)
    config = TransformerConfig(
        d_model=8, d_ff=10, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, dropout=dropout
    )
    model = Transformer(config, source_vocab_size=VOCAB, target_vocab_size=VOCAB, padding_id=PAD)
    return build_objective(model, TrainingConfig(r_drop=weight), torch.float32)


def loss(of: Objective) -> float:
    torch.manual_seed(2)
    source, target = torch.randint(4, VOCAB, (2, BATCH, LENGTH))
    target[1, 3:] = PAD
    return float(of(source, target).detach())


def test_predictions_that_agree_cost_nothing() -> None:
    usual, twice = (loss(objective(dropout=0.0, weight=weight)) for weight in (0.0, 5.0))

    assert twice == pytest.approx(usual)


def test_predictions_that_differ_cost_more_with_more_weight() -> None:
    little, much = (loss(objective(dropout=0.5, weight=weight)) for weight in (1e-9, 5.0))

    assert much > little * 1.01


def test_a_validation_predicts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = objective(dropout=0.5, weight=5.0)
    predicted = []
    states = twice.transformer.states

    def count(source: Tensor, target: Tensor) -> Tensor:
        predicted.append(len(source))
        return states(source, target)

    monkeypatch.setattr(twice.transformer, "states", count)
    loss(twice)
    loss(twice.eval())

    assert predicted == [2 * BATCH, BATCH]


def test_in_double_precision_the_gradients_are_those_that_differences_show() -> None:
    projection = nn.Linear(D_MODEL, VOCAB, dtype=torch.float64)
    states = torch.randn(2 * BATCH, LENGTH, D_MODEL, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(1, VOCAB, (BATCH, LENGTH))

    def loss(states: Tensor, *weights: Tensor) -> Tensor:
        return projected_r_drop_loss(
            states, projection, labels, smoothing=0.1, padding_id=PAD, weight=5.0
        )

    assert torch.autograd.gradcheck(loss, (states, *projection.parameters()))
