"""Which sentences are translated together."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence

LEAST_SHARE = 4
"""For the sake of evenness, no batch gets less than a fourth of what it may have: with few rows,
each of them takes longer."""


def group_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Group the sentences that have any tokens into batches, the longest first.

    A batch has at most `budget` tokens, padding and EOS included, or one sentence. Callers that
    need sentences without tokens too must count EOS themselves.

    >>> list(group_by_length([2, 9, 0, 3, 1], budget=10))
    [[1], [3, 0], [4]]
    """
    order = sorted((i for i, length in enumerate(lengths) if length), key=lambda i: -lengths[i])
    while order:
        count = max(1, budget // (lengths[order[0]] + 1))
        yield order[:count]
        order = order[count:]


def even_budget(lengths: Sequence[int], most: int, num_workers: int) -> int:
    """Choose how many tokens batches have, so that workers who share them end at about one time.

    There are no more batches than necessary, but as many for each worker, and none is much smaller
    than the others.

    >>> even_budget([4] * 10, most=30, num_workers=1), even_budget([4] * 10, most=30, num_workers=4)
    (25, 15)
    """
    longest_first = sorted(filter(None, lengths), reverse=True)

    def count_batches(budget: int) -> int:
        num_batches = place = 0
        while place < len(longest_first):
            place += max(1, budget // (longest_first[place] + 1))
            num_batches += 1
        return num_batches

    num_batches = math.ceil(count_batches(most) / num_workers) * num_workers
    least = most // LEAST_SHARE
    return least + bisect_left(
        range(least, most), True, key=lambda budget: count_batches(budget) <= num_batches
    )
