"""Right programs pass, and each mistake is found under its own name."""

from functools import cache

import pytest
from tests.checking.mutations import attention, layers, stacks
from tests.checking.mutations.mutation import LEARNERS, Exchange, Mutation, source_of

from dragoman.checking.cells import Cell
from dragoman.checking.examinations import EXAMINATIONS
from dragoman.checking.examiner import Examiner, Wishes
from dragoman.checking.report import Report

MUTATIONS = [*layers.MUTATIONS, *attention.MUTATIONS, *stacks.MUTATIONS]

_FILL = "scores = scores.masked_fill(mask == 0, -torch.inf)"
_PAST = "torch.tril(torch.ones(1, size, size)).int()"
_HEADS = "x.view(x.shape[0], x.shape[1], self.h, self.d_k).transpose(1, 2)"
VARIANTS: dict[str, tuple[str, tuple[Exchange, ...]]] = {
    "additive masks": (
        "assembled",
        (
            (_FILL, "scores = scores + mask"),
            (_PAST, "torch.full((1, size, size), -torch.inf).triu(1)"),
        ),
    ),
    "1 is hidden": (
        "assembled",
        (
            ("mask == 0", "mask == 1"),
            (_PAST, "torch.triu(torch.ones(1, size, size), diagonal=1).int()"),
        ),
    ),
    "True is visible": ("assembled", (("mask == 0", "~mask"), (".int()", ".bool()"))),
    "the norm after the sum": (
        "assembled",
        (
            (
                "x + self.dropout(sublayer(self.norm(x)))",
                "self.norm(x + self.dropout(sublayer(x)))",
            ),
            (
                "self.norm = LayerNormalization(features)\n\n    def forward(self, x: Tensor, mask",
                "self.norm = nn.Identity()\n\n    def forward(self, x: Tensor, mask",
            ),
        ),
    ),
    "heads of every h-th feature": (
        "assembled",
        (
            (_HEADS, "x.view(x.shape[0], x.shape[1], self.d_k, self.h).permute(0, 3, 1, 2)"),
            ("        x = x.transpose(1, 2)\n", "        x = x.permute(0, 2, 3, 1)\n"),
        ),
    ),
    "padding is 1": (
        "sized",
        (("src == self.src_pad_idx", "src == 1"), ("trg == self.trg_pad_idx", "trg == 1")),
    ),
    "queries are divided": (
        "assembled",
        (
            (" / math.sqrt(self.d_k)", ""),
            ("self.split(self.w_q(q))", "self.split(self.w_q(q)) / math.sqrt(self.d_k)"),
        ),
    ),
}


def examined(source: str, *parts: str) -> Report:
    examiner = Examiner([Cell(source=source)], Wishes())
    return examiner.report("learner.py", parts or tuple(EXAMINATIONS))


def names_in(source: str, part: str) -> list[str]:
    report = next(report for report in examined(source, part).parts if report.part == part)
    return [finding.name for finding in (*report.mistakes, *report.notes)]


@cache
def names_without_mistake(learner: str, part: str) -> list[str]:
    return names_in(source_of(learner), part)


def assert_right(report: Report) -> None:
    assert [finding for part in report.parts for finding in part.mistakes] == []
    assert [part.not_checked for part in report.parts if part.found_as and part.not_checked] == []


@pytest.mark.parametrize("learner", sorted(path.stem for path in LEARNERS.glob("*.py")))
def test_a_right_program_has_no_mistake_and_leaves_nothing_unchecked(learner: str) -> None:
    assert_right(examined(source_of(learner)))


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_right_in_another_way_is_no_mistake(variant: str) -> None:
    learner, exchanges = VARIANTS[variant]

    assert_right(examined(source_of(learner, *exchanges)))


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_mistake_is_found_under_its_name(mutation: Mutation) -> None:
    assert mutation.check in names_in(mutation.source(), mutation.part)
    assert mutation.check not in names_without_mistake(mutation.learner, mutation.part)


def test_a_mask_that_is_refused_without_a_word_is_told_so() -> None:
    refusing = source_of("assembled", (_FILL, f"assert mask.dim() == 5; {_FILL}"))

    attention = examined(refusing, "MultiHeadAttention").parts[1]

    told = [finding.measured for finding in attention.mistakes if finding.name == "attention-mask"]
    assert told == ["no kind of mask is accepted; the last error: without a message"]


def test_a_class_without_a_constructor_does_not_swallow_arguments() -> None:
    """What PyTorch's own constructor takes is no mistake of the learner."""
    plain = "from torch import nn\nclass LayerNormalization(nn.Module):\n"
    plain += "    def forward(self, x):\n        return x - x.mean(-1, keepdim=True)\n"

    names = names_in(plain, "LayerNormalization")

    assert "norm-learns" in names
    assert "any-argument" not in names
