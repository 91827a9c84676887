"""The set of pairs: it answers as a plain set does, in little memory."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpora.seen import SeenPairs, distinct, hash_texts

short = st.text("ab", max_size=3)


@given(st.lists(st.lists(st.tuples(short, short), max_size=30), max_size=30))
def test_it_answers_as_a_set_does(blocks: list[list[tuple[str, str]]]) -> None:
    seen, expected = SeenPairs(), set[tuple[str, str]]()

    for block in blocks:
        answers = []
        for pair in block:
            answers.append(pair not in expected)
            expected.add(pair)
        assert seen.add(block) == answers


def test_it_answers_as_a_set_does_when_it_has_grown() -> None:
    seen = SeenPairs()
    block = 1000
    for start in range(0, 100_000, block):
        assert all(seen.add([(f"{n}", f"{-n}") for n in range(start, start + block)]))

    assert not any(seen.add([(f"{n}", f"{-n}") for n in range(0, 100_000, 7)]))


def test_it_needs_little_more_than_eight_bytes_a_pair_and_few_runs() -> None:
    seen = SeenPairs()
    for start in range(0, 200_000, 500):
        seen.add([(f"{n}", "") for n in range(start, start + 500)])

    assert seen._hashes.nbytes <= 1.125 * 8 * 200_000
    assert len(seen._starts) <= 12


@given(st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=1, max_size=4))
def test_distinct_hashes_are_those_of_numpy(blocks: list[list[int]]) -> None:
    arrays = [np.array(block, dtype=np.uint64) for block in blocks]

    assert distinct(list(arrays)).tolist() == np.unique(np.concatenate(arrays)).tolist()


def test_distinct_hashes_need_eighteen_bytes_each() -> None:
    tracemalloc.start()
    try:
        blocks = [np.arange(n, n + 4000, dtype=np.uint64) for n in range(0, 400_000, 4000)]
        distinct(blocks)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 19 * 400_000


def test_the_border_between_the_sides_counts() -> None:
    assert SeenPairs().add(
        [("ab", "c"), ("a", "bc"), ("", "abc"), ("a\0b", "c"), ("a", "b\0c")]
    ) == ([True] * 5)


def test_half_a_surrogate_pair_is_hashed() -> None:
    assert len(set(hash_texts(["\ud800", "\udc00", ""]))) == 3
