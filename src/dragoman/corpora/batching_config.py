"""Settings of batching."""

from dataclasses import dataclass

MAX_TOKENS_OF_A_SENTENCE = 2**16 - 1
"""Lengths are kept as 16-bit integers, two bytes a sentence."""


@dataclass(frozen=True, kw_only=True)
class BatchingConfig:
    """How pairs of sentences become batches and updates."""

    tokens_per_update: int = 4096
    """Target tokens (padding excluded) that one optimizer update sees, on average."""

    max_tokens_per_micro_batch: int = 4096
    """Padded tokens of the longer side of a micro-batch at most; bounds memory. It also decides
    which pairs come together in an update, so another value is another training. A micro-batch is
    never larger than an update, save for a sentence that is longer by itself."""

    max_length: int = 256
    """Tokens of a sentence, on either side; longer pairs are counted and left out of the store."""

    max_shapes: int = 64
    """How many shapes of full micro-batches there are at most; fewer mean more padding."""

    min_fill: float = 0.92
    """Shapes are added until this share of the cells of a batch holds tokens, not padding."""

    fill_up: bool = False
    """Move pairs that do not fill a micro-batch of their shape to the next longer shape. Nearly all
    are full then, and of few sizes: 7 % faster with 29,000 pairs on a CPU with bf16, and 1 % more
    padding."""

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
