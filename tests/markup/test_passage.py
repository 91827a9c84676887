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


@given(st.text(alphabet="aB.! {}$'\n", max_size=40))
@example("{{ A. B. }} {{ C. D. }} E. F.")
def test_the_pieces_are_the_text(text: str) -> None:
    pieces = PlainText(text, "en", "it").pieces

    assert "".join(pieces) == text
