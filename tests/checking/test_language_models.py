"""Models that read one sequence, as GPT does: with a configuration, or with global sizes."""

import pytest
from tests.checking.test_other_styles import HEAD, report

from dragoman.checking.cells import Cell
from dragoman.checking.examiner import Examiner, Wishes
from dragoman.checking.report import Report

CONFIGURED = f"""{HEAD}
from dataclasses import dataclass
class LayerNorm(nn.Module):
    def __init__(self, ndim, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(ndim))
        self.bias = nn.Parameter(torch.zeros(ndim)) if bias else None
    def forward(self, x):
        return nn.functional.layer_norm(x, self.weight.shape, self.weight, self.bias)
class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.h, self.joint = config.n_head, nn.Linear(config.n_embd, 3 * config.n_embd)
        self.out, size = nn.Linear(config.n_embd, config.n_embd), config.block_size
        self.register_buffer("past", torch.ones(size, size).tril())
    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            y.view(batch, length, self.h, width // self.h).transpose(1, 2)
            for y in self.joint(x).split(width, dim=2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.past[:length, :length] == 0, -torch.inf)
        weights = scores.softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.first, self.second = LayerNorm(config.n_embd, True), LayerNorm(config.n_embd, True)
        self.attention, self.mlp = CausalSelfAttention(config), nn.Sequential(
            nn.Linear(config.n_embd, 50), nn.GELU(), nn.Linear(50, config.n_embd)
        )
    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))
@dataclass
class GPTConfig:
    block_size: int = 64
    vocab_size: int = 100
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 32
class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.n_embd)
        self.places = nn.Embedding(config.block_size, config.n_embd)
        self.blocks = nn.Sequential(*(Block(config) for _ in range(config.n_layer)))
        self.norm = LayerNorm(config.n_embd, bias=True)
        self.head = nn.Linear(config.n_embd, config.vocab_size)
    def forward(self, idx, targets=None):
        x = self.words(idx) + self.places(torch.arange(idx.size(1)))
        logits = self.head(self.norm(self.blocks(x)))
        if targets is None:
            return logits[:, [-1]], None
        return logits, nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
"""

GLOBAL = f"""{HEAD}
n_embd, n_head, block_size = 384, 6, 256
text = open("no such file").read()
vocab_size = len(text)
class Head(nn.Module):
    def __init__(self, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
    def forward(self, x):
        length = x.size(1)
        scores = self.query(x) @ self.key(x).transpose(-2, -1) * self.key(x).size(-1) ** -0.5
        scores = scores.masked_fill(self.tril[:length, :length] == 0, float("-inf"))
        return scores.softmax(dim=-1) @ self.value(x)
class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads, head_size):
        super().__init__()
        self.heads = nn.ModuleList([Head(head_size) for _ in range(num_heads)])
        self.proj = nn.Linear(n_embd, n_embd)
    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))
class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.attention = MultiHeadAttention(n_head, n_embd // n_head)
        self.network = nn.Sequential(nn.Linear(n_embd, 40), nn.ReLU(), nn.Linear(40, n_embd))
        self.first, self.second = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.network(self.second(x))
class GPTLanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab_size, n_embd), nn.Embedding(256, n_embd)
        self.blocks = nn.Sequential(*[Block(n_embd, n_head=n_head) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(n_embd), nn.Linear(n_embd, vocab_size)
    def forward(self, idx, targets=None):
        x = self.words(idx) + self.places(torch.arange(idx.size(1)))
        logits = self.head(self.norm(self.blocks(x)))
        if targets is None:
            return logits, None
        logits = logits.flatten(0, 1)
        return logits, nn.functional.cross_entropy(logits, targets.flatten())
"""


def examined(source: str) -> Report:
    return Examiner([Cell(source=source)], Wishes()).report("learner.py")


def mistakes_in(report: Report) -> set[tuple[str | None, str]]:
    return {(part.found_as, finding.name) for part in report.parts for finding in part.mistakes}


