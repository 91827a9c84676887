"""What is read from a device is on the host, whichever device that is."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from dragoman.decoding.host_copy import HostCopy


@pytest.mark.parametrize("device", ["mps", "xpu"])
def test_a_device_that_is_no_gpu_of_cuda_is_copied_from_as_well(device: str) -> None:
    with FakeTensorMode():  # a tensor of a device that is not here, without numbers
        assert HostCopy(torch.ones(3, device=device)).wait().device.type == "cpu"


def test_what_is_on_the_host_is_not_copied() -> None:
    tensor = torch.ones(3)

    assert HostCopy(tensor).wait() is tensor
