"""The pages say what is true."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from docs import write_commands, write_settings
from docs.draw_figures import FOLDER, figures

from dragoman.cli import build_app

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(
        page
        for folder in ("docs", "benchmarks", "recipes")
        for page in sorted((ROOT / folder).rglob("*.md"))
    ),
]


def help_of(*words: str) -> str:
    command = [sys.executable, "-m", "dragoman", *words, "--help"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def headings_of(page: Path) -> set[str]:
    """Name the headings of a page as links do."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_command_has_help_and_stands_in_the_readme() -> None:
    overview = help_of()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [name for name in build_app() if not name.startswith("-")]

    assert "train" in commands
    for command in commands:
        assert re.search(rf"^│ {command} ", overview, re.MULTILINE), command
        assert f"dragoman {command}" in readme, command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_of_dark_cells_holds_on_a_dark_ground_too(page: Path) -> None:
    for paragraph in page.read_text(encoding="utf-8").split("\n\n"):
        says_dark = re.search(r"\b(?:dark is|dark cells|darkest is)\b", paragraph, re.IGNORECASE)
        assert not says_dark or "dark ground" in paragraph, paragraph


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    links = re.findall(r"\]\((?!http)([^)#]+)\)", text)
    sources = re.findall(
        r"`((?:model|corpora|tokenizers|decoding|training|evaluation|visualisation|alignment|terms)/[\w/.]+)`",
        text,
    )

    assert not [link for link in links if not (page.parent / link).exists()]
    assert not [name for name in sources if not (ROOT / "src" / "dragoman" / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_headings_that_a_page_links_to_exist(page: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8"))

    assert [
        heading
        for other, heading in links
        if heading not in headings_of(page.parent / other if other else page)
    ] == []


@pytest.mark.parametrize("made", [write_settings, write_commands], ids=lambda made: made.PAGE.name)
def test_a_page_of_the_code_is_what_the_code_says(
    made: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["dragoman"])  # else help names `python -m pytest`
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run `make docs`"


def test_the_drawn_figures_are_what_the_code_draws() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}

    assert stored == figures(), "run `make docs`"
