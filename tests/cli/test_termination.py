"""A command that is told to end cleans up, unless the program around it has its own way."""

import signal
from collections.abc import Iterator

import pytest

from dragoman.cli.termination import end_by_exit


@pytest.fixture(autouse=True)
def _handlers_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_what_a_program_does_with_signals_stays() -> None:
    def handler(number: int, frame: object) -> None:
        """Do something else."""

    signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

    end_by_exit()

    assert signal.getsignal(signal.SIGTERM) is handler
    with pytest.raises(SystemExit) as ended:
        signal.raise_signal(signal.SIGHUP)
    assert ended.value.code == 129
