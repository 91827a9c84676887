"""Models that learn, through the command line."""

import json
from pathlib import Path

import pytest

from dragoman.training.journal import read_journal

from .conftest import Run

pytestmark = pytest.mark.slow


def test_the_reverse_task_is_learnt(dragoman: Run, workspace: Path) -> None:
    dragoman("train", "reverse.toml", "-o", "run")

    report = dragoman("evaluate", "run", "test.tsv", "--json")
    shown = dragoman("inspect", "run", "--json")

    assert json.loads(report.stdout)["exact_match"] >= 99.0
    assert json.loads(shown.stdout)["training"]["scores"]["test"]["BLEU"]["score"] > 98.0
    card = (workspace / "run" / "README.md").read_text()
    assert "| train | 1 | 6,000 | 6,000 | - |" in card
    assert "tok:13a" in card
    events = read_journal(workspace / "run" / "journal.jsonl")
    assert [e["loss"] for e in events if e["event"] == "update"][-1] < 0.1
