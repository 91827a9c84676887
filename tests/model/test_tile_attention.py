"""Attention as one operation, whose gradient is written by hand, is equation 1 and its gradient."""

import importlib.util
import os
import subprocess
import sys

import pytest
import torch
from torch import Tensor

from dragoman.model import fused_attention
from dragoman.model.attention import ScaledDotProductAttention, attention_weights
from dragoman.model.masks import causal_mask, padding_mask
from dragoman.model.tile_attention import TILE, attend, empty_heads, is_one_tile

SOURCE = torch.tensor([[5, 6, 7, 8], [5, 6, 0, 0], [0, 0, 0, 0]])
MASKS = {
    "padding": padding_mask(SOURCE, padding_id=0),
    "causal": causal_mask(4),
    "both": padding_mask(SOURCE, padding_id=0) & causal_mask(4),
}


def heads(dtype: torch.dtype = torch.float64, width: int = 16) -> list[Tensor]:
    """Draw queries, keys and values, beside one another as a joint projection leaves them."""
    joint = torch.randn(3, 4, 3, 2, width, dtype=dtype)
    return [part.transpose(1, 2).requires_grad_() for part in joint.unbind(dim=2)]


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_it_computes_equation_1_and_its_gradients(mask: Tensor) -> None:
    queries, keys, values = heads()
    weighing = torch.randn(3, 2, 4, 16, dtype=torch.float64)

    found = attend(queries, keys, values, mask)
    gradients = torch.autograd.grad((found * weighing).sum(), (queries, keys, values))

    expected = attention_weights(queries, keys, mask) @ values
    wanted = torch.autograd.grad((expected * weighing).sum(), (queries, keys, values))
    # The softmax of both is computed in single precision.
    torch.testing.assert_close((found, *gradients), (expected, *wanted), atol=1e-6, rtol=0.0)


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # which PyTorch's own check reads
def test_a_compiler_is_told_the_truth_about_it() -> None:
    torch.library.opcheck(attend, (*heads(), MASKS["both"]))


def test_heads_of_a_position_lie_side_by_side() -> None:
    room = empty_heads(torch.zeros(3, 2, 4, 16))

    assert room.shape == (3, 2, 4, 16)
    assert room.transpose(1, 2).is_contiguous()


@pytest.mark.parametrize(
    ("dtype", "width", "queries", "memory", "fits"),
    [
        (torch.bfloat16, 64, TILE, TILE, True),
        (torch.float16, 32, 1, 1, True),
        (torch.bfloat16, 64, TILE + 1, 1, False),
        (torch.bfloat16, 64, 1, TILE + 1, False),
        (torch.bfloat16, 24, 1, 1, False),
        (torch.float32, 64, 1, 1, False),
    ],
)
def test_long_sentences_and_other_formats_are_left_to_pytorch(
    dtype: torch.dtype, width: int, queries: int, memory: int, fits: bool
) -> None:
    tensor = torch.zeros(1, 1, queries, width, dtype=dtype)

    # A mask has a row for each query, or one for all of them.
    for rows in (queries, 1):
        assert is_one_tile(tensor, torch.ones(1, 1, rows, memory, dtype=torch.bool)) == fits


def test_a_mask_for_each_head_is_left_to_pytorch() -> None:
    mask = torch.ones(1, 2, 3, 3, dtype=torch.bool)

    assert not is_one_tile(torch.zeros(1, 2, 3, 16, dtype=torch.bfloat16), mask)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_only_a_compiled_training_without_dropout_of_weights_uses_it(
    training: bool, dropout: float, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def watched(*given: Tensor) -> Tensor:
        seen.append(given)
        return attend(*given)

    monkeypatch.setattr(fused_attention, "attend", watched)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: compiled)
    layer = ScaledDotProductAttention(dropout).train(training)
    queries, keys, values = heads(torch.bfloat16)

    found = layer.fused(queries, keys, values, MASKS["both"])

    assert len(seen) == (compiled and training and dropout == 0.0)
    if not (training and dropout):
        exact = attention_weights(queries.double(), keys.double(), MASKS["both"]) @ values.double()
        torch.testing.assert_close(found.double(), exact, atol=0.03, rtol=0.01)


KERNELS = """
import torch
from dragoman.kernels.attention import attend_in_tiles, gradients_in_tiles
from dragoman.model.tile_attention import attend, attend_backward, empty_heads


def beside_others(length, width):
    return torch.randn(3, length, 2, 2, width)[:, :, 1].transpose(1, 2)


def head_after_head(length, width):
    return torch.randn(3, 2, length, width)


def the_same_everywhere(length, width):
    return torch.randn(3, 2, 1, width).expand(3, 2, length, width)


def far_apart(length, width):  # which nobody can see if there is one
    strides = (2 * width, width, 999, 1)
    return torch.randn(3, length * 1000).as_strided((3, 2, length, width), strides)


torch.manual_seed(1)
for layout in (beside_others, head_after_head, the_same_everywhere, far_apart):
    for queries, memory, width in ((7, 7, 16), (5, 9, 32), (64, 33, 64), (1, 64, 16)):
        for rows, masked_queries in ((3, queries), (1, queries), (3, 1)):
            mask = torch.rand(rows, 1, masked_queries, memory) < 0.6
            mask[..., 0] = True
            given = [layout(length, width) for length in (queries, queries, memory, memory)]
            gradient, *heads = given
            found = empty_heads(heads[0])
            attend_in_tiles(tuple(heads), mask, found, tile=64)
            torch.testing.assert_close(found, attend(*heads, mask))
            found = tuple(map(empty_heads, heads))
            gradients_in_tiles(tuple(given), mask, found, tile=64)
            torch.testing.assert_close(found, attend_backward(*given, mask))
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="there is no Triton")
def test_the_kernels_of_a_gpu_compute_the_same_when_they_are_interpreted() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}

    subprocess.run([sys.executable, "-c", KERNELS], env=environment, check=True)
