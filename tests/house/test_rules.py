"""What holds for the whole code base."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import dragoman

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST_FUNCTION = 50

WITHOUT_TORCH = [
    "dragoman",
    "dragoman.translator",
    "dragoman.model_directory",
    "dragoman.config",
    "dragoman.device",
    "dragoman.engines.ctranslate2",
    "dragoman.tokenizers.pair",
    "dragoman.tokenizers.training",
    "dragoman.corpora.preparation",
    "dragoman.evaluation.metrics",
    "dragoman.recipe",
    "dragoman.bulk.ray_cluster",
    "dragoman.bulk.workers",
    "dragoman.cli.align",
    "dragoman.serving.application",
    "dragoman.serving.server",
    "dragoman.cli.demo",
    "dragoman.cli.distill",
    "dragoman.cli.train",
    "dragoman.cli.translate",
    "dragoman.cli.evaluate",
    "dragoman.cli.explain",
    "dragoman.cli.corpus",
    "dragoman.cli.inspect",
    "dragoman.cli.plot",
    "dragoman.cli.check",
    "dragoman.checking.process",
    "dragoman.cli.export",
    "dragoman.cli.serve",
    "dragoman.cli.import_model",
]

BLOCK_TORCH = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "jaxtyping"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
"""


def test_what_runs_without_torch_imports_without_torch() -> None:
    lines = "\n".join(f"import {module}" for module in WITHOUT_TORCH)

    subprocess.run([sys.executable, "-c", f"{BLOCK_TORCH}\n{lines}"], check=True)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_functions_are_short(path: Path) -> None:
    code_lines = [
        (
            function.name,
            (function.end_lineno or 0)
            - (
                function.body[1]
                if ast.get_docstring(function) and len(function.body) > 1
                else function
            ).lineno,
        )
        for function in functions(path)
    ]

    assert not [name for name, lines in code_lines if lines > LONGEST_FUNCTION]


def test_rooms_have_names_that_say_something() -> None:
    nameless = {"utils", "util", "helpers", "common", "base", "core", "misc"}

    assert not [path for path in SOURCES if {path.stem, path.parent.name} & nameless]


def test_the_version_is_written_once_in_each_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert project["project"]["version"] == dragoman.__version__
    assert f"## {dragoman.__version__}" in changelog


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + [
        requirement
        for extra in project["optional-dependencies"].values()
        for requirement in extra
        if not requirement.startswith("dragoman")
    ]
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n")
        if "==" in line
    }

    assert {re.split(r">=|\[", requirement)[0] for requirement in wanted} <= pinned
