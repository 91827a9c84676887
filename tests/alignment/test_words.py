"""Pieces find their words, and words their partners."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.alignment.words import (
    both_directions,
    join_words,
    link_words,
    word_weights,
    words_of_tokens,
)
from dragoman.tokenizers.tokenizer import Tokenizer
from dragoman.tokenizers.words import WordTokenizer
from dragoman.words import cut_words

TEXTS = [
    "The cat is on the table.",
    "  Where\tis\u00a0the  caffè?\n",
    "日本 🐈 x",
    "a . b",
    "zqxj ▁ zqxj",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_tokens_of_a_word_spell_it(text: str, subwords: Tokenizer) -> None:
    ids, places = subwords.encode(text), words_of_tokens(text, subwords)

    spelt = [
        subwords.decode([i for i, of in zip(ids, places, strict=True) if of == word])
        for word in range(max(places) + 1)
    ]

    assert spelt == cut_words(text, subwords)
    assert len(ids) > len(spelt)


def test_unknown_words_and_marks_that_stand_alone_keep_their_places() -> None:
    tokenizer = WordTokenizer(["the", "cat", ".", "'"])

    assert words_of_tokens("the catalogue 's cat . <unk>", tokenizer) == [0, 1, 2, 2, 3, 4, 5, 5, 5]


# Three source words of 2, 1 and 1 pieces; two target words of 1 and 2 pieces.
PIECES = np.array(
    [
        [0.3, 0.3, 0.2, 0.1],
        [0.0, 0.1, 0.6, 0.2],
        [0.2, 0.1, 0.0, 0.6],
    ],
    dtype=np.float32,
)
WORDS = [[0.6, 0.2, 0.1], [0.2, 0.3, 0.4]]


def test_the_weights_of_words_worked_by_hand() -> None:
    found = word_weights(PIECES, [0, 0, 1, 2], [0, 2, 2])

    nothing = [0.0, 0.0, 0.0]  # of a word without tokens
    np.testing.assert_allclose(found, [WORDS[0], nothing, WORDS[1]], atol=1e-7)


def test_all_layers_and_heads_are_counted_at_once() -> None:
    layers = np.stack([[PIECES, PIECES * 0.5]] * 3)

    found = word_weights(layers, [0, 0, 1, 2], [0, 1, 1])

    assert found.shape == (3, 2, 2, 3)
    np.testing.assert_allclose(found[2, 1], np.array(WORDS) * 0.5, atol=1e-7)


def test_each_word_is_linked_to_what_it_shares_most_with() -> None:
    of_target, of_source = both_directions(np.array(WORDS, dtype=np.float32))

    assert of_target == {(0, 0), (2, 1)}
    assert of_source == {(0, 0), (1, 1), (2, 1)}
    assert link_words(np.array(WORDS, dtype=np.float32)) == {(0, 0), (1, 1), (2, 1)}
    assert link_words(np.zeros((0, 3), dtype=np.float32)) == frozenset()


def test_parts_begin_at_words_or_within_them() -> None:
    def join(text: str, parts: list[str]) -> tuple[list[str], list[int]]:
        return join_words(text, parts, [part.split() for part in parts])

    assert join("\t One two.  Three!", ["One two.", "Three!"]) == (
        ["One", "two.", "Three!"],
        [0, 2],
    )
    assert join("a.b. c d", ["a.", "b.", "c d"]) == (["a.b.", "c", "d"], [0, 0, 1])
    assert join(" ", [""]) == ([], [0])
    assert join("a b", ["a", "", "b"]) == (["a", "b"], [0, 1, 1])


def test_a_part_without_spaces_before_it_begins_a_word_where_its_script_has_none() -> None:
    found = join_words(
        "一。二。 A.三", ["一。", "二。", "A.", "三"], [["一。"], ["二", "。"], ["A."], ["三"]]
    )

    assert found == (["一。", "二", "。", "A.", "三"], [0, 1, 3, 4])


spaces = st.text(" \t\u00a0", max_size=3)
contents = st.text("ab.", min_size=1, max_size=4)


@given(st.lists(st.tuples(spaces, contents), min_size=1, max_size=5), spaces)
def test_a_part_begins_with_the_word_that_its_first_letter_stands_in(
    pieces: list[tuple[str, str]], end: str
) -> None:
    marked = "".join(space + f"<{i}>" + part for i, (space, part) in enumerate(pieces)) + end
    text = "".join(space + part for space, part in pieces) + end
    parts = [part for _, part in pieces]

    joined, found = join_words(text, parts, [part.split() for part in parts])

    words = marked.split()
    assert joined == text.split()
    assert found == [
        next(place for place, word in enumerate(words) if f"<{i}>" in word)
        for i in range(len(pieces))
    ]
