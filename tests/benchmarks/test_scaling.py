"""What a training with parts sends is what the formulas count."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import distributed
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode

from dragoman.model.config import PRESETS, TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.training.objective import Loss, Objective
from dragoman.training.parallelism import spread

from .conftest import Load


class Collectives(TorchDispatchMode):
    """Counts what is gathered and summed."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        self.count += func.namespace == "c10d"
        return func(*args, **(kwargs or {}))


@pytest.fixture
def _another_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make up one that is sent everything and answers nothing."""
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "fake")
    monkeypatch.setenv("WORLD_SIZE", "2")
    distributed.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    yield
    distributed.destroy_process_group()


@pytest.mark.usefixtures("_another_process")
@pytest.mark.parametrize(("encoder", "decoder"), [(2, 2), (3, 2), (2, 3)])
def test_a_micro_batch_needs_as_many_collectives_as_are_counted(
    load: Load, monkeypatch: pytest.MonkeyPatch, encoder: int, decoder: int
) -> None:
    sizes: dict[str, Any] = {"num_encoder_layers": encoder, "num_decoder_layers": decoder}
    sizes |= {"d_model": 8, "d_ff": 8, "num_heads": 2}
    monkeypatch.setitem(PRESETS, "tiny", sizes)
    model = Transformer(
        TransformerConfig(**sizes), source_vocab_size=8, target_vocab_size=8, padding_id=0
    )
    objective = Objective(Loss(model, label_smoothing=0.1), dtype=torch.bfloat16)
    module = spread(objective, model, "fsdp", dtype=torch.bfloat16)
    tokens = torch.ones(2, 4, dtype=torch.int32)

    with Collectives() as sent:
        module(tokens, tokens).backward()

    assert sent.count == load("scaling").Messages.of("tiny").collectives
