"""What is promised is tested, and nothing that is read can run code."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN_MODULES = {"pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}
FORBIDDEN_CALLS = {"eval", "torch.load", "torch.save", "torch.jit.load", "numpy.load", "np.load"}


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


def test_nothing_that_is_read_can_run_code() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        if path.parent.name == "checking":  # it is there to run the code that it examines
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported = {(node.module or "").partition(".")[0]}
            else:
                imported = set()
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in FORBIDDEN_CALLS, f"{path}:{node.lineno}"
            assert not imported & FORBIDDEN_MODULES, path
