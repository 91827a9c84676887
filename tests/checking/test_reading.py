"""Lines that do nothing are told, and those that do something are not."""

import pytest
from tests.checking.mutations.mutation import source_of

from dragoman.checking.cells import Cell
from dragoman.checking.program import Program
from dragoman.checking.reading import lines_without_effect

FILL = "scores = scores.masked_fill(mask == 0, -torch.inf)"
TABLE = "self.pe[:, : x.shape[1]]"


def told(source: str) -> list[tuple[str, str | None]]:
    program = Program([Cell(source=source)])
    return [
        (check.name, measured)
        for statement in program.statements
        for check, measured in lines_without_effect(statement, program)
    ]


def test_a_mask_that_is_computed_and_dropped_is_told_as_it_is_written() -> None:
    dropped = "scores.masked_fill(mask == 0, -1e9)"

    assert told(source_of("assembled", (FILL, dropped))) == [
        ("result-dropped", f"line 81: `{dropped}` stands alone, and no name gets its result")
    ]


def test_a_dropped_result_is_told_as_it_is_written_where_tabs_and_spaces_are_mixed() -> None:
    mixed = "def f(x):\n    if True:\n        y = 1\n\tx.transpose(0, 1)\n    return x\n"

    assert told(mixed) == [
        (
            "result-dropped",
            "line 4: `x.transpose(0, 1)` stands alone, and no name gets its result",
        )
    ]


def test_a_buffer_whose_gradient_is_turned_off_is_told() -> None:
    source = source_of("assembled", (TABLE, f"({TABLE}).requires_grad_(False)"))

    assert told(source) == [
        ("buffer-gradient", "line 37: `pe` is a buffer, and requires_grad is False already")
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (FILL, "scores.masked_fill_(mask == 0, -torch.inf)"),
        (FILL, "self.train()"),
        (FILL, "make_dot(scores).view()"),
        (FILL, "beam.expand(scores)\n    def expand(self, scores): self.scores = scores"),
        (TABLE, "self.table.requires_grad_(False)"),
        ('self.register_buffer("pe", pe.unsqueeze(0))', "self.pe = nn.Parameter(pe)"),
    ],
)
def test_a_line_that_does_something_is_not_told(old: str, new: str) -> None:
    assert told(source_of("assembled", (old, new))) == []


def test_what_a_notebook_shows_is_not_dropped() -> None:
    assert told("import torch\nx = torch.ones(2, 3)\nx.transpose(0, 1)\n") == []
