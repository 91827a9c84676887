"""The command line as a whole: exit codes, and errors in one sentence."""

from pathlib import Path

import pytest

from dragoman.cli import main


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.err + captured.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["trian"], 2, 'Did you mean "train"?'),
        (["train"], 2, "RECIPE"),
        (["train", "missing.toml"], 2, "missing.toml: there is no such file"),
        (["train", "x.toml", "--ouput", "y"], 2, "--output"),
        (["translate", "nowhere"], 1, "nowhere: there is no model here"),
        (["inspect", "nowhere"], 1, "nowhere: there is no model here"),
        (["evaluate", "nowhere"], 2, "give a test set"),
        (["evaluate", "nowhere", "x.tsv", "--tokenize", "14a"], 2, "tokenize = '14a'"),
        (["evaluate", "nowhere", "missing.tsv"], 1, "missing.tsv"),
        (["corpus", "check", "missing.tsv"], 1, "missing.tsv"),
        (["import", "marian", "nowhere", "-o", "x"], 1, "nowhere"),
    ],
)
def test_a_mistake_gives_a_sentence_and_an_exit_code(
    arguments: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    result, printed = outcome(capsys, *arguments)

    assert result == code
    assert message in printed
    assert "Traceback" not in printed


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no model here"):
        main(["translate", str(tmp_path), "--debug"])


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "--version") == (0, "0.1.0\n")
