"""A process of its own for `test_on_gpu.py`: PyTorch compiles no code that checks its types.

It writes what it saw as JSON.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from tests.training.conftest import SMALL, build_trainer, write_store

from dragoman.model.dropout import Dropout
from dragoman.training.averaging import weights_of
from dragoman.training.loop import Trainer
from dragoman.training.recording import Recorder
from dragoman.training.step import MicroBatch


def trained(directory: Path, *, compile_blocks: bool) -> Trainer:
    """Train without dropout: compiled blocks draw other numbers."""
    trainer = build_trainer(
        write_store(directory / "store"),
        directory,
        replace(SMALL, dropout=0.0),
        device="cuda",
        validate_every=2,
        compile=compile_blocks,
    )
    trainer.run()
    return trainer


def drops_where_its_gradient_is() -> bool:
    """Tell whether a compiled dropout remembers what it dropped."""
    dropout = Dropout(0.5)
    dropout.compile()
    x = torch.randn(64, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    dropped = dropout(x)
    dropped.sum().backward()
    assert x.grad is not None
    share = float((dropped == 0).float().mean())
    return bool(torch.equal(x.grad == 0, dropped == 0)) and 0.4 < share < 0.6


def losses_of_replays(directory: Path) -> list[float]:
    """Replay a recording of compiled blocks with dropout, for the same sentences."""
    trainer = build_trainer(
        write_store(directory / "store"),
        directory,
        replace(SMALL, d_model=32, dropout=0.3),
        device="cuda",
        compile=True,
    )
    part = next(trainer.batches.updates()).micro_batches[0]
    batch = MicroBatch.on(trainer.device, part)
    losses = [float(trainer.add_gradients(trainer.model, batch, 1.0)) for _ in range(4)]
    return losses[2:]  # the first was computed, the second recorded


def main() -> None:
    """Train with and without compilation."""
    with (
        TemporaryDirectory() as one,
        TemporaryDirectory() as other,
        TemporaryDirectory() as third,
    ):
        first, second = losses_of_replays(Path(third))
        compiled = trained(Path(one), compile_blocks=True)
        plain = trained(Path(other), compile_blocks=False)
    ours, theirs = weights_of(compiled.transformer), weights_of(plain.transformer)
    recorder = compiled.add_gradients
    report = {
        "recordings": len(recorder._recordings) if isinstance(recorder, Recorder) else 0,
        "largest difference": max(
            float((ours[name] - theirs[name]).abs().max())
            for name in ours
            if "key_projection.bias" not in name  # which has no gradient but noise
        ),
        "dropped where its gradient is": drops_where_its_gradient_is(),
        "replays draw other numbers": first != second,
    }
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
