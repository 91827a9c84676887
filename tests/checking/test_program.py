"""A program runs as it would in a script or in a notebook."""

import pytest

from dragoman.checking.cells import Cell
from dragoman.checking.program import Program

WAITS = "import asyncio\nwidth = await asyncio.sleep(0, 8)\n"


def test_a_notebook_waits_where_a_script_may_not() -> None:
    notebook, script = (Program([Cell(source=WAITS, number=number)]) for number in (1, None))
    for program in (notebook, script):
        program.execute(program.statements[0])

    notebook.execute(notebook.statements[1])

    assert notebook.names["width"] == 8
    with pytest.raises(SyntaxError, match="'await' outside function"):
        script.execute(script.statements[1])
