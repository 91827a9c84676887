"""The rate of matrix products, by a clock that is set by hand."""

import pytest
import torch

from dragoman.planning import machine
from dragoman.planning.machine import PRODUCT, matrix_rate, training_rate


def test_the_rate_is_that_of_the_fastest_product(monkeypatch: pytest.MonkeyPatch) -> None:
    begin, slow, fast = 100.0, 2.5, 0.25
    times = [begin]
    for seconds in (slow, fast, slow):  # is there time, when does it begin, when does it end
        times += [times[-1], times[-1], times[-1] + seconds]
    times.append(times[-1])  # there is no time left
    clock = iter(times)
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    rows, columns, inner = PRODUCT

    assert matrix_rate(torch.float32, seconds=slow + fast + slow) == (
        2 * rows * columns * inner / fast
    )
    assert list(clock) == []


@pytest.mark.parametrize(
    ("device", "threads", "rate", "reached"),
    [
        ("cpu", 1, 1e11, 3e10),
        ("cpu", 1, 1e12, 1.5e11),  # what is between the products takes most of the time
        ("cpu", 2, 1e12, 3e11),
        ("cuda", 1, 1e15, 3e14),
    ],
)
def test_a_share_of_it_goes_into_tokens(
    device: str, threads: int, rate: float, reached: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[torch.device] = []

    def measured(dtype: torch.dtype, *, device: torch.device, seconds: float) -> float:
        asked.append(device)
        return rate

    monkeypatch.setattr(machine, "matrix_rate", measured)
    monkeypatch.setattr("torch.get_num_threads", lambda: threads)

    guess = training_rate(1000, torch.device(device), torch.float32)

    assert guess == pytest.approx(reached / 6000)
    assert asked == [torch.device(device)]
