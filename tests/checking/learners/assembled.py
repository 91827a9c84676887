"""A learner's Transformer whose blocks are assembled from parts; a mask is 1 where one may look."""

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        nn.init.zeros_(self.embedding.weight[0])

    def forward(self, x: Tensor) -> Tensor:
        return self.embedding(x) * math.sqrt(self.d_model)


class PositionalEncoding(nn.Module):
    pe: Tensor

    def __init__(self, d_model: int, seq_len: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(seq_len).unsqueeze(1)
        rate = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model)
        pe = torch.zeros(seq_len, d_model)
        pe[:, 0::2] = torch.sin(position * rate)
        pe[:, 1::2] = torch.cos(position * rate)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(x + self.pe[:, : x.shape[1]])


class LayerNormalization(nn.Module):
    def __init__(self, features: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.alpha * (x - mean) / torch.sqrt(variance + self.eps) + self.bias


class FeedForwardBlock(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear_2(self.dropout(torch.relu(self.linear_1(x))))


class MultiHeadAttentionBlock(nn.Module):
    def __init__(self, d_model: int, h: int, dropout: float) -> None:
        super().__init__()
        self.h = h
        self.d_k = d_model // h
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        query = self.split(self.w_q(q))
        key = self.split(self.w_k(k))
        value = self.split(self.w_v(v))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = scores.softmax(dim=-1)
        x = self.dropout(weights) @ value
        x = x.transpose(1, 2)
        return self.w_o(x.reshape(x.shape[0], -1, self.h * self.d_k))

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], x.shape[1], self.h, self.d_k).transpose(1, 2)


class ResidualConnection(nn.Module):
    def __init__(self, features: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.norm = LayerNormalization(features)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + self.dropout(sublayer(self.norm(x)))


class EncoderBlock(nn.Module):
    def __init__(
        self,
        features: int,
        self_attention_block: MultiHeadAttentionBlock,
        feed_forward_block: FeedForwardBlock,
        dropout: float,
    ) -> None:
        super().__init__()
        self.attention = self_attention_block
        self.feed_forward = feed_forward_block
        self.residuals = nn.ModuleList(ResidualConnection(features, dropout) for _ in range(2))

    def forward(self, x: Tensor, src_mask: Tensor | None) -> Tensor:
        x = self.residuals[0](x, lambda x: self.attention(x, x, x, src_mask))
        return self.residuals[1](x, self.feed_forward)


class Encoder(nn.Module):
    def __init__(self, features: int, layers: nn.ModuleList) -> None:
        super().__init__()
        self.layers = layers
        self.norm = LayerNormalization(features)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


class DecoderBlock(nn.Module):
    def __init__(
        self,
        features: int,
        self_attention_block: MultiHeadAttentionBlock,
        cross_attention_block: MultiHeadAttentionBlock,
        feed_forward_block: FeedForwardBlock,
        dropout: float,
    ) -> None:
        super().__init__()
        self.attention = self_attention_block
        self.crossing = cross_attention_block
        self.feed_forward = feed_forward_block
        self.residuals = nn.ModuleList(ResidualConnection(features, dropout) for _ in range(3))

    def forward(
        self,
        x: Tensor,
        encoder_output: Tensor,
        src_mask: Tensor | None,
        tgt_mask: Tensor | None,
    ) -> Tensor:
        memory = encoder_output
        x = self.residuals[0](x, lambda x: self.attention(x, x, x, tgt_mask))
        x = self.residuals[1](x, lambda x: self.crossing(x, memory, memory, src_mask))
        return self.residuals[2](x, self.feed_forward)


class Decoder(nn.Module):
    def __init__(self, features: int, layers: nn.ModuleList) -> None:
        super().__init__()
        self.layers = layers
        self.norm = LayerNormalization(features)

    def forward(
        self,
        x: Tensor,
        encoder_output: Tensor,
        src_mask: Tensor | None,
        tgt_mask: Tensor | None,
    ) -> Tensor:
        for layer in self.layers:
            x = layer(x, encoder_output, src_mask, tgt_mask)
        return self.norm(x)


class ProjectionLayer(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.proj = nn.Linear(d_model, vocab_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.proj(x)


class Transformer(nn.Module):
    def __init__(
        self,
        encoder: Encoder,
        decoder: Decoder,
        src_embed: InputEmbeddings,
        tgt_embed: InputEmbeddings,
        src_pos: PositionalEncoding,
        tgt_pos: PositionalEncoding,
        projection_layer: ProjectionLayer,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.src_embed = src_embed
        self.tgt_embed = tgt_embed
        self.src_pos = src_pos
        self.tgt_pos = tgt_pos
        self.projection_layer = projection_layer

    def encode(self, src: Tensor, src_mask: Tensor | None) -> Tensor:
        return self.encoder(self.src_pos(self.src_embed(src)), src_mask)

    def decode(
        self,
        encoder_output: Tensor,
        src_mask: Tensor | None,
        tgt: Tensor,
        tgt_mask: Tensor | None,
    ) -> Tensor:
        x = self.tgt_pos(self.tgt_embed(tgt))
        return self.decoder(x, encoder_output, src_mask, tgt_mask)

    def project(self, x: Tensor) -> Tensor:
        return self.projection_layer(x)


def causal_mask(size: int) -> Tensor:
    return torch.tril(torch.ones(1, size, size)).int()


def build_transformer(  # noqa: PLR0913, PLR0917
    src_vocab_size: int,
    tgt_vocab_size: int,
    src_seq_len: int,
    tgt_seq_len: int,
    d_model: int = 512,
    N: int = 6,  # noqa: N803
    h: int = 8,
    dropout: float = 0.1,
    d_ff: int = 2048,
) -> Transformer:
    attention = MultiHeadAttentionBlock(d_model, h, dropout)
    network = FeedForwardBlock(d_model, d_ff, dropout)
    clone = copy.deepcopy
    encoders = nn.ModuleList(
        EncoderBlock(d_model, clone(attention), clone(network), dropout) for _ in range(N)
    )
    decoders = nn.ModuleList(
        DecoderBlock(d_model, clone(attention), clone(attention), clone(network), dropout)
        for _ in range(N)
    )
    return Transformer(
        Encoder(d_model, encoders),
        Decoder(d_model, decoders),
        InputEmbeddings(d_model, src_vocab_size),
        InputEmbeddings(d_model, tgt_vocab_size),
        PositionalEncoding(d_model, src_seq_len, dropout),
        PositionalEncoding(d_model, tgt_seq_len, dropout),
        ProjectionLayer(d_model, tgt_vocab_size),
    )
