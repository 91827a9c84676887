"""`dragoman import marian`: what it prints and returns."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.import_model import app
from dragoman.config import RecipeError
from dragoman.translator import Translator


def run(*arguments: object) -> Any:
    return app(["marian", *map(str, arguments)], exit_on_error=False, result_action="return_value")


def test_it_imports_proves_and_says_so(
    save_marian: Callable[..., Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save_marian()
    monkeypatch.setattr("dragoman.interop.proof.NUM_SENTENCES", 3)

    code = run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it")

    assert code == 0
    assert "proved: 3 of 3 translations equal those of transformers" in capsys.readouterr().out
    translations = Translator(tmp_path / "imported", device="cpu")(["the cat", "", "the old dog"])
    assert len(translations) == 3
    assert translations[1] == ""


def test_languages_are_two_codes(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="--languages italian: write two codes, as en-it"):
        run(tmp_path, "-o", tmp_path / "imported", "--languages", "italian")
