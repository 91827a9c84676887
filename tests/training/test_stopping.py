"""Signals are remembered, and interrupts answered, whatever the process is doing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.training import stopping
from dragoman.training.stopping import SHOW_CURSOR, stop_on_signals

COMPUTES = """
import ctypes
from dragoman.training.stopping import stop_on_signals

library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
with stop_on_signals():
    library.pthread_mutex_lock(mutex)
    print("computes", flush=True)
    library.pthread_mutex_lock(mutex)
"""
"""One call that never ends, and is no interruption of Python's, as one of PyTorch for a while."""


def test_under_torchrun_no_second_interrupt_is_offered(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("RANK", "0")

    with stop_on_signals():
        os.kill(os.getpid(), signal.SIGINT)

    assert capfd.readouterr().err == "\nstopping and saving\n"


def test_what_was_there_before_is_there_after() -> None:
    before = signal.getsignal(signal.SIGINT)
    descriptors = len(list(Path("/dev/fd").iterdir()))

    with stop_on_signals() as received:
        os.kill(os.getpid(), signal.SIGTERM)

    assert received == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1
    assert len(list(Path("/dev/fd").iterdir())) == descriptors


def test_both_interrupts_are_answered_while_one_call_lasts() -> None:
    """On a terminal, which also gets its cursor back."""
    leader, terminal = os.openpty()
    with (
        os.fdopen(leader, "rb", buffering=0) as shown,
        subprocess.Popen(
            [sys.executable, "-c", COMPUTES], stdout=subprocess.PIPE, stderr=terminal, text=True
        ) as process,
    ):
        os.close(terminal)
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "computes\n"
            process.send_signal(signal.SIGINT)
            answers = [shown.readline() for _ in range(2)]
            process.send_signal(signal.SIGINT)
            code = process.wait()
            last = shown.read(100)
        finally:
            process.kill()

    expected = b"stopping and saving; Ctrl-C once more ends at once and loses what is not saved\r\n"
    assert answers == [b"\r\n", expected]
    assert last == SHOW_CURSOR
    assert code == 130


def test_an_interrupt_is_heard_though_nobody_can_read_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    monkeypatch.setattr(stopping, "STANDARD_ERROR", writing)

    with stop_on_signals() as received:
        os.kill(os.getpid(), signal.SIGINT)

    os.close(writing)
    assert received == [signal.SIGINT]


def test_who_was_told_of_signals_before_is_told_again() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing)

    with stop_on_signals():
        pass

    assert signal.set_wakeup_fd(before) == writing
    os.close(reading)
    os.close(writing)


def test_only_an_interrupt_is_answered(capfd: pytest.CaptureFixture[str]) -> None:
    """The second interrupt ends the process, and whoever terminates it may do so twice."""
    with stop_on_signals() as received:
        os.kill(os.getpid(), signal.SIGTERM)

    assert received == [signal.SIGTERM]
    assert capfd.readouterr().err == ""


def test_no_cursor_is_shown_where_there_is_no_terminal() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COMPUTES], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert process.stdout.readline() == b"computes\n"
            process.send_signal(signal.SIGINT)
            for _ in range(2):
                process.stderr.readline()
            process.send_signal(signal.SIGINT)
            code, rest = process.wait(), process.stderr.read()
        finally:
            process.kill()

    assert (code, rest) == (130, b"")
