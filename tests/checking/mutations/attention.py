"""Mistakes in attention and with masks."""

from tests.checking.mutations.mutation import each, together

_PART = "MultiHeadAttention"
_SPLIT = "x.view(x.shape[0], x.shape[1], self.h, self.d_k).transpose(1, 2)"
_FILL = "scores = scores.masked_fill(mask == 0, -torch.inf)"
_SOFTMAX = "weights = scores.softmax(dim=-1)"
_PAST = "torch.tril(torch.ones(1, size, size)).int()"

ATTENTION = [
    *each(
        "attention-scale",
        _PART,
        "assembled",
        (" / math.sqrt(self.d_k)", ""),
        (" / math.sqrt(self.d_k)", " / math.sqrt(self.d_k * self.h)"),
        (" / math.sqrt(self.d_k)", " / self.d_k"),
        (" / math.sqrt(self.d_k)", " / math.sqrt(k.shape[1])"),
        (" / math.sqrt(self.d_k)", " / math.sqrt(query.shape[1])"),
        (" / math.sqrt(self.d_k)", " * math.sqrt(self.d_k)"),
    ),
    *each(
        "attention-softmax",
        _PART,
        "assembled",
        ("softmax(dim=-1)", "softmax(dim=-2)"),
        ("softmax(dim=-1)", "softmax(dim=1)"),
    ),
    *each(
        "attention-transpose",
        _PART,
        "assembled",
        ("key.transpose(-2, -1)", "key.reshape(*key.shape[:2], self.d_k, -1)"),
    ),
    *each(
        "attention-heads",
        _PART,
        "assembled",
        (_SPLIT, "x.view(x.shape[0], self.h, x.shape[1], self.d_k)"),
        ("        x = x.transpose(1, 2)\n", ""),
        ("self.h = h\n        self.d_k = d_model // h", "self.h = 1\n        self.d_k = d_model"),
    ),
    *each(
        "attention-projections",
        _PART,
        "assembled",
        ("self.w_k(k)", "self.w_q(k)"),
        ("self.w_v(v)", "self.w_k(v)"),
        ("self.w_v(v)", "v"),
        ("self.w_q(q)", "q"),
    ),
    together(
        "attention-projections",
        _PART,
        "assembled",
        ("self.w_k(k)", "self.w_q(k)"),
        ("self.w_v(v)", "self.w_q(v)"),
        (" / math.sqrt(self.d_k)", ""),
    ),
    *each(
        "attention-output",
        _PART,
        "assembled",
        ("return self.w_o(x.reshape(x.shape[0], -1, self.h * self.d_k))", "return x.flatten(2)"),
    ),
    *each("attention-formula", _PART, "assembled", (_SOFTMAX, "weights = scores.sigmoid()")),
    *each(
        "attention-mask",
        _PART,
        "assembled",
        (_FILL, "scores.masked_fill(mask == 0, -torch.inf)"),
        (_FILL, "scores = scores.masked_fill(mask == 0, 1e-9)"),
        (_FILL, "scores = scores * mask"),
    ),
    together(
        "attention-mask",
        _PART,
        "assembled",
        (_FILL, "pass"),
        (_SOFTMAX, f"{_SOFTMAX}\n        weights = weights if mask is None else weights * mask"),
    ),
    *each("attention-half-precision", _PART, "assembled", ("-torch.inf", "-1e9")),
    *each(
        "attention-half-precision",
        _PART,
        "assembled",
        (_FILL, "scores.masked_fill(mask == 0, -1e9)"),
    ),
    *each(
        "attention-biases",
        _PART,
        "assembled",
        (
            "self.w_k = nn.Linear(d_model, d_model, bias=False)",
            "self.w_k = nn.Linear(d_model, d_model)",
        ),
        (", bias=False", ""),
    ),
    *each("attention-hidden-row", _PART, "cloned", ("-1e9", "-torch.inf")),
    *each(
        "attention-map",
        _PART,
        "assembled",
        (
            "x = self.dropout(weights) @ value",
            "self.weights = self.dropout(weights)\n        x = self.weights @ value",
        ),
    ),
    *each(
        "weights-without-gradient",
        _PART,
        "assembled",
        ("self.w_k(k)", "self.w_q(k)"),
        ("self.w_k(k)", "self.w_k(k).detach()"),
    ),
    *each("dropout-ignored", _PART, "assembled", ("self.dropout(weights) @", "weights @")),
    *each(
        "evaluation-is-random",
        _PART,
        "assembled",
        ("self.dropout(weights) @", "nn.functional.dropout(weights, 0.1) @"),
    ),
    *each(
        "sentences-are-independent", _PART, "assembled", ("dim=-1)\n        x", "dim=0)\n        x")
    ),
]

MASKS = [
    *each(
        "causal-mask",
        "causal_mask",
        "assembled",
        (_PAST, "torch.triu(torch.ones(1, size, size), diagonal=1).int()"),
        (_PAST, "torch.triu(torch.ones(1, size, size)).int()"),
        (_PAST, "torch.tril(torch.ones(1, size, size), diagonal=-1).int()"),
        (_PAST, "torch.tril(torch.ones(1, size, size), diagonal=1).int()"),
        (_PAST, "torch.ones(1, size, size).int()"),
        (_PAST, "torch.eye(size)[None].int()"),
    ),
    *each(
        "causal-mask",
        "causal_mask",
        "sized",
        (".triu(diagonal=1)", ".tril()"),
        (".triu(diagonal=1)", ".triu()"),
    ),
    *each("causal-mask", "causal_mask", "cloned", (".type(torch.uint8) == 0", " == 1")),
]

MUTATIONS = [*ATTENTION, *MASKS]
