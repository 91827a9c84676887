"""Batches on threads of their own."""

import subprocess
import sys

import pytest

_PROGRAM = """
from concurrent.futures import ThreadPoolExecutor
import torch
from dragoman.engines.threads import for_each

def work(number):
    if number == {failing}:
        raise ArithmeticError
    formats = torch.is_autocast_enabled("cpu"), torch.is_inference_mode_enabled()
    return number, torch.get_num_threads(), *formats

torch.set_num_threads(2)
try:
    with torch.autocast("cpu", torch.bfloat16, enabled={autocast}):
        print(list(for_each([7, 8, 9], work, torch.device("cpu"))))
except ArithmeticError:
    print("failed")
print(torch.get_num_threads(), torch.is_inference_mode_enabled())
with ThreadPoolExecutor(1) as later:
    print(later.submit(torch.get_num_threads).result())
"""


@pytest.mark.parametrize(
    ("failing", "autocast", "said"),
    [
        (0, False, "[(7, 1, False, True), (8, 1, False, True), (9, 1, False, True)]"),
        (0, True, "[(7, 1, True, True), (8, 1, True, True), (9, 1, True, True)]"),
        (8, True, "failed"),
    ],
)
def test_each_batch_has_a_thread_and_later_threads_have_the_setting_of_before(
    failing: int, autocast: bool, said: str
) -> None:
    program = [sys.executable, "-c", _PROGRAM.format(failing=failing, autocast=autocast)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [said, "2 False", "2"]
