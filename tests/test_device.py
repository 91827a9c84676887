"""A device is named as people know it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from dragoman.config import DragomanError
from dragoman.device import choose_device, compute_in_one_thread, device_name, num_cpus


def test_the_cpu_is_named_with_its_processors() -> None:
    processor, _, processors = device_name(torch.device("cpu")).rpartition(", ")

    assert processor
    assert processors == f"{num_cpus()} processors"


def test_another_device_has_its_name_in_pytorch() -> None:
    assert device_name(torch.device("meta")) == "meta"


def test_a_device_that_holds_no_numbers_is_none_to_compute_on() -> None:
    with pytest.raises(DragomanError, match="'meta': PyTorch finds no such device here"):
        choose_device("meta")


@pytest.fixture
def two_threads() -> Iterator[None]:
    usual = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(usual)


@pytest.mark.usefixtures("two_threads")
def test_only_the_thread_that_asks_computes_in_one() -> None:
    with ThreadPoolExecutor(1) as before, ThreadPoolExecutor(1) as alone:
        before.submit(torch.get_num_threads).result()
        for _ in range(2):
            alone.submit(compute_in_one_thread).result()

        assert alone.submit(torch.get_num_threads).result() == 1
        assert before.submit(torch.get_num_threads).result() == torch.get_num_threads() == 2
    with ThreadPoolExecutor(1) as after:
        assert after.submit(torch.get_num_threads).result() == 2