@pytest.mark.parametrize(
    ("source", "attention", "model"),
    [
        (CONFIGURED, "CausalSelfAttention", "GPT"),
        (GLOBAL, "MultiHeadAttention", "GPTLanguageModel"),
    ],
    ids=["configured", "global"],
)
def test_a_right_model_of_one_sequence_is_examined(source: str, attention: str, model: str) -> None:
    report = examined(source)
    passed = {part.found_as: part.passed for part in report.parts}

    assert mistakes_in(report) == set()
    assert {"attention-scale", "attention-projections"} <= set(passed[attention])
    assert {"future-is-invisible", "past-is-visible", "model-start"} <= set(passed[model])
    assert "residual-input" in passed["Block"]


@pytest.mark.parametrize(
    ("source", "right", "wrong", "expected"),
    [
        (CONFIGURED, " / math.sqrt(k.size(-1))", "", {("CausalSelfAttention", "attention-scale")}),
        (
            CONFIGURED,
            "        scores = scores.masked_fill(self.past[:length, :length] == 0, -torch.inf)\n",
            "",
            {("CausalSelfAttention", "future-is-invisible"), ("GPT", "future-is-invisible")},
        ),
        (
            CONFIGURED,
            "dim=-1",
            "dim=-2",
            {("CausalSelfAttention", "attention-softmax"), ("GPT", "future-is-invisible")},
        ),
        (
            CONFIGURED,
            "(weights @ v).transpose(1, 2)",
            "(weights @ v)",
            {("CausalSelfAttention", "attention-heads"), ("GPT", "future-is-invisible")},
        ),
        (CONFIGURED, "x = x + self.att", "x = self.att", {("Block", "residual-input")}),
        (
            CONFIGURED,
            "self.places(torch.arange(idx.size(1)))",
            "self.places.weight[0]",
            {("GPT", "order-is-visible")},
        ),
        (
            CONFIGURED,
            "(Block(config) for _ in range(config.n_layer))",
            "[Block(config)] * config.n_layer",
            {("GPT", "layers-are-independent")},
        ),
        (
            GLOBAL,
            " * self.key(x).size(-1) ** -0.5",
            "",
            {("MultiHeadAttention", "attention-scale")},
        ),
        (
            GLOBAL,
            "== 0, float",
            "== 2, float",
            {("GPTLanguageModel", "future-is-invisible")},
        ),
    ],
)
def test_a_mistake_in_a_model_of_one_sequence_is_found(
    source: str, right: str, wrong: str, expected: set[tuple[str, str]]
) -> None:
    assert right in source
    assert mistakes_in(examined(source.replace(right, wrong))) == expected


def test_a_model_that_may_be_an_encoder_is_not_blamed_for_what_it_sees() -> None:
    source = CONFIGURED.replace("class GPT(", "class Transformer(").replace("== 0, -", "== 2, -")
    part = report(source, "Transformer")[1]

    assert not part.mistakes
    assert part.not_checked[0].startswith("whether it may see the words after a word")


ENCODER = (
    CONFIGURED.replace("CausalSelfAttention", "SelfAttention")
    .replace('        self.register_buffer("past", torch.ones(size, size).tril())\n', "")
    .replace(
        "        scores = scores.masked_fill(self.past[:length, :length] == 0, -torch.inf)\n", ""
    )
)


@pytest.mark.parametrize("name", ["LanguageModel", "EncoderDecoder"])
def test_a_model_of_masked_words_is_not_blamed_for_what_it_sees(name: str) -> None:
    part = report(ENCODER.replace("class GPT(", f"class {name}("), "Transformer")[1]

    assert not part.mistakes
    assert part.not_checked[0].startswith("whether it may see the words after a word")


def test_a_language_model_whose_mask_hides_nothing_is_told() -> None:
    source = CONFIGURED.replace("class GPT(", "class LanguageModel(").replace("== 0, -", "== 2, -")

    assert ("LanguageModel", "future-is-invisible") in mistakes_in(examined(source))


@pytest.mark.parametrize(
    ("setting", "used"),
    [
        ("hidden_dropout_prob: float = 0.1", "nn.Dropout(config.hidden_dropout_prob)"),
        ("hidden_act: str = 'gelu'", "{'gelu': nn.GELU()}[config.hidden_act]"),
    ],
)
def test_a_setting_of_what_is_hidden_is_no_width(setting: str, used: str) -> None:
    source = CONFIGURED.replace("n_layer: int = 2\n", f"n_layer: int = 2\n    {setting}\n")

    assert mistakes_in(examined(source.replace("nn.GELU()", used))) == set()


