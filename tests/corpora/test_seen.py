"""The set of texts: it answers as a plain set does, in little memory."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpora.seen import SeenTexts, hash_texts

short = st.text("ab", max_size=3)


@given(st.lists(st.lists(short, max_size=30), max_size=30))
def test_it_answers_as_a_set_does(blocks: list[list[str]]) -> None:
    seen, expected = SeenTexts(), set[str]()

    for block in blocks:
        answers = []
        for text in block:
            answers.append(text not in expected)
            expected.add(text)
        assert seen.add(block) == answers
    assert sorted(seen.hashes()) == sorted(hash_texts(list(expected)))


def test_it_answers_as_a_set_does_when_it_has_grown() -> None:
    seen = SeenTexts()
    block = 1000
    for start in range(0, 100_000, block):
        assert all(seen.add([f"{n}" for n in range(start, start + block)]))

    assert not any(seen.add([f"{n}" for n in range(0, 100_000, 7)]))


def test_it_needs_eight_bytes_a_text_at_most_twice_as_many_while_it_grows_and_few_runs() -> None:
    seen = SeenTexts()
    tracemalloc.start()
    try:
        for start in range(0, 200_000, 500):
            seen.add([f"{n}" for n in range(start, start + 500)])
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < 9 * 200_000
    assert peak < 17 * 200_000
    assert len(seen._runs) <= 12


def test_half_a_surrogate_pair_is_hashed() -> None:
    assert len(set(hash_texts(["\ud800", "\udc00", ""]))) == 3
