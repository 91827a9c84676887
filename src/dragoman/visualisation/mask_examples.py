"""Where attention may look, shown on a small batch."""

from dataclasses import dataclass

import numpy as np
import torch

from dragoman.model.masks import causal_mask, padding_mask
from dragoman.tokenizers.tokenizer import PAD_ID

PADDING = "<pad>"
SENTENCES = (
    ("<s>", "il", "gatto", "dorme", "sul", "letto"),
    ("<s>", "che", "ore", "sono", PADDING, PADDING),
    ("<s>", "ciao", PADDING, PADDING, PADDING, PADDING),
)
"""What a decoder reads, padded to the longest."""


@dataclass(frozen=True, kw_only=True)
class MaskExample:
    """The masks of one sentence of the batch, each of shape (query, key); True may be seen."""

    tokens: tuple[str, ...]
    padding: np.ndarray
    causal: np.ndarray
    both: np.ndarray
    """The decoder's self-attention mask: a position sees itself and what is before it, but no
    padding."""


def mask_examples() -> list[MaskExample]:
    """Mask the example batch as the model masks its own."""
    ids = torch.tensor([[PAD_ID if t == PADDING else PAD_ID + 1 for t in s] for s in SENTENCES])
    length = ids.size(1)
    causal = causal_mask(length)
    shape = (1, length, length)
    return [
        MaskExample(
            tokens=tokens,
            padding=padding.expand(shape)[0].numpy(),
            causal=causal[0, 0].numpy(),
            both=(padding & causal[0]).expand(shape)[0].numpy(),
        )
        for tokens, padding in zip(SENTENCES, padding_mask(ids, PAD_ID), strict=True)
    ]
