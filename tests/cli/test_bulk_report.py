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


def test_on_a_terminal_every_line_stands_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    report = Report()
    report(Progress(0, 3000))
    for num_lines in (1000, 2000):
        report(Progress(num_lines, 3000, [f"line {num_lines} repeats itself"], "an engine"))

    first, second, third, fourth = capsys.readouterr().err.split("\n")[:-1]
    assert first == "warning: line 1000 repeats itself"
    assert second.startswith("1000 of 3000 lines, ")
    assert third == "\x1b[A\r\x1b[Kwarning: line 2000 repeats itself"
    assert fourth.startswith("2000 of 3000 lines, ")


def test_warnings_may_be_left_to_somebody_who_counts(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(0, 1, ["line 1 repeats itself"])

    Report()(progress)
    Report(warn=False)(progress)

    assert capsys.readouterr().err == "warning: line 1 repeats itself\n"
