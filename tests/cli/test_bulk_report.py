"""How far a long translation is, is told to a terminal and, now and then, to a file."""

import pytest

from dragoman.bulk.files import Progress
from dragoman.cli import bulk_translation
from dragoman.cli.bulk_translation import Report


def test_a_file_is_told_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = Report()
    report(Progress(0, 3000))
    report(Progress(1000, 3000, engine="an engine"))
    assert capsys.readouterr().err == ""

    monkeypatch.setattr(bulk_translation, "SECONDS_BETWEEN_LINES", 0)
    report(Progress(2000, 3000, engine="an engine"))

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("2000 of 3000 lines, ")
    assert line.endswith(" a second, an engine")


def test_warnings_may_be_left_to_somebody_who_counts(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(0, 1, ["line 1 repeats itself"])

    Report()(progress)
    Report(warn=False)(progress)

    assert capsys.readouterr().err == "warning: line 1 repeats itself\n"
