"""Mistakes in what is below and beside attention."""

from tests.checking.mutations.mutation import each, together

_RATE = "rate = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model)"
_BUFFER = 'self.register_buffer("pe", pe.unsqueeze(0))'
_GAIN, _BIAS = "nn.Parameter(torch.ones(features))", "nn.Parameter(torch.zeros(features))"
_ROOT = "torch.sqrt(variance + self.eps)"

EMBEDDINGS = [
    *each(
        "embeddings-scaled",
        "InputEmbeddings",
        "assembled",
        (" * math.sqrt(self.d_model)", ""),
        (" * math.sqrt(self.d_model)", " / math.sqrt(self.d_model)"),
        ("self.dropout(x + self.pe", "self.dropout(x * x.size(-1) ** 0.5 + self.pe"),
    ),
    *each(
        "embeddings-variance",
        "InputEmbeddings",
        "sized",
        ("self.table.weight.data.normal_(std=emb_dim**-0.5)", "pass"),
    ),
    together(
        "embeddings-padding",
        "InputEmbeddings",
        "assembled",
        (", padding_idx=0", ""),
        ("nn.init.zeros_(self.embedding.weight[0])", "pass"),
    ),
]

POSITIONS = [
    *each(
        "positions-formula",
        "PositionalEncoding",
        "assembled",
        (_RATE, _RATE.replace("0, d_model, 2", "d_model // 2")),
        (_RATE, _RATE.replace("torch.arange(0", "2 * torch.arange(0")),
        (_RATE, _RATE.replace("-math", "math")),
        (_RATE, "rate = torch.arange(d_model // 2) / d_model / 10000**2"),
        (_RATE, _RATE.replace("10000.0", "1000.0")),
        (_RATE, "rate = 10.0 ** -torch.arange(d_model // 2)"),
        ("torch.arange(seq_len)", "torch.arange(1, seq_len + 1)"),
        ("0::2] = torch.sin(position * rate)", "0::2] = torch.cos(position * rate)"),
        ("self.pe[:, : x.shape[1]]", "self.pe[:, : x.shape[0]].transpose(0, 1)"),
    ),
    *each(
        "positions-formula",
        "PositionalEncoding",
        "cloned",
        ("dimension % 2 == 0", "torch.arange(max_len)[:, None] % 2 == 0"),
        ("2 * (dimension // 2)", "2 * dimension"),
        ("2 * (dimension // 2)", "dimension"),
        ("angle.sin(), angle.cos()", "angle.cos(), angle.sin()"),
    ),
    *each(
        "positions-added",
        "PositionalEncoding",
        "sized",
        ("return x + ", "return x * "),
        ("return x + ", "return 0 * x + "),
        ("return x + ", "return -x + "),
    ),
    *each("positions-scale", "PositionalEncoding", "sized", ("n x + ", "n x * x.size(-1)**0.5 + ")),
    *each(
        "positions-trained",
        "PositionalEncoding",
        "assembled",
        (_BUFFER, "self.pe = nn.Parameter(pe.unsqueeze(0))"),
    ),
    *each(
        "positions-learned",
        "PositionalEncoding",
        "assembled",
        (_BUFFER, "self.pe = nn.Parameter(torch.randn(1, seq_len, d_model))"),
    ),
    *each(
        "positions-buffer",
        "PositionalEncoding",
        "assembled",
        (_BUFFER, "self.pe = pe.unsqueeze(0)"),
    ),
]

NORMS = [
    *each(
        "norm-formula",
        "LayerNormalization",
        "assembled",
        ("dim=-1, keepdim=True", "dim=1, keepdim=True"),
        ("dim=-1, keepdim=True", "dim=0, keepdim=True"),
        (_ROOT, "(variance + self.eps)"),
        (_ROOT, "torch.sqrt(variance**2 + self.eps)"),
        (f" / {_ROOT}", ""),
        ("(x - mean) /", "x /"),
    ),
    *each(
        "norm-start",
        "LayerNormalization",
        "assembled",
        (_BIAS, _BIAS.replace("zeros", "ones")),
        (_GAIN, _GAIN.replace("ones", "zeros")),
    ),
    *each("norm-deviation", "LayerNormalization", "assembled", (", unbiased=False", "")),
    *each(
        "norm-epsilon",
        "LayerNormalization",
        "assembled",
        (_ROOT, "(torch.sqrt(variance) + self.eps)"),
        (_ROOT, "torch.sqrt(variance)"),
    ),
    *each("norm-gain-per-feature", "LayerNormalization", "assembled", ("(features))", "(1))")),
    together("norm-learns", "LayerNormalization", "assembled", (_GAIN, "1.0"), (_BIAS, "0.0")),
    *each(
        "norm-without-mean",
        "LayerNormalization",
        "assembled",
        (f"(x - mean) / {_ROOT}", "x / x.square().mean(-1, keepdim=True).sqrt()"),
    ),
]

FEED_FORWARD = [
    *each(
        "feed-forward-activation",
        "FeedForward",
        "assembled",
        ("torch.relu(self.linear_1(x))", "self.linear_1(x)"),
        (
            "self.linear_2(self.dropout(torch.relu(self.linear_1(x))))",
            "torch.relu(self.linear_2(self.linear_1(x)))",
        ),
    ),
    *each("feed-forward-other-activation", "FeedForward", "sized", ("nn.ReLU()", "nn.GELU()")),
    together(
        "feed-forward-width",
        "FeedForward",
        "assembled",
        ("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, 4 * d_model)"),
        ("nn.Linear(d_ff, d_model)", "nn.Linear(4 * d_model, d_model)"),
    ),
    *each(
        "feed-forward-biases",
        "FeedForward",
        "assembled",
        ("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, d_ff, bias=False)"),
    ),
    *each(
        "feed-forward-positions",
        "FeedForward",
        "assembled",
        ("torch.relu(self.linear_1(x))", "torch.relu(self.linear_1(x)).softmax(1)"),
    ),
]

RESIDUALS = [
    *each(
        "residual-input",
        "ResidualConnection",
        "assembled",
        ("return x + self.dropout(sublayer", "return self.dropout(sublayer"),
        ("return x + self.dropout(sublayer", "return self.norm(x) + self.dropout(sublayer"),
    ),
    *each(
        "residual-norm",
        "ResidualConnection",
        "assembled",
        ("sublayer(self.norm(x))", "sublayer(x)"),
    ),
    *each(
        "residual-norm-inside",
        "ResidualConnection",
        "cloned",
        ("self.norm(x + self.dropout(sublayer(x)))", "x + self.dropout(self.norm(sublayer(x)))"),
    ),
]

PROJECTION = [
    *each(
        "projection-probabilities",
        "ProjectionLayer",
        "assembled",
        ("return self.proj(x)", "return self.proj(x).softmax(-1)"),
    ),
    *each(
        "projection-softmax-dimension",
        "ProjectionLayer",
        "cloned",
        ("dim=-1)\n\n\nclass EncoderDecoder", "dim=1)\n\n\nclass EncoderDecoder"),
    ),
    *each(
        "projection-vocabulary",
        "ProjectionLayer",
        "assembled",
        ("nn.Linear(d_model, vocab_size)", "nn.Linear(d_model, vocab_size + 1)"),
    ),
    *each(
        "width-ignored",
        "ProjectionLayer",
        "assembled",
        ("nn.Linear(d_model, vocab_size)", "nn.Linear(24, vocab_size)"),
    ),
]

MUTATIONS = [*EMBEDDINGS, *POSITIONS, *NORMS, *FEED_FORWARD, *RESIDUALS, *PROJECTION]