@pytest.mark.parametrize(
    ("computed", "exchanges"),
    [
        ("scale = math.sqrt(n_embd // n_head)", (" * self.key(x).size(-1) ** -0.5", " / scale")),
        (
            "half = n_embd // 2\nwidth = 2 * half",
            ("self.proj = nn.Linear(n_embd", "self.proj = nn.Linear(width"),
        ),
        (
            "def table():\n    return torch.randn(256, n_embd)\nplaces = table()",
            ("self.words(idx)", "self.words(idx) + places[: idx.size(1)]"),
        ),
    ],
    ids=["scale", "in two steps", "in a function"],
)
def test_what_is_computed_from_a_global_size_is_computed_again(
    computed: str, exchanges: tuple[str, str]
) -> None:
    source = GLOBAL.replace("text = ", f"{computed}\ntext = ").replace(*exchanges)
    report = examined(source)

    assert mistakes_in(report) == set()
    assert "model-start" in {name for part in report.parts for name in part.passed}


def test_a_global_size_that_a_property_reads_is_that_of_the_check() -> None:
    read = "    @property\n    def width(self):\n        return d_model\n"
    source = GLOBAL.replace("text = ", "d_model = 384\ntext = ").replace(
        "nn.Linear(n_embd, n_embd)\n", f"nn.Linear(self.width, self.width)\n{read}"
    )
    report = examined(source)

    assert mistakes_in(report) == set()
    assert "attention-scale" in {name for part in report.parts for name in part.passed}


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [("", "", set()), (" / math.sqrt(k.size(-1))", "", {("Attention", "attention-scale")})],
)
def test_what_is_called_just_attention_and_has_heads_is_examined(
    right: str, wrong: str, expected: set[tuple[str, str]]
) -> None:
    report = examined(CONFIGURED.replace("CausalSelfAttention", "Attention").replace(right, wrong))

    assert mistakes_in(report) == expected
    assert "attention-heads" in {name for part in report.parts for name in part.passed}


def test_the_attention_of_a_recurrent_network_is_left_alone() -> None:
    source = """
class Attention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.score, self.v = nn.Linear(2 * hidden_size, hidden_size), nn.Linear(hidden_size, 1)
    def forward(self, hidden, encoder_outputs):
        alike = hidden[:, None].expand_as(encoder_outputs)
        scores = self.v(torch.tanh(self.score(torch.cat([alike, encoder_outputs], dim=-1))))
        return scores.softmax(dim=1)
"""
    examination = examined(HEAD + source)

    assert mistakes_in(examination) == set()
    assert examination.unknown == ("Attention",)


def test_a_size_of_an_unknown_name_is_no_reason_to_say_that_a_model_does_not_run() -> None:
    source = GLOBAL.replace("n_embd // n_head)", "width)").replace("text =", "width = 64\ntext =")
    source = source.replace("def __init__(self):", "def __init__(self, num_layers):")
    report = examined(source)

    assert mistakes_in(report) == set()
    assert any(
        "whether width is a size" in why for part in report.parts for why in part.not_checked
    )


def test_an_attention_of_one_head_is_not_taken_for_one_of_several() -> None:
    source = GLOBAL.replace("class Head(", "class Attention(").replace(
        "Head(head_size)", "Attention(head_size)"
    )
    source = source.replace("class MultiHeadAttention(", "class Heads(").replace(
        "MultiHeadAttention(n", "Heads(n"
    )
    report = examined(source)

    assert mistakes_in(report) == set()
    assert {"Attention", "Heads"} <= {*report.unknown}


@pytest.mark.parametrize("returned", ["return logits", "return self.loss(logits, targets), logits"])
def test_a_batch_of_words_and_labels_is_no_source_and_target(returned: str) -> None:
    source = CONFIGURED[: CONFIGURED.index("    def forward(self, idx, targets=None):")]
    source += f"""
    def loss(self, logits, targets):
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    def forward(self, batch):
        idx, targets = batch
        x = self.words(idx) + self.places(torch.arange(idx.size(1)))
        logits = self.head(self.norm(self.blocks(x)))
        {returned}
"""
    report = examined(source)

    assert mistakes_in(report) == set()
    assert "what `batch` of its forward holds is not known" in report.parts[-1].not_checked
