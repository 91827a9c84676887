"""Threads that translate come after those that answer."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dragoman.serving.priority import NICENESS, give_way

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads have no priorities here")


def _niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def _niceness_of_a_new_thread() -> int:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(_niceness).result()


def test_a_thread_gives_way_with_all_that_it_starts_and_the_others_do_not() -> None:
    usual = _niceness()
    lower = min(usual + NICENESS, 19)  # the least there is
    with ThreadPoolExecutor(1, initializer=give_way) as threads:
        assert threads.submit(_niceness).result() == lower
        assert threads.submit(_niceness_of_a_new_thread).result() == lower
    assert _niceness() == usual


def test_a_thread_that_may_not_give_way_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setpriority", refuse)
    with ThreadPoolExecutor(1, initializer=give_way) as threads:
        assert threads.submit(_niceness).result() == _niceness()
