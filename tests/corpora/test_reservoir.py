"""A sample of a stream: each item is as likely as any other, and the sample always the same."""

import random
from collections import Counter

from dragoman.corpora.reservoir import Reservoir


def sample(most: int, size: int, seed: int | None = None) -> list[int]:
    reservoir = Reservoir[int](most)
    if seed is not None:
        reservoir._draw = random.Random(seed)
    for item in range(size):
        reservoir.add(item)
    return reservoir.items


def test_each_item_is_kept_equally_often() -> None:
    drawn = [sample(2, 4, seed) for seed in range(1000)]

    assert all(len(set(items)) == 2 for items in drawn)
    counts = Counter(item for items in drawn for item in items)
    assert all(440 < counts[item] < 560 for item in range(4))  # 500, give or take 16


def test_a_short_stream_is_kept_whole_and_a_long_one_alike_each_time() -> None:
    assert sample(5, 5) == [0, 1, 2, 3, 4]
    assert sample(5, 100) == sample(5, 100)
