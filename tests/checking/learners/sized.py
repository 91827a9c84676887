"""A learner's Transformer whose parts take sizes; a mask is True where one may not look."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size: int, emb_dim: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocab_size, emb_dim)
        self.table.weight.data.normal_(std=emb_dim**-0.5)
        self.scale = emb_dim**0.5

    def forward(self, tokens: Tensor) -> Tensor:
        return self.table(tokens) * self.scale


class PositionalEncoder(nn.Module):
    table: Tensor

    def __init__(self, emb_dim: int, max_len: int = 256) -> None:
        super().__init__()
        half = emb_dim // 2
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(half) / half)
        self.register_buffer("table", torch.cat([angles.sin(), angles.cos()], dim=1))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table[: x.size(1)]


class PositionwiseFeedForward(nn.Module):
    def __init__(self, emb_dim: int, hidden: int, drop_prob: float = 0.1) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(emb_dim, hidden), nn.ReLU(), nn.Dropout(drop_prob), nn.Linear(hidden, emb_dim)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class MultiHeadAttention(nn.Module):
    def __init__(self, emb_dim: int, n_heads: int, drop_prob: float = 0.0) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(emb_dim, emb_dim)
        self.key = nn.Linear(emb_dim, emb_dim)
        self.value = nn.Linear(emb_dim, emb_dim)
        self.out = nn.Linear(emb_dim, emb_dim)
        self.drop = nn.Dropout(drop_prob)

    def heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        q, k, v = self.heads(self.query(query)), self.heads(self.key(key)), self.value(value)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.size(-1))
        if attn_mask is not None:
            scores = scores.masked_fill(attn_mask, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1)
        out = torch.einsum("bhqk,bhkd->bqhd", self.drop(weights), self.heads(v))
        return self.out(out.flatten(start_dim=2)), weights


class EncoderLayer(nn.Module):
    def __init__(self, emb_dim: int, n_heads: int, ffn_hidden: int, drop_prob: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(emb_dim, n_heads)
        self.ffn = PositionwiseFeedForward(emb_dim, ffn_hidden)
        self.norm_1, self.norm_2 = nn.LayerNorm(emb_dim), nn.LayerNorm(emb_dim)
        self.drop = nn.Dropout(drop_prob)

    def forward(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        attended, _ = self.attention(src, src, src, src_mask)
        src = self.norm_1(src + self.drop(attended))
        return self.norm_2(src + self.drop(self.ffn(src)))


class DecoderLayer(nn.Module):
    def __init__(self, emb_dim: int, n_heads: int, ffn_hidden: int, drop_prob: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(emb_dim, n_heads)
        self.enc_attention = MultiHeadAttention(emb_dim, n_heads)
        self.ffn = PositionwiseFeedForward(emb_dim, ffn_hidden)
        self.norms = nn.ModuleList(nn.LayerNorm(emb_dim) for _ in range(3))
        self.drop = nn.Dropout(drop_prob)

    def forward(self, trg: Tensor, enc_src: Tensor, trg_mask: Tensor, src_mask: Tensor) -> Tensor:
        attended, _ = self.attention(trg, trg, trg, trg_mask)
        trg = self.norms[0](trg + self.drop(attended))
        attended, _ = self.enc_attention(trg, enc_src, enc_src, src_mask)
        trg = self.norms[1](trg + self.drop(attended))
        return self.norms[2](trg + self.drop(self.ffn(trg)))


def create_look_ahead_mask(size: int) -> Tensor:
    return torch.ones(size, size, dtype=torch.bool).triu(diagonal=1)


class Transformer(nn.Module):
    def __init__(  # noqa: PLR0913, PLR0917
        self,
        src_vocab_size: int,
        trg_vocab_size: int,
        src_pad_idx: int,
        trg_pad_idx: int,
        emb_dim: int = 256,
        n_layers: int = 3,
        n_heads: int = 8,
        ffn_hidden: int = 512,
        drop_prob: float = 0.1,
    ) -> None:
        super().__init__()
        self.src_pad_idx, self.trg_pad_idx = src_pad_idx, trg_pad_idx
        self.src_embedding = TokenEmbedding(src_vocab_size, emb_dim)
        self.trg_embedding = TokenEmbedding(trg_vocab_size, emb_dim)
        self.positions = PositionalEncoder(emb_dim)
        self.dropout = nn.Dropout(drop_prob)
        self.encoder = nn.ModuleList(
            EncoderLayer(emb_dim, n_heads, ffn_hidden, drop_prob) for _ in range(n_layers)
        )
        self.decoder = nn.ModuleList(
            DecoderLayer(emb_dim, n_heads, ffn_hidden, drop_prob) for _ in range(n_layers)
        )
        self.fc_out = nn.Linear(emb_dim, trg_vocab_size)

    def forward(self, src: Tensor, trg: Tensor) -> Tensor:
        src_mask = (src == self.src_pad_idx)[:, None, None]
        trg_mask = (trg == self.trg_pad_idx)[:, None, None] | create_look_ahead_mask(trg.size(1))
        memory = self.dropout(self.positions(self.src_embedding(src)))
        for encoder in self.encoder:
            memory = encoder(memory, src_mask)
        x = self.dropout(self.positions(self.trg_embedding(trg)))
        for decoder in self.decoder:
            x = decoder(x, memory, trg_mask, src_mask)
        return self.fc_out(x)
