"""Which sentences are translated together."""

from collections.abc import Iterator, Sequence


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
