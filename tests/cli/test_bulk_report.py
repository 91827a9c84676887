"""How far a long translation is, is told to a terminal and, now and then, to a file."""

import pytest

from dragoman.bulk.files import Progress
from dragoman.cli.bulk_translation import Report


@pytest.mark.parametrize(("is_terminal", "seconds"), [(True, 5), (False, 60)])
def test_it_is_told_now_and_then_in_lines_that_stay(
    *,
    is_terminal: bool,
    seconds: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = iter([0, 0, 1, seconds, seconds + 1])
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    report = Report()
    report(Progress(500, 4000))  # which another run has done
    for num_lines in (1000, 2000, 3000):
        report(Progress(num_lines, 4000, [f"line {num_lines} repeats itself"], "an engine"))

    begin, first, second, line, last = capsys.readouterr().err.split("\n")[:-1]
    assert begin == "going on: 500 of 4,000 lines translated"
    assert first == "warning: line 1000 repeats itself"
    assert second == "warning: line 2000 repeats itself"
    assert line == f"2,000 of 4,000 lines, {1500 // seconds} a second, an engine"
    assert last == "warning: line 3000 repeats itself"


def test_warnings_may_be_left_to_somebody_who_counts(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(0, 1, ["line 1 repeats itself"])

    Report()(progress)
    Report(warn=False)(progress)

    assert capsys.readouterr().err == "warning: line 1 repeats itself\n"
