"""A program runs as it would in a script or in a notebook."""

import pytest

from dragoman.checking.cells import Cell
from dragoman.checking.examiner import Examiner, Wishes
from dragoman.checking.program import Program

WAITS = "import asyncio\nwidth = await asyncio.sleep(0, 8)\n"


def test_an_import_or_a_class_that_takes_too_long_is_no_mistake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The disk or the machine may be slow."""
    monkeypatch.setattr("dragoman.checking.program.SECONDS_A_STATEMENT", 0.5)
    slow = "import time\nclass Slow:\n    time.sleep(60)\n"

    (of_file,) = Examiner([Cell(source=slow)], Wishes()).report("x.py", ()).parts

    assert of_file.mistakes == ()
    assert of_file.not_checked == ("line 3: ran for longer than 0.5 seconds and was stopped",)


def test_a_notebook_waits_where_a_script_may_not() -> None:
    notebook, script = (Program([Cell(source=WAITS, number=number)]) for number in (1, None))
    for program in (notebook, script):
        program.execute(program.statements[0])

    notebook.execute(notebook.statements[1])

    assert notebook.names["width"] == 8
    with pytest.raises(SyntaxError, match="'await' outside function"):
        script.execute(script.statements[1])
