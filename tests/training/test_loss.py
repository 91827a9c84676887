"""The loss is label-smoothed cross-entropy, summed, however it is cut into chunks."""

import importlib.util
import math
import os
import subprocess
import sys

import pytest
import torch
from torch import Tensor, nn

from dragoman.training import loss as loss_module
from dragoman.training.loss import label_smoothed_cross_entropy, projected_cross_entropy

PAD, VOCAB, D_MODEL = 0, 11, 6
SHAPE = (5, 7)


def example(*, bias: bool) -> tuple[Tensor, nn.Linear, Tensor]:
    states = torch.randn(*SHAPE, D_MODEL, requires_grad=True)
    labels = torch.randint(1, VOCAB, SHAPE)
    labels[:, -2:] = PAD
    return states, nn.Linear(D_MODEL, VOCAB, bias=bias), labels


def test_a_loss_worked_by_hand() -> None:
    # Two classes with logits 0 and log 3: p = 1/4, 3/4. Smoothing 0.2 gives q = 0.9, 0.1 for the
    # first label: -(0.9 log 1/4 + 0.1 log 3/4).
    logits = torch.tensor([[0.0, math.log(3.0)]])

    loss = label_smoothed_cross_entropy(logits, torch.tensor([0]), smoothing=0.2, padding_id=-1)

    assert float(loss) == pytest.approx(-(0.9 * math.log(0.25) + 0.1 * math.log(0.75)))


def test_padding_adds_nothing() -> None:
    logits = torch.randn(4, VOCAB)
    labels = torch.tensor([3, PAD, 5, PAD])

    whole = label_smoothed_cross_entropy(logits, labels, smoothing=0.1, padding_id=PAD)
    real = label_smoothed_cross_entropy(logits[::2], labels[::2], smoothing=0.1, padding_id=PAD)

    torch.testing.assert_close(whole, real)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_rows", [1, 8, 1000])
def test_chunks_give_the_loss_and_the_gradients_of_the_whole(
    bias: bool, smoothing: float, chunk_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_ROWS", chunk_rows)
    states, projection, labels = example(bias=bias)
    inputs = [states, *projection.parameters()]

    logits = projection(states).flatten(0, 1)
    whole = label_smoothed_cross_entropy(
        logits, labels.flatten(), smoothing=smoothing, padding_id=PAD
    )
    expected = torch.autograd.grad(3.0 * whole, inputs)
    chunked = projected_cross_entropy(
        states, projection, labels, smoothing=smoothing, padding_id=PAD
    )
    gradients = torch.autograd.grad(3.0 * chunked, inputs)

    torch.testing.assert_close(chunked, whole, atol=1e-4, rtol=1e-5)
    for gradient, reference in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, reference, atol=1e-5, rtol=1e-4)


def test_without_gradients_the_loss_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_ROWS", 8)
    states, projection, labels = example(bias=True)
    learnt = projected_cross_entropy(states, projection, labels, smoothing=0.1, padding_id=PAD)

    with torch.no_grad():
        judged = projected_cross_entropy(states, projection, labels, smoothing=0.1, padding_id=PAD)

    torch.testing.assert_close(judged, learnt.detach())


def test_the_loss_of_a_label_without_any_probability_is_finite_and_its_gradient_exact() -> None:
    """Its probability is smaller than all numbers that single precision has."""
    states = torch.tensor([[[200.0]]], requires_grad=True)
    projection = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        projection.weight.copy_(torch.tensor([[1.0], [0.0]]))

    loss = projected_cross_entropy(
        states, projection, torch.tensor([[1]]), smoothing=0.0, padding_id=-1
    )
    loss.backward()

    assert 87 < loss.item() < math.inf
    assert states.grad is not None
    assert states.grad.item() == 1.0  # probabilities 1 and 0, minus the label, times the rows


def test_bf16_products_stay_near_fp32() -> None:
    states, projection, labels = example(bias=False)
    exact = projected_cross_entropy(states, projection, labels, smoothing=0.1, padding_id=PAD)

    with torch.autocast("cpu", torch.bfloat16):
        loss = projected_cross_entropy(states, projection, labels, smoothing=0.1, padding_id=PAD)
    loss.backward()

    torch.testing.assert_close(loss, exact, rtol=0.02, atol=0.0)
    assert projection.weight.grad is not None
    assert projection.weight.grad.dtype == torch.float32


@pytest.mark.parametrize("bias", [False, True])
def test_in_double_precision_the_gradients_are_those_that_differences_show(bias: bool) -> None:
    _, projection, labels = example(bias=bias)
    states = torch.randn(*SHAPE, D_MODEL, dtype=torch.float64, requires_grad=True)

    def loss(states: Tensor, *weights: Tensor) -> Tensor:
        return projected_cross_entropy(states, projection, labels, smoothing=0.1, padding_id=PAD)

    assert torch.autograd.gradcheck(loss, (states, *projection.double().parameters()))
    with torch.no_grad():
        assert loss(states).dtype == torch.float64


KERNEL = """
import torch
from dragoman.kernels.cross_entropy import AT_ONCE, loss_and_gradient
from dragoman.training import loss

torch.manual_seed(1)
for rows, vocab_size in ((5, 7), (2, AT_ONCE), (3, 2 * AT_ONCE + 1), (1, 1)):
    for smoothing in (0.0, 0.1):
        logits, labels = 9 * torch.randn(rows, vocab_size), torch.randint(vocab_size, (rows,))
        expected = loss.loss_and_gradient(logits.clone(), labels, smoothing)
        torch.testing.assert_close(loss_and_gradient(logits, labels, smoothing), expected)
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="there is no Triton")
def test_the_kernel_of_a_gpu_computes_the_same_when_it_is_interpreted() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}

    subprocess.run([sys.executable, "-c", KERNEL], env=environment, check=True)
