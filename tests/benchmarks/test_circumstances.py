"""Figures of a machine without git say so."""

from pathlib import Path

import pytest

from .conftest import Load


def test_a_machine_without_git_has_circumstances(
    tmp_path: Path, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    found = load("circumstances").circumstances()

    assert found["commit"] == "unknown: no clone, or no git"
    assert "processors" in found["device"]
