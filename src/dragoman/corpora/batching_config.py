"""Settings of batching."""

from dataclasses import dataclass
from typing import Any

MAX_TOKENS_OF_A_SENTENCE = 2**16 - 1
"""Lengths are stored as 16-bit integers, two bytes per sentence."""


@dataclass(frozen=True, kw_only=True)
class BatchingConfig:
    """How pairs of sentences become batches and updates."""

    tokens_per_update: int = 4096
    """Target tokens (padding excluded) that one optimizer update sees, on average."""

    max_tokens_per_micro_batch: int = 4096
    """Maximum number of tokens, padding included, on the longer side of a micro-batch; bounds
    memory. It also decides which pairs share an update, so another value gives another training
    run. A micro-batch is never larger than an update, unless a single sentence is longer by
    itself."""

    max_length: int = 256
    """Maximum number of tokens of a sentence, on either side; longer pairs are counted and left out
    of the store."""

    max_shapes: int = 64
    """Maximum number of shapes of full micro-batches; fewer shapes mean more padding."""

    min_fill: float = 0.92
    """Shapes are added until this share of the cells of a batch holds tokens, not padding."""

    fill_up: bool = False
    """Move pairs that do not fill a micro-batch of their shape to the next longer shape. Nearly all
    micro-batches are full then, and come in few sizes: 7 % faster with 29,000 pairs on a CPU with
    bf16, and 1 % more padding."""

    def __post_init__(self) -> None:
        for name in ("tokens_per_update", "max_tokens_per_micro_batch", "max_length", "max_shapes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)} should be at least 1")
        if self.max_length > MAX_TOKENS_OF_A_SENTENCE:
            raise ValueError(
                f"max_length = {self.max_length} should be at most {MAX_TOKENS_OF_A_SENTENCE}"
            )
        if self.max_tokens_per_micro_batch < self.max_length + 2:
            raise ValueError(
                f"max_tokens_per_micro_batch = {self.max_tokens_per_micro_batch} should hold"
                f" one sentence of max_length = {self.max_length} with its BOS and EOS"
            )
        if not 0 < self.min_fill <= 1:
            raise ValueError(f"min_fill = {self.min_fill} should be above 0 and at most 1")


def with_length(batching: dict[str, Any], max_length: int) -> dict[str, Any]:
    """Give a `batching` section this `max_length`, and room for it where it names none."""
    room = max(BatchingConfig.max_tokens_per_micro_batch, max_length + 2)
    return {"max_tokens_per_micro_batch": room, **batching, "max_length": max_length}
