"""Mistakes in blocks, stacks and whole models."""

from tests.checking.mutations.mutation import each, together

_CROSS = "self.crossing(x, memory, memory, src_mask)"
_ENCODERS = "EncoderBlock(d_model, clone(attention), clone(network), dropout) for _ in range(N)"
_FILL = "scores = scores.masked_fill(mask == 0, -torch.inf)"
_NORM = "self.norm = LayerNormalization(features)\n\n    def forward(self, x: Tensor, mask"

BLOCKS = [
    *each(
        "cross-attention-roles",
        "DecoderBlock",
        "assembled",
        (_CROSS, "self.crossing(x, x, memory, src_mask)"),
        (_CROSS, "self.crossing(memory, x, x, src_mask)"),
        (_CROSS, "self.crossing(x, memory, memory, tgt_mask)"),
    ),
    together(
        "cross-attention-roles",
        "DecoderBlock",
        "assembled",
        (_FILL, "scores.masked_fill(mask == 0, -torch.inf)"),
        (_CROSS, "self.crossing(x, x, memory, src_mask)"),
    ),
    together(
        "residual-input",
        "EncoderBlock",
        "assembled",
        (_FILL, "scores.masked_fill(mask == 0, -torch.inf)"),
        ("return self.residuals[1](x, self.feed_forward)", "return self.feed_forward(x)"),
    ),
    *each(
        "source-is-read", "DecoderBlock", "assembled", (_CROSS, "self.crossing(x, x, x, tgt_mask)")
    ),
    *each(
        "padding-is-invisible",
        "DecoderBlock",
        "assembled",
        (_CROSS, "self.crossing(x, memory, memory, None)"),
    ),
    *each(
        "future-is-invisible",
        "DecoderBlock",
        "assembled",
        ("(x, x, x, tgt_mask)", "(x, x, x, None)"),
    ),
    *each(
        "padding-is-invisible",
        "EncoderBlock",
        "assembled",
        ("(x, x, x, src_mask)", "(x, x, x, None)"),
    ),
    *each(
        "context-is-visible",
        "EncoderBlock",
        "assembled",
        ("self.attention(x, x, x, src_mask)", "x"),
    ),
    *each(
        "past-is-visible", "DecoderBlock", "assembled", ("self.attention(x, x, x, tgt_mask)", "x")
    ),
    *each(
        "residual-input",
        "EncoderBlock",
        "sized",
        ("src = self.norm_1(src + self.drop(attended))", "src = self.norm_1(self.drop(attended))"),
        ("self.norm_2(src + self.drop(self.ffn(src)))", "self.norm_2(self.ffn(src))"),
    ),
    *each(
        "residual-input",
        "DecoderBlock",
        "sized",
        ("trg = self.norms[1](trg + self.drop(attended))", "trg = self.norms[1](attended)"),
    ),
    together(
        "weights-from-outside",
        "DecoderBlock",
        "assembled",
        ("return self.residuals[2](x, self.feed_forward)", "return self.residuals[2](x, NETWORK)"),
        ("class Decoder(", "NETWORK = FeedForwardBlock(24, 40, 0.0)\n\n\nclass Decoder("),
    ),
]

STACKS = [
    *each(
        "any-argument",
        "Encoder",
        "assembled",
        (
            "def __init__(self, features: int, layers: nn.ModuleList) -> None:",
            "def __init__(self, features: int, layers: nn.ModuleList, **kwargs: int) -> None:",
        ),
    ),
    *each(
        "stack-last-norm",
        "Encoder",
        "assembled",
        (
            "            x = layer(x, mask)\n        return self.norm(x)",
            "            x = layer(x, mask)\n        return x",
        ),
    ),
    *each(
        "stack-last-norm",
        "Decoder",
        "assembled",
        (
            "src_mask, tgt_mask)\n        return self.norm(x)",
            "src_mask, tgt_mask)\n        return x",
        ),
    ),
    *each(
        "layers-are-independent",
        "Encoder",
        "cloned",
        ("self.layers = clones(layer, N)", "self.layers = nn.ModuleList([layer] * N)"),
    ),
    *each(
        "future-is-invisible",
        "Decoder",
        "cloned",
        ("layer(x, memory, src_mask, tgt_mask)", "layer(x, memory, src_mask, None)"),
    ),
    *each(
        "padding-is-invisible", "Encoder", "cloned", ("x = layer(x, mask)", "x = layer(x, None)")
    ),
]

MODELS = [
    *each(
        "layers-are-independent",
        "EncoderBlock",
        "sized",
        ("self.norm_1, self.norm_2 = nn.LayerNorm(emb_dim),", "self.norm_1 = self.norm_2 ="),
    ),
    *each("layers-are-independent", "Transformer", "assembled", ("clone(attention)", "attention")),
    *each(
        "future-is-invisible",
        "Transformer",
        "sized",
        (" | create_look_ahead_mask(trg.size(1))", ""),
    ),
    *each(
        "padding-is-invisible", "Transformer", "sized", ("(src == self.src_pad_idx)", "(src == 5)")
    ),
    *each(
        "source-is-read",
        "Transformer",
        "sized",
        ("(trg, enc_src, enc_src, src_mask)", "(trg, trg, trg, trg_mask)"),
    ),
    *each(
        "order-is-visible",
        "Transformer",
        "sized",
        ("self.positions(self.src_embedding(src))", "self.src_embedding(src)"),
        ("self.positions(self.trg_embedding(trg))", "self.trg_embedding(trg)"),
    ),
    *each(
        "projection-probabilities",
        "Transformer",
        "sized",
        ("return self.fc_out(x)", "return self.fc_out(x).softmax(dim=-1)"),
    ),
    *each(
        "projection-softmax-dimension",
        "Transformer",
        "sized",
        ("return self.fc_out(x)", "return self.fc_out(x).softmax(dim=1)"),
    ),
    *each(
        "past-is-visible",
        "Transformer",
        "sized",
        (".triu(diagonal=1)", ".fill_(1).fill_diagonal_(0)"),
    ),
    *each(
        "weights-without-gradient",
        "Transformer",
        "sized",
        ("for encoder in self.encoder:", "for encoder in self.encoder[:0]:"),
        ("return self.fc_out(x)", "return self.fc_out(x).detach()"),
    ),
    together(
        "model-start",
        "Transformer",
        "sized",
        ("self.table.weight.data.normal_(std=emb_dim**-0.5)", "pass"),
        (
            "emb_dim, trg_vocab_size)\n\n    def forward(self, src: Tensor, trg",
            "emb_dim, trg_vocab_size)\n        self.fc_out.weight = self.trg_embedding.table.weight"
            "\n\n    def forward(self, src: Tensor, trg",
        ),
    ),
    together(
        "output-is-nan",
        "Transformer",
        "sized",
        ("torch.finfo(scores.dtype).min", "-torch.inf"),
        (".triu(diagonal=1)", ".triu()"),
    ),
    *each(
        "evaluation-is-random",
        "Transformer",
        "sized",
        ("memory = self.dropout(", "memory = F.dropout("),
    ),
]

MUTATIONS = [*BLOCKS, *STACKS, *MODELS]
