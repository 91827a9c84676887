"""A text is cut into lines and sentences, and into nothing smaller."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.markup.passage import PlainText


@pytest.mark.parametrize(
    "placeholder",
    [
        "{{ ' in ' + (place) + '.' if place else '' }}",
        "${' in ' + (place) + '.' if place else ''}",
    ],
)
def test_sentences_in_a_placeholder_are_no_sentences_of_the_text(placeholder: str) -> None:
    text = f"He came. She is {placeholder} now. Then they left."

    pieces = PlainText(text, "en", "it").pieces

    assert pieces == ["He came. ", f"She is {placeholder} now. ", "Then they left."]


def test_what_is_not_cut_into_sentences_is_cut_where_it_keeps_others_waiting() -> None:
    text = "the cat. " * 2_000 + "a" * 9_000 + " "

    pieces = PlainText(text, "en", "it", sentences=False).pieces

    assert "".join(pieces) == text
    assert max(map(len, pieces)) == 4_000
    assert pieces[0].endswith(" ")
    assert PlainText("The cat. A dog.", "en", "it", sentences=False).pieces == ["The cat. A dog."]


@given(st.text(alphabet="aB.! {}$'\n", max_size=40))
@example("{{ A. B. }} {{ C. D. }} E. F.")
def test_the_pieces_are_the_text(text: str) -> None:
    pieces = PlainText(text, "en", "it").pieces

    assert "".join(pieces) == text
