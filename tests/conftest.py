"""Every test begins from the same random state and computes on one thread, in single precision.

Only `test_on_gpu.py` sees a GPU, where there is one.
"""

import os
import signal
from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

os.environ["OMP_NUM_THREADS"] = "1"  # of the programs that are started; pytest itself has begun
torch.set_num_threads(1)
if torch.cuda.is_available():
    torch.cuda.init()  # which looks for GPUs, before tests hide them
settings.register_profile("any machine", deadline=None)  # a busy one stands still now and then
settings.load_profile("any machine")


@pytest.fixture(autouse=True, scope="session")
def _exact() -> Iterator[None]:
    """Compute in fp32, in this process, also on a CPU with fast bf16: tests compare digits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.cpu.get_capabilities", dict)
        yield


@pytest.fixture(autouse=True)
def _without_gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the GPU, here and from the programs that are started."""
    if request.path.name != "test_on_gpu.py":
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _bounded(request: pytest.FixtureRequest) -> Iterator[None]:
    """End what grows with the square of its input; on a busy machine, what is right only waits."""
    marker = request.node.get_closest_marker("processor_seconds")
    if marker is None:
        yield
        return
    (seconds,) = marker.args

    def end(*_: object) -> None:
        pytest.fail(f"it took more than {seconds} seconds of the processor")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)
