"""A device is named as people know it."""

import torch

from dragoman.device import device_name, num_cpus


def test_the_cpu_is_named_with_its_processors() -> None:
    processor, _, processors = device_name(torch.device("cpu")).rpartition(", ")

    assert processor
    assert processors == f"{num_cpus()} processors"


def test_another_device_has_its_name_in_pytorch() -> None:
    assert device_name(torch.device("meta")) == "meta"
