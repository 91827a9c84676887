"""The Python in a script, a notebook, a Markdown page, or the text of a notebook."""

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import DragomanError, UsageError

LONGEST = 4_000_000
"""Characters of a file; a notebook of this size holds pictures, not more code."""

_PROMPT = re.compile(r"^In ?\[[\w ]*\]:[ \t]*\n?", re.MULTILINE)
_MAGIC = re.compile(
    r"(?P<text>(?P<triple>\"{3}|'{3})(?:\\[\s\S]|(?!(?P=triple))[^\\])*+(?P=triple)?"  # no magics
    r"|(?P<quote>[\"'])(?:\\.|(?!(?P=quote))[^\\\n])*+(?P=quote)?|\#.*)"
    r"|^(?P<before>[ \t]*)"
    r"(?:(?P<kept>\w[\w., ]*=[ \t]*)?"  # files = !ls
    r"(?:%time[ \t]+(?P<timed>\S.*)|(?:%%?\w|!(?!=))(?:.*\\\n)*.*)"
    r"|\?.*|[\w.*]+\?\??[ \t]*)$",  # ?nn.Linear, nn.Linear?
    re.MULTILINE,
)
_OF_ANOTHER_LANGUAGE = re.compile(r"\s*%%(?!time\b|capture\b)")
_OF_SESSIONS = {"pycon", "pytb"}
"""What a block is named that shows prompts, or an error."""

_LOOKS_LIKE_PYTHON = re.compile(r"^\s*(import|from|class|def) ", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A piece of Python, and where it stands."""

    source: str
    first_line: int = 1
    number: int | None = None
    """The number of a notebook's cell, whose lines are counted from its own beginning."""

    is_excerpt: bool = False
    """Whether it comes from a page, which may omit its imports."""

    @property
    def is_of_notebook(self) -> bool:
        """Whether a notebook runs it, which shows the value of a line and allows `await`."""
        return self.number is not None or self.is_excerpt

    def place(self, line: int) -> str:
        """Say where a line of the cell is.

        >>> Cell(source="", first_line=10).place(2), Cell(source="", number=3).place(2)
        ('line 11', 'cell 3, line 2')
        """
        at = f"line {self.first_line + line - 1}"
        return at if self.number is None else f"cell {self.number}, {at}"


def read_cells(path: Path) -> tuple[Cell, ...]:
    """Read the Python in a file.

    A `.py` is one cell. A notebook's code cells lose their magics (`%`, `!` and `?`). From `.md`
    and `.txt`, the fenced blocks are taken or, if there are none, what follows the prompts
    `In [1]:` of a notebook that was saved as text.

    Raises:
        DragomanError: there is no such file.
        UsageError: it is none of these, cannot be read, or holds no Python.
    """
    readers = {".py": _script, ".ipynb": _notebook, ".md": _page, ".txt": _page}
    if path.suffix.lower() not in readers:
        raise UsageError(f"{path}: check reads .py, .ipynb, .md and .txt")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DragomanError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8: {error}") from error
    if len(text) > LONGEST and path.suffix.lower() != ".ipynb":
        raise UsageError(f"{path}: has more than {LONGEST:,} characters")
    try:
        cells = readers[path.suffix.lower()](text)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path}: not a notebook of format 4: {error}") from error
    if not any(cell.source.strip() for cell in cells):
        raise UsageError(f"{path}: there is no Python in it")
    _refuse_nul(path, cells)
    return cells


def _refuse_nul(path: Path, cells: tuple[Cell, ...]) -> None:
    """Name the place of a character that Python does not read."""
    for cell in cells:
        before, nul, _ = cell.source.partition("\0")
        if nul:
            place = cell.place(before.count("\n") + 1)
            raise UsageError(f"{path}: {place} has a NUL character; remove it")


def _script(text: str) -> tuple[Cell, ...]:
    return (Cell(source=text),)


def _notebook(text: str) -> tuple[Cell, ...]:
    sources = [
        "".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"
    ]
    return tuple(
        Cell(source=_without_magics(source.replace("\r\n", "\n")), number=number)
        for number, source in enumerate(sources, start=1)
    )


def _without_magics(source: str) -> str:
    """Remove what only a notebook understands, without changing the number of lines.

    What `%time` times is kept. The result of another magic becomes an empty list, like that of a
    command that prints nothing.
    """
    if _OF_ANOTHER_LANGUAGE.match(source):
        return ""
    return source if _parses(source) else _MAGIC.sub(_without_magic, source)


def _without_magic(magic: re.Match[str]) -> str:
    if magic["text"]:
        return magic["text"]
    kept, timed = magic["kept"], magic["timed"]
    put = (kept or "") + timed if timed else f"{kept}[]" if kept else "pass"
    return magic["before"] + put + "\n" * magic[0].count("\n")


def _page(text: str) -> tuple[Cell, ...]:
    return _fenced(text) or _prompted(text)


def _fenced(text: str) -> tuple[Cell, ...]:
    """Take the fenced blocks that are named Python or, without a name, look like it."""
    from markdown_it import MarkdownIt

    # Code may stand in HTML, and keeps characters that Python does not read.
    parser = MarkdownIt().disable(["normalize", "html_block", "inline"])
    return tuple(
        Cell(source=_without_magics(block.content), first_line=block.map[0] + 2, is_excerpt=True)
        for block in parser.parse(text)
        if block.type == "fence" and block.map and _is_python(block.info, block.content)
    )


def _is_python(name: str, source: str) -> bool:
    language = re.split(r"\W", name.strip().lower())[0]
    if language:
        return language.startswith("py") and language not in _OF_SESSIONS
    return _LOOKS_LIKE_PYTHON.search(source) is not None


def _prompted(text: str) -> tuple[Cell, ...]:
    """Take what follows each prompt, up to where prose or output begins.

    Nothing marks the end of the code, so as many lines are taken as Python can parse.
    """
    prompts = list(_PROMPT.finditer(text))
    ends = [*(prompt.start() for prompt in prompts), len(text)][1:]
    return tuple(
        Cell(
            source=_longest_python(_without_magics(text[prompt.end() : end])),
            first_line=text.count("\n", 0, prompt.end()) + 1,
            is_excerpt=True,
        )
        for prompt, end in zip(prompts, ends, strict=True)
    )


def _longest_python(text: str) -> str:
    lines = text.split("\n")
    for count in range(len(lines), 0, -1):
        beginning = "\n".join(lines[:count])
        if _parses(beginning):
            return beginning
    return ""


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True
