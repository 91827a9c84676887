"""The learning rate follows its formula."""

import math

import pytest

from dragoman.training.config import TrainingConfig
from dragoman.training.schedule import learning_rate

D_MODEL = 512


def config(schedule: str, **settings: float) -> TrainingConfig:
    return TrainingConfig(
        schedule=schedule,  # type: ignore[arg-type]
        updates=10_000,
        **{"learning_rate": 0.5, "warmup_updates": 4000, **settings},  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        # equation 3 by hand: 512^-0.5 = 0.0441942, 4000^-1.5 = 3.952847e-6
        (1, 0.0441942 * 3.952847e-6),
        (1000, 0.0441942 * 3.952847e-3),
        (4000, 0.0441942 / math.sqrt(4000)),
        (16_000, 0.0441942 / math.sqrt(16_000)),
    ],
)
def test_the_papers_schedule_is_equation_3(update: int, expected: float) -> None:
    rate = learning_rate(update, config("paper", learning_rate=1.0), D_MODEL)

    assert rate == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("schedule", ["inverse_square_root", "cosine", "linear", "constant"])
def test_the_others_rise_in_a_line_to_their_peak(schedule: str) -> None:
    settings = config(schedule)

    assert learning_rate(1, settings, D_MODEL) == pytest.approx(0.5 / 4000)
    assert learning_rate(2000, settings, D_MODEL) == pytest.approx(0.25)
    assert learning_rate(4000, settings, D_MODEL) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("inverse_square_root", 0.5 * math.sqrt(4000 / 7000)),
        ("cosine", 0.25),
        ("linear", 0.25),
        ("constant", 0.5),
    ],
)
def test_halfway_after_the_warmup_each_has_fallen_as_its_name_says(
    schedule: str, expected: float
) -> None:
    assert learning_rate(7000, config(schedule), D_MODEL) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_the_last_update_still_learns(schedule: str) -> None:
    assert 0 < learning_rate(10_000, config(schedule), D_MODEL) < 1e-3


def test_no_warmup_begins_at_the_peak() -> None:
    for schedule in ("inverse_square_root", "cosine", "linear", "constant"):
        settings = config(schedule, warmup_updates=0)
        assert learning_rate(1, settings, D_MODEL) == pytest.approx(0.5, rel=1e-3)
