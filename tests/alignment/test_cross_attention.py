"""The cross-attention of a batch is that of each of its pairs."""

import torch

from dragoman.alignment.cross_attention import read_cross_attention
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.visualisation.attention_maps import read_attention

CONFIG = TransformerConfig(
    d_model=16, d_ff=32, num_heads=2, num_encoder_layers=2, num_decoder_layers=3, dropout=0.5
)


def test_padding_and_neighbours_change_nothing() -> None:
    transformer = Transformer(CONFIG, source_vocab_size=20, target_vocab_size=20, padding_id=0)
    transformer.eval()
    source = torch.tensor([[7, 8, 9, 3], [5, 3, 0, 0]])
    target = torch.tensor([[2, 11, 0], [2, 12, 13]])

    weights = read_cross_attention(transformer, source, target)

    assert weights.shape == (2, 3, 2, 3, 4)
    first = read_attention(transformer, [7, 8, 9, 3], [2, 11]).cross
    torch.testing.assert_close(weights[0, :, :, :2], torch.stack(first))
    second = read_attention(transformer, [5, 3], [2, 12, 13]).cross
    torch.testing.assert_close(weights[1, :, :, :, :2], torch.stack(second))
    assert bool((weights[1, ..., 2:] == 0).all())
    assert not any(module._forward_pre_hooks for module in transformer.modules())
