"""What is promised is tested, and nothing that is read can run code."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN_MODULES = {"pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "importlib.import_module"),
    *("torch.load", "torch.save", "torch.jit.load", "numpy.load", "np.load"),
}


@pytest.mark.parametrize("page", ["guarantees.md", "faults.md"])
def test_the_tests_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)

    assert len(named) > 20
    assert len(named) == text.count("tests/")
    for path, name in named:
        assert f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{name}"


def test_the_benchmarks_that_show_a_fault_have_rows_of_their_names() -> None:
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    named = re.findall(r"`(benchmarks/\w+\.py)([ \w-]*)`", page)

    assert len(named) == page.count("`benchmarks/") > 10
    for path, rows in named:
        script = (ROOT / path).read_text(encoding="utf-8")
        assert not [row for row in rows.split() if f'"{row}"' not in script], path


def runs_code(source: str) -> list[str]:
    """List what in a source could run code that it reads, with its lines."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in FORBIDDEN_CALLS:
            if ast.unparse(node).endswith("weights_only=True)"):  # what PyTorch reads safely
                continue
            found.append(f"{node.lineno}: {ast.unparse(node.func)}")
        found += [
            f"{node.lineno}: {name}"  # type: ignore[attr-defined]
            for name in names
            if name in FORBIDDEN_CALLS or name.partition(".")[0] in FORBIDDEN_MODULES
        ]
    return found


def test_nothing_that_is_read_can_run_code() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        if path.parent.name == "checking":  # it is there to run the code that it examines
            continue
        assert not runs_code(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    "line",
    [
        "import pickle as p",
        "from joblib import load",
        "from torch import load, nn",
        "from torch.jit import load",
        "model = torch.load(path)",
        "model = torch.load(path, weights_only=False)",
        "value = eval(text)",
        "exec(text)",
        "compile(text, '', 'exec')",
        "__import__(name)",
        "importlib.import_module(name)",
    ],
)
def test_what_could_run_code_is_found(line: str) -> None:
    (found,) = runs_code(f"import torch, re\nre.compile(text)\n{line}\n")

    assert found.startswith("3: ")
