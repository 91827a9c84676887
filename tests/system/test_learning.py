"""Models that learn, through the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from dragoman.training.journal import read_journal

Run = Callable[..., "CompletedProcess[str]"]

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


def test_one_batch_is_overfitted(dragoman: Run, workspace: Path) -> None:
    few = (workspace / "train.tsv").read_text().split("\n")[:60]
    (workspace / "few.tsv").write_text("\n".join(few) + "\n")
    settings = ["corpora.train=[{path='few.tsv'}]", "training.updates=150", "model.dropout=0.0"]
    settings += ["search.max_length_ratio=0", "search.max_length_extra=9"]

    dragoman("train", "reverse.toml", "-o", "run", *(x for s in settings for x in ("--set", s)))

    updates = [
        e for e in read_journal(workspace / "run" / "journal.jsonl") if e["event"] == "update"
    ]
    assert updates[-1]["loss"] < 0.1
