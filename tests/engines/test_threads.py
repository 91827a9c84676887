"""Batches on threads of their own."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
import torch

from dragoman.engines.threads import for_each

_PROGRAM = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import torch
from dragoman.engines.threads import for_each

both_work = Barrier(2)

def work(number, failing):
    if number < 9:
        both_work.wait()
    if number == failing:
        raise ArithmeticError
    with ThreadPoolExecutor(1) as beside:
        of_another = beside.submit(torch.get_num_threads).result()
    return number, torch.get_num_threads(), of_another, torch.is_inference_mode_enabled()

torch.set_num_threads(2)
for failing in (0, 8):
    try:
        batches = for_each([7, 8, 9], lambda number: work(number, failing), torch.device("cpu"))
        print(list(batches))
    except ArithmeticError:
        print("failed")
    print(torch.get_num_threads(), torch.is_inference_mode_enabled())
    with ThreadPoolExecutor(1) as later:
        print(later.submit(torch.get_num_threads).result())
"""


def test_each_batch_has_a_thread_and_other_threads_keep_the_setting_of_before() -> None:
    program = [sys.executable, "-c", _PROGRAM]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    all_three = "[(7, 1, 2, True), (8, 1, 2, True), (9, 1, 2, True)]"
    assert done.stdout.splitlines() == [all_three, "2 False", "2", "failed", "2 False", "2"]


_FORK = """
import os, threading, time
from concurrent.futures import ThreadPoolExecutor
import torch
from dragoman.device import count_threads, limit_threads

set_threads, is_limited = torch.set_num_threads, threading.Event()

def set_slowly(number):
    set_threads(number)
    is_limited.set()
    time.sleep(0.02)

set_threads(3)
torch.set_num_threads = set_slowly
threading.Thread(target=limit_threads, args=(1,)).start()
is_limited.wait()
child = os.fork()
with ThreadPoolExecutor(1) as later:
    print(later.submit(count_threads).result(), flush=True)
if child:
    os.waitpid(child, 0)
"""


def test_a_process_that_is_forked_while_a_thread_is_limited_has_the_setting_of_before() -> None:
    program = [sys.executable, "-c", _FORK]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["3", "3"]


def test_a_thread_that_begins_while_another_is_limited_leaves_the_setting_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual, set_threads, is_limited = torch.get_num_threads(), torch.set_num_threads, Event()

    def set_slowly(number: int) -> None:
        set_threads(number)
        is_limited.set()
        time.sleep(0.02)

    def process() -> int:
        list(for_each([1, 2], lambda batch: batch, torch.device("cpu")))
        return torch.get_num_threads()

    monkeypatch.setattr("torch.set_num_threads", set_slowly)
    set_threads(4)
    try:
        with ThreadPoolExecutor(1) as other, ThreadPoolExecutor(1) as later:
            meanwhile = other.submit(lambda: is_limited.wait(5) and process())
            assert process() == 4
            assert meanwhile.result() == 4
            assert later.submit(torch.get_num_threads).result() == 4
    finally:
        set_threads(usual)
