"""The checks, one file per part; each examination belongs to the part it looks at."""

from dragoman.checking.examinations import (
    attention,
    attention_masks,
    biases,
    embeddings,
    feed_forward,
    layer_norm,
    masks,
    positions,
    projection,
    residual,
    stacks,
    transformer,
)
from dragoman.checking.examinations.check import Examination

EXAMINATIONS: dict[str, tuple[Examination, ...]] = {
    "InputEmbeddings": embeddings.EXAMINATIONS,
    "PositionalEncoding": positions.EXAMINATIONS,
    "LayerNormalization": layer_norm.EXAMINATIONS,
    "FeedForward": (*feed_forward.EXAMINATIONS, biases.feed_forward),
    "MultiHeadAttention": (
        *attention.EXAMINATIONS,
        *attention_masks.EXAMINATIONS,
        biases.attention,
    ),
    "ResidualConnection": residual.EXAMINATIONS,
    "EncoderBlock": stacks.OF_ENCODER_BLOCK,
    "Encoder": stacks.OF_ENCODER,
    "DecoderBlock": stacks.OF_DECODER_BLOCK,
    "Decoder": stacks.OF_DECODER,
    "ProjectionLayer": projection.EXAMINATIONS,
    "causal_mask": masks.EXAMINATIONS,
    "Transformer": transformer.EXAMINATIONS,
}
