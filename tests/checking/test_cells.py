"""What is Python in a script, a notebook and a page."""

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.checking.cells import read_cells
from dragoman.errors import DragomanError, UsageError


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def notebook(*sources: Any) -> str:
    cells = [{"cell_type": "code", "source": source} for source in sources]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "# Title"}, *cells]})


def test_a_script_is_one_cell(tmp_path: Path) -> None:
    (cell,) = read_cells(written(tmp_path / "x.py", "a = 1\nb = 2\n"))

    assert cell.source == "a = 1\nb = 2\n"
    assert cell.place(2) == "line 2"


def test_the_code_cells_of_a_notebook_are_counted_and_lose_their_magics(tmp_path: Path) -> None:
    text = notebook("a = 1", ["!pip install x\n", "if a:\n", "    %time b = 2\n"], "%%bash\nls")

    first, second, third = read_cells(written(tmp_path / "x.ipynb", text))

    assert first.source == "a = 1"
    assert second.source == "pass\nif a:\n    b = 2\n"
    assert third.source == ""
    assert second.place(3) == "cell 2, line 3"


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("files = !ls\nnn.Linear?", "files = []\npass"),
        ("if a:\n    b, c = %who_ls int", "if a:\n    b, c = []"),
        ("?nn.Linear\nnn.*Loss??", "pass\npass"),
        ("!pip install \\\n  x\na = 1", "pass\n\na = 1"),
        ("%%time\na = 1", "pass\na = 1"),
        ("%%timeit\na = 1", ""),
        ("a = 7 % 4\na != 1\n%time a", "a = 7 % 4\na != 1\na"),
        ("a = %time f()\n%timeit f()", "a = f()\npass"),
        ("%time a = f(\n    1)\n%time", "a = f(\n    1)\npass"),
        ("!echo don't\na = 'b?'  # isn't\nb?", "pass\na = 'b?'  # isn't\npass"),
        ('!ls\na = """\nb = %d\n!\nwhy?\n""" % 3', 'pass\na = """\nb = %d\n!\nwhy?\n""" % 3'),
        ("nn.Linear?\r\na = 1\r\n", "pass\na = 1\n"),
        ("a = (7\n     % 4)\nb = (a\n!= 2)\n!ls", "a = (7\n     % 4)\nb = (a\n!= 2)\npass"),
    ],
)
def test_what_only_a_notebook_understands_leaves_the_lines_around_it(
    source: str, left: str, tmp_path: Path
) -> None:
    (first, _) = read_cells(written(tmp_path / "x.ipynb", notebook(source, "b = 2")))

    assert first.source == left


def test_a_line_of_quotes_that_are_never_closed_is_read_once(tmp_path: Path) -> None:
    """For each quote anew, it would be read for hours."""
    quotes = "'" + "\\'" * 300_000

    (cell,) = read_cells(written(tmp_path / "x.ipynb", notebook(f"%time\n{quotes}\n!ls")))

    assert cell.source == f"pass\n{quotes}\npass"


def test_a_remainder_at_the_beginning_of_a_line_is_no_magic(tmp_path: Path) -> None:
    source = "a = (7\n% 4)"

    (cell,) = read_cells(written(tmp_path / "x.ipynb", notebook(source)))

    assert cell.source == source


def test_the_blocks_of_a_page_keep_the_lines_of_the_page(tmp_path: Path) -> None:
    text = "# Title\n\n```python\na = 1\n```\nwords\n```sh\nls\n```\n~~~\nimport math\n~~~\n"
    text += "```\n0 1\n```\n```pycon\n>>> a\n1\n```\n"
    text += "<p>\n1. In a list:\n\n   ```Py3 title=c\n   def f():\n"
    text += '       """Of\n\n       ```\n       x\n       ```\n       """\n   ```\n'

    first, second, third = read_cells(written(tmp_path / "x.md", text))

    assert (first.source, first.place(1)) == ("a = 1\n", "line 4")
    assert (second.source, second.place(1)) == ("import math\n", "line 11")
    assert third.place(1) == "line 24"
    assert third.source == 'def f():\n    """Of\n\n    ```\n    x\n    ```\n    """\n'
    assert first.is_excerpt


def test_a_notebook_that_was_saved_as_text_gives_what_python_can_read(tmp_path: Path) -> None:
    text = "Intro\nIn [1]:\na = 1\nif a:\n    b = 2\n\nNow some prose.\n"
    text += "In [ ]:\nc = 3\n\nIn [None]:\nd = 4\n"
    text += "\n    ```python\n    of = 'a docstring'\n    ```\n"

    cells = read_cells(written(tmp_path / "x.txt", text))

    assert [cell.source.strip() for cell in cells] == ["a = 1\nif a:\n    b = 2", "c = 3", "d = 4"]
    assert cells[1].place(1) == "line 9"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.rs", "", "check reads .py, .ipynb, .md and .txt"),
        ("x.ipynb", "{", "not a notebook of format 4"),
        ("x.ipynb", "[]", "not a notebook of format 4"),
        ("x.ipynb", '{"cells": [{}]}', "not a notebook of format 4"),
        ("x.md", "only words", "there is no Python in it"),
        ("x.py", "\n", "there is no Python in it"),
        ("x.py", "a = 1\nb = '\0'", "x.py: line 2 has a NUL character; remove it"),
        ("x.md", "```python\nb = '\0'\n```", "x.md: line 2 has a NUL character; remove it"),
        ("x.ipynb", notebook("a = 1", "b = '\0'"), "cell 2, line 1 has a NUL character"),
    ],
)
def test_what_is_no_program_is_refused(name: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        read_cells(written(tmp_path / name, text))


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_bytes(b"\xff\xfe\xff")

    with pytest.raises(UsageError, match="not UTF-8"):
        read_cells(tmp_path / "x.py")
    with pytest.raises(DragomanError, match="there is no such file"):
        read_cells(tmp_path / "y.py")
