"""Attention of few queries in a search on a GPU; the kernel itself is interpreted here."""

import contextlib
import importlib.util
import os
import subprocess
import sys
import types
from collections.abc import Iterator

import pytest
import torch

from dragoman.model import few_queries
from dragoman.model.few_queries import are_few, attend_with_few, is_usable
from dragoman.model.softmax import REGISTER

KERNEL = """
import torch
from dragoman.kernels.few_queries import attend_to_cache
from dragoman.model.attention import attention_weights
from dragoman.model.tile_attention import empty_heads


def head_after_head(length, width):
    return torch.randn(3, 2, length, width)


def slot_after_slot(length, width):
    return torch.randn(3, length, 2, width).transpose(1, 2)


def number_after_number(length, width):
    return torch.randn(3, 2, width, length).mT


torch.manual_seed(1)
for layout in (head_after_head, slot_after_slot, number_after_number):
    for queries, memory, width in ((1, 1, 16), (4, 48, 32), (15, 33, 64), (5, 70, 16)):
        for rows, masked_queries in ((3, queries), (1, queries), (3, 1)):
            mask = torch.rand(rows, 1, masked_queries, memory) < 0.6
            mask[..., :32] &= torch.rand(rows, 1, 1, 1) < 0.5  # a whole tile is hidden from some
            mask[..., -1] = True
            q, k, v = (layout(length, width) for length in (queries, memory, memory))
            found = empty_heads(q)
            attend_to_cache(q, k, v, mask, found)
            torch.testing.assert_close(found, attention_weights(q, k, mask) @ v)

            longer = [torch.cat([each, layout(17, width)], dim=2) for each in (k, v)]
            hidden = torch.cat([mask, torch.zeros(*mask.shape[:3], 17, dtype=torch.bool)], dim=3)
            among_hidden = empty_heads(q)
            attend_to_cache(q, *longer, hidden, among_hidden)
            assert torch.equal(among_hidden, found)
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="there is no Triton")
def test_the_kernel_computes_equation_1_and_hidden_slots_change_no_bit() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}

    subprocess.run([sys.executable, "-c", KERNEL], env=environment, check=True)


class OnGPU(torch.Tensor):
    """Says that it is on a GPU."""

    is_cuda = True


def test_it_takes_few_queries_of_a_search_and_what_it_was_made_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(few_queries, "is_usable", lambda device, dtype, width: True)

    def takes(
        queries: int = REGISTER - 1,
        width: int = 64,
        heads: int = 1,
        dtype: torch.dtype = torch.half,
    ) -> bool:
        given = torch.zeros(2, 3, queries, width, dtype=dtype).as_subclass(OnGPU)
        return are_few(given, torch.ones(2, heads, 1, 20, dtype=torch.bool))

    assert not takes()  # something may be learnt from it
    with torch.no_grad():
        assert takes()
        assert not takes(queries=REGISTER)
        assert not takes(width=48)
        assert not takes(heads=3)
        assert not takes(dtype=torch.double)
        assert not are_few(torch.zeros(2, 3, 4, 64), torch.ones(2, 1, 1, 20, dtype=torch.bool))
        with monkeypatch.context() as compiling:
            compiling.setattr("torch.compiler.is_compiling", lambda: True)
            assert not takes()
        monkeypatch.setattr(few_queries, "is_usable", lambda device, dtype, width: False)
        assert not takes()


def test_what_cannot_be_compiled_is_not_used_and_the_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(few_queries, "HAS_TRITON", True)
    monkeypatch.setitem(sys.modules, "triton", None)  # what imports it fails
    monkeypatch.delitem(sys.modules, "dragoman.kernels.few_queries", raising=False)

    assert not is_usable.__wrapped__(torch.device("cpu"), torch.float32, 16)

    assert "as Triton could not compile ours: import of triton halted" in caplog.text


def test_it_is_tried_in_the_format_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch computes in bf16 on older GPUs, too, for which Triton cannot compile it."""

    def attend(queries: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        if (queries.dtype, queries.size(3)) == (torch.bfloat16, 64):
            raise RuntimeError("requires sm_80")
        return queries

    monkeypatch.setattr(few_queries, "HAS_TRITON", True)
    monkeypatch.setattr(few_queries, "attend_with_few", attend)

    on_cpu = torch.device("cpu")
    assert is_usable.__wrapped__(on_cpu, torch.float32, 64)
    assert is_usable.__wrapped__(on_cpu, torch.bfloat16, 32)
    assert not is_usable.__wrapped__(on_cpu, torch.bfloat16, 64)


def test_too_little_memory_is_no_reason_to_do_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has run out of memory searches in halves; the next try may have enough."""

    def fail(*given: torch.Tensor) -> torch.Tensor:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(few_queries, "HAS_TRITON", True)
    monkeypatch.setattr(few_queries, "attend_with_few", fail)

    with pytest.raises(torch.OutOfMemoryError):
        is_usable.__wrapped__(torch.device("cpu"), torch.float32, 16)


def test_the_kernel_is_launched_where_its_queries_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton would compute on the current device: the first GPU, whatever `--device` says."""
    current: list[torch.Tensor] = []
    launched: list[bool] = []

    @contextlib.contextmanager
    def device_of(tensor: torch.Tensor) -> Iterator[None]:
        current.append(tensor)
        yield
        current.pop()

    def launch(queries: torch.Tensor, *others: torch.Tensor) -> None:
        launched.append(any(tensor is queries for tensor in current))

    kernels = types.ModuleType("dragoman.kernels.few_queries")
    monkeypatch.setattr(kernels, "attend_to_cache", launch, raising=False)
    monkeypatch.setitem(sys.modules, kernels.__name__, kernels)
    monkeypatch.setattr(torch.cuda, "device_of", device_of)

    one = torch.ones(1, 1, 1, 16)
    attend_with_few(one, one, one, torch.ones(1, 1, 1, 1, dtype=torch.bool))

    assert launched == [True]
