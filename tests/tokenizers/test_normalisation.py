"""The normal form of a text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.tokenizers.normalisation import normalise


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
