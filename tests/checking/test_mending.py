"""Slips that stop a program are reported, and what is behind them is examined all the same."""

import pytest
from tests.checking.mutations.mutation import exchanged, source_of

from dragoman.checking.cells import Cell
from dragoman.checking.examiner import Examiner, Wishes
from dragoman.checking.report import Report

ASSEMBLED = source_of("assembled")


def examined(source: str, *parts: str, is_excerpt: bool = False) -> Report:
    return Examiner([Cell(source=source, is_excerpt=is_excerpt)], Wishes()).report("x.py", parts)


def stops(report: Report) -> list[str]:
    return [
        finding.measured
        for part in report.parts
        for finding in part.mistakes
        if finding.name == "does-not-run"
    ]


@pytest.mark.parametrize(
    ("part", "old", "new", "told"),
    [
        ("InputEmbeddings", "Embeddings(nn.Module)", "Embeddings(nn.module)", "`nn.module`"),
        ("InputEmbeddings", "super().__init__()", "super()._init__()", "read as `__init__`"),
        ("LayerNormalization", "(dim=-1, keepdim", "(dim=-1, keepduim", "read as `keepdim`"),
        ("LayerNormalization", "+ self.bias", "+ Self.bias", "no `Self`; read as `self`"),
        ("MultiHeadAttention", "return self.w_o(", "return self.wo(", "read as `w_o`"),
        ("ResidualConnection", "nn.Dropout(dropout)", "dropout", "read as nn.Dropout"),
        (
            "PositionalEncoding",
            "torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model)",
            "torch.exp(torch.arange(0, d_model, 2).float(*(-math.log(10000.0) / d_model)))",
            "unpacks a number",
        ),
        (
            "FeedForward",
            "def forward(self, x: Tensor) -> Tensor:\n        return self.linear_2",
            "def forward_pass(self, x: Tensor) -> Tensor:\n        return self.linear_2",
            "called `forward_pass`",
        ),
        ("InputEmbeddings", "import math\n", "", "`math` is used and never imported"),
    ],
)
def test_a_slip_is_told_with_its_line_and_the_part_is_examined(
    part: str, old: str, new: str, told: str
) -> None:
    report = examined(exchanged(ASSEMBLED, (old, new)), part)

    assert told in stops(report)[0]
    assert stops(report)[0].startswith("line ")
    assert len(report.parts[1].passed) > 3
    assert report.num_mistakes == len(stops(report))


def test_a_slip_in_the_decorator_of_a_function_is_told_with_the_line_of_the_decorator() -> None:
    slip = "import torch\n\n\n@torch.no_grda()\ndef translate(model):\n    return model\n"

    told = stops(examined(slip))

    assert told == ["line 4: there is no `torch.no_grda`; read as `no_grad`"]


def test_a_mistake_behind_several_slips_is_found() -> None:
    source = ASSEMBLED.replace("return self.w_o(", "return self.wo(")
    source = source.replace("import math\n", "").replace("self.w_k(k)", "self.w_q(k)")

    report = examined(source, "MultiHeadAttention")

    names = [finding.name for finding in report.parts[1].mistakes]
    assert names.count("does-not-run") == 2
    assert "attention-projections" in names


def test_an_argument_that_is_misspelt_does_not_hide_behind_a_global() -> None:
    right = "(self, d_model: int, vocab_size: int) -> None:\n"
    right += "        super().__init__()\n        self.proj"
    source = "d_model = 6\n" + exchanged(
        ASSEMBLED,
        (right, right.replace("d_model", "d_moel")),
        ("return self.proj(x)", "return self.proj(x).softmax(-1)"),
    )

    report = examined(source, "ProjectionLayer")

    assert "the argument `d_moel` is never used, a global `d_model` is" in stops(report)[0]
    assert "projection-probabilities" in [finding.name for finding in report.parts[1].mistakes]


@pytest.mark.parametrize("name", ["feedforward", "feed_forward"])
def test_a_global_in_the_place_of_a_part_is_told_and_what_is_behind_it_is_examined(
    name: str,
) -> None:
    source = ASSEMBLED.replace(
        "class Decoder(", f"{name} = FeedForwardBlock(512, 8, 0.0)\n\n\nclass Decoder("
    )
    source = source.replace(
        "self.residuals[2](x, self.feed_forward)", f"self.residuals[2](x, {name})"
    )
    source = source.replace("(x, memory, memory, src_mask)", "(x, x, x, tgt_mask)")

    report = examined(source, "DecoderBlock", "Decoder")

    told = {finding.name: finding.measured for finding in report.parts[1].mistakes}
    read = f"the global `{name}` is called; read as `self.feed_forward`"
    assert told["weights-from-outside"] == f"line 156: {read}"
    assert "source-is-read" in told
    assert stops(report) == []


def test_an_import_that_an_excerpt_leaves_out_is_only_noted() -> None:
    report = examined(ASSEMBLED.replace("import math\n", ""), "InputEmbeddings", is_excerpt=True)

    assert report.num_mistakes == 0
    assert [note.name for note in report.parts[1].notes] == ["import-missing"]


def test_what_has_no_obvious_mend_is_told_once() -> None:
    source = ASSEMBLED.replace("return self.linear_2(", "return self.something_else(")

    report = examined(source, "FeedForward", "EncoderBlock", "Encoder")

    assert len(stops(report)) == 1
    assert "something_else" in stops(report)[0]
    assert [part.not_checked for part in report.parts[2:]] == [
        ("it stops where FeedForwardBlock does",),
        ("it stops where FeedForwardBlock does",),
    ]


def test_a_line_that_is_not_python_is_left_out_and_told() -> None:
    source = ASSEMBLED.replace("import copy\n", "import copy (for clones)\n")

    report = examined(source, "InputEmbeddings")

    assert stops(report) == ["line 3: is not Python (invalid syntax)"]
    assert "embeddings-scaled" in report.parts[1].passed


def test_statements_that_fail_do_not_end_the_program() -> None:
    source = "open('corpus.txt')\nx = undefined_name\n" + ASSEMBLED

    report = examined(source, "InputEmbeddings")

    assert report.num_mistakes == 0
    assert [reason.partition(":")[0] for reason in report.parts[0].not_checked] == [
        "line 1",
        "line 2",
    ]
    assert report.parts[1].passed
