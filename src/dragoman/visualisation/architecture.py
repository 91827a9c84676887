"""What a model is made of: its sizes, and the parameters of each part."""

import re
from collections import Counter
from dataclasses import dataclass

from dragoman.errors import UsageError
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory.weights import without_initialization

_BLOCK = re.compile(r"blocks\.\d+\.")


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A model without its weights."""

    config: TransformerConfig
    source_vocab_size: int
    target_vocab_size: int

    parameters: dict[str, int]
    """By part, such as `encoder.feed_forward`, for all blocks together. A shared table counts once,
    where it first occurs; a part that has none of its own is left out."""

    @property
    def total(self) -> int:
        """The number of all parameters."""
        return sum(self.parameters.values())

    def of_stack(self, name: str) -> int:
        """Count the parameters of the encoder or the decoder."""
        return sum(n for part, n in self.parameters.items() if part.startswith(f"{name}."))

    def num_blocks(self, stack: str) -> int:
        """Count the blocks of the encoder or the decoder."""
        config = self.config
        return config.num_encoder_layers if stack == "encoder" else config.num_decoder_layers


def architecture_of(
    config: TransformerConfig, *, source_vocab_size: int, target_vocab_size: int
) -> Architecture:
    """Build the model without its weights, and count its parameters.

    Raises:
        UsageError: the sizes do not fit together.
    """
    try:
        with without_initialization():
            transformer = Transformer(
                config,
                source_vocab_size=source_vocab_size,
                target_vocab_size=target_vocab_size,
                padding_id=0,
            )
    except ValueError as error:
        raise UsageError(str(error)) from error
    counts: Counter[str] = Counter()
    for name, parameter in transformer.named_parameters():
        stack, *rest = _BLOCK.sub("", name).split(".")
        part = f"{stack}.{rest[0]}" if stack in ("encoder", "decoder") else stack
        counts[part] += parameter.numel()
    return Architecture(
        config=config,
        source_vocab_size=source_vocab_size,
        target_vocab_size=target_vocab_size,
        parameters=dict(counts),
    )
