"""A process of its own for `test_compilation.py`: PyTorch compiles no code that checks its types.

It writes what it saw as JSON.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import torch
from tests.training.conftest import SMALL, build_trainer, write_store
from torch import Tensor, fx

from dragoman.model.attention import ScaledDotProductAttention
from dragoman.model.config import TransformerConfig
from dragoman.model.fused_attention import side_by_side
from dragoman.model.masks import causal_mask, padding_mask
from dragoman.model.transformer import Transformer
from dragoman.training.averaging import weights_of
from dragoman.training.compilation import compile_blocks
from dragoman.training.objective import Loss, Objective, for_validation

VOCAB, PAD = 13, 0


class Counter:
    """A backend that runs what it is given, and counts how often that is."""

    def __init__(self) -> None:
        self.graphs = 0

    def __call__(self, graph: fx.GraphModule, inputs: list[Tensor]) -> Callable[..., Any]:
        self.graphs += 1
        return graph.forward


@contextmanager
def compiled_by(backend: str | Counter, *, for_any_shape: bool = True) -> Iterator[None]:
    """Have another backend than inductor, which needs a compiler of C++."""
    compile_part = torch.compile

    def compile_with_backend(part: Callable[..., Any], *, dynamic: bool, **_: object) -> Any:
        return compile_part(part, dynamic=dynamic and for_any_shape, backend=backend)

    with patch.object(torch, "compile", compile_with_backend):
        yield


def objective(
    positional_encoding: Any,
    dtype: torch.dtype = torch.float32,
    dropout: float = 0.0,
    d_model: int = 8,
) -> Objective:
    """Build a model of three and three blocks, the same each time."""
    torch.manual_seed(2)
    config = TransformerConfig(
        d_model=d_model,
        d_ff=10,
        num_heads=2,
        num_encoder_layers=3,
        num_decoder_layers=3,
        dropout=dropout,
        positional_encoding=positional_encoding,
    )
    model = Transformer(config, source_vocab_size=VOCAB, target_vocab_size=VOCAB, padding_id=PAD)
    return Objective(Loss(model, label_smoothing=0.1), dtype=dtype)


def batch(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """Make up sentences, one of them padded."""
    torch.manual_seed(rows)
    tokens = torch.randint(4, VOCAB, (rows, columns))
    tokens[0, columns - 2 :] = PAD
    return tokens, tokens.flip(1)


def trained(directory: Path, positional_encoding: Any, **settings: Any) -> dict[str, Tensor]:
    """Train for some updates, with validations between them, and say how the weights changed."""
    sizes = replace(SMALL, dropout=0.0, positional_encoding=positional_encoding)
    trainer = build_trainer(write_store(directory / "store"), directory, sizes, **settings)
    before = {name: weight.clone() for name, weight in weights_of(trainer.transformer).items()}
    trainer.run()
    return {name: w - before[name] for name, w in weights_of(trainer.transformer).items()}


def compare_trainings(positional_encoding: str) -> dict[str, float]:
    """Do what `training.compile` asks for."""
    counter = Counter()
    with TemporaryDirectory() as one, TemporaryDirectory() as other, compiled_by(counter):
        ours, theirs = (
            trained(Path(name), positional_encoding, precision="fp32", compile=way)
            for name, way in ((one, True), (other, False))
        )
    # The bias of keys has no gradient but noise.
    names = [name for name in ours if "key_projection.bias" not in name]
    moved, apart = (
        float(torch.cat([tensors[name].flatten() for name in names]).norm())
        for tensors in (theirs, {name: ours[name] - theirs[name] for name in names})
    )
    return {
        "graphs of a training": counter.graphs,
        "difference of what was learnt": apart / moved,
    }


def graphs_side_by_side(positional_encoding: str, dtype: torch.dtype) -> int:
    """Count the graphs for blocks whose attention gets several sentences in a row, or one."""
    counter = Counter()
    model = objective(positional_encoding, d_model=32).transformer.train().to(dtype)
    for module in model.modules():
        if isinstance(module, ScaledDotProductAttention):
            vars(module)["forward"] = module.fused
    with compiled_by(counter):
        compile_blocks(model)
    for rows, length, other in ((8, 20, 23), (12, 18, 15), (6, 30, 9), (9, 40, 41), (10, 70, 20)):
        source, target = torch.ones(rows, length).int(), torch.ones(rows, other).int()
        mask = padding_mask(source, PAD)
        memory = model.encode(source, side_by_side(mask, length))
        causal = padding_mask(target, PAD) & causal_mask(other)
        model.decode(target, memory, side_by_side(mask, other), side_by_side(causal, other))
    return counter.graphs


def losses_with_dropout(positional_encoding: str, dtype: torch.dtype) -> list[float]:
    """Compute a loss as written and compiled; on a CPU both draw the same numbers.

    The backend takes four times as long for graphs of any shape.
    """
    plain, compiled = (objective(positional_encoding, dtype, dropout=0.5).train() for _ in range(2))
    with compiled_by("aot_eager", for_any_shape=False):
        compile_blocks(compiled.transformer)
    losses = []
    for one in (plain, compiled):
        sentences = batch(4, 6)  # which seeds the generator
        loss = one(*sentences)
        loss.backward()
        losses.append(loss.item())
    return losses


def compare_losses(positional_encoding: str, dtype: torch.dtype) -> dict[str, Any]:
    """Validate, and compute gradients for three shapes, with and without compilation."""
    plain, compiled = (objective(positional_encoding, dtype) for _ in range(2))
    counter = Counter()
    with compiled_by(counter):
        compile_blocks(compiled.transformer)
    for_validation(compiled, weights_of(compiled.transformer))(*batch(4, 6))
    graphs_of_validation = counter.graphs
    losses = []
    for shape in ((4, 6), (5, 9), (3, 7)):
        pair = [one(*batch(*shape)) for one in (plain, compiled)]
        losses.append([loss.item() for loss in pair])
        for loss in pair:
            loss.backward()
    gradients = [
        (one.grad, other.grad)
        for one, other in zip(plain.parameters(), compiled.parameters(), strict=True)
        if one.grad is not None and other.grad is not None
    ]
    # Some should be zero and are what rounding leaves, so each is compared with the largest of all.
    largest = max(float(one.abs().max()) for one, _ in gradients)
    return {
        "graphs of a validation": graphs_of_validation,
        "graphs": counter.graphs,
        "losses": losses,
        "largest difference of gradients": max(
            float((one - other).abs().max()) / largest for one, other in gradients
        ),
        "same names": list(weights_of(plain)) == list(weights_of(compiled)),
    }


if __name__ == "__main__":
    report = {
        **compare_losses("interleaved", torch.bfloat16),
        "graphs with rotary": compare_losses("rotary", torch.float32)["graphs"],
        "graphs side by side": graphs_side_by_side("interleaved", torch.bfloat16),
        **compare_trainings("rotary"),
        "losses with dropout": losses_with_dropout("rotary", torch.float32),
    }
    json.dump(report, sys.stdout)
