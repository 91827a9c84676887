"""Which sentences are translated together."""

import math

from hypothesis import given
from hypothesis import strategies as st

from dragoman.engines.grouping import LEAST_SHARE, even_budget, group_by_length

LENGTHS = st.lists(st.integers(0, 60), max_size=40)
BUDGETS, WORKERS = st.integers(1, 300), st.integers(1, 5)


@given(LENGTHS, BUDGETS)
def test_every_sentence_with_tokens_is_in_one_batch_that_is_not_too_large(
    lengths: list[int], budget: int
) -> None:
    batches = list(group_by_length(lengths, budget))

    assert sorted(i for batch in batches for i in batch) == [i for i, n in enumerate(lengths) if n]
    for batch in batches:
        assert len(batch) == 1 or len(batch) * (1 + max(lengths[i] for i in batch)) <= budget


@given(LENGTHS, BUDGETS, WORKERS)
def test_batches_are_even_and_as_many_for_each_worker(
    lengths: list[int], most: int, num_workers: int
) -> None:
    def count(budget: int) -> int:
        return len(list(group_by_length(lengths, budget)))

    budget = even_budget(lengths, most, num_workers)
    allowed = math.ceil(count(most) / num_workers) * num_workers

    assert most // LEAST_SHARE <= budget <= most
    assert count(budget) <= allowed
    assert budget == most // LEAST_SHARE or count(budget - 1) > allowed


def test_a_worker_has_nothing_to_wait_for() -> None:
    lengths = [19] * 50  # 1,000 tokens: three batches of 400, where two workers want four

    budget = even_budget(lengths, most=400, num_workers=2)

    assert [len(batch) for batch in group_by_length(lengths, budget)] == [13, 13, 13, 11]
