"""The normal form of a text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.tokenizers.normalisation import normalise, undirected, visible


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("", ""),
        ("caffe\u0300", "caff\u00e8"),  # decomposed becomes composed
        ("½ Ａ ﬁ", "½ Ａ ﬁ"),  # look-alikes are kept, which NFKC would fold
        ("  one \t two\r\n", "one two"),
        ("a\u00a0b\u2028c\u3000d\u0085e", "a b c d e"),
        ("a\u200bb", "a\u200bb"),  # a zero-width space is no white space in Unicode
        ("\ud83d\ude00", "\ufffd\ufffd"),  # two lone surrogates, not a pair
        ("a\0b\uffffc", "a\ufffdb\ufffdc"),
        ("a\0b", "a\ufffdb"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("</s> ▁", "</s> ▁"),
    ],
)
def test_a_text_is_written_in_its_normal_form(text: str, normal: str) -> None:
    assert normalise(text) == normal


@given(st.text(st.characters()))
@example("\u0301 \u0344\u1100\u1161")
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize("mark", "\xad\u061c\u200b\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff")
def test_a_mark_that_nobody_sees_is_left_out(mark: str) -> None:
    assert visible(f"a{mark}b") == "ab"


@pytest.mark.parametrize("mark", "\u061c\u200e\u200f\u202a\u202e\u2066\u2069")
def test_a_translation_has_no_mark_of_the_direction_of_its_source(mark: str) -> None:
    assert undirected(f"a{mark}b") == "ab"


@pytest.mark.parametrize("control", "\x01\x1f\x7f\x9f\ufffd")
def test_a_control_character_parts_words(control: str) -> None:
    assert visible(f"a{control}b") == "a b"


def test_what_joins_letters_is_part_of_a_word() -> None:
    text = "\u0645\u06cc\u200c\u062e \u0915\u094d\u200d"

    assert visible(text) == text
