"""Messages of ICU: what is chosen is translated, its name stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.alternative import says

from dragoman.documents.choices import read_choices
from dragoman.documents.document import Document
from dragoman.markup.passage import Passage
from dragoman.markup.text_reader import TextReader


def read(text: str) -> Passage:
    return TextReader("en", "it").read_string(text)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("A cat {n}", ["A cat {n}"]),
        ("I see {n, plural, one {a cat} other {# cats}}.", ["I see ", "a cat", "%d cats", "."]),
        (
            "{who,select, male {He {n, selectordinal, one {is #st} other {was}}} other {{x} ran}}",
            ["He ", "is %dst", "was", "{x} ran"],
        ),
        ("{n, plural, one {a cat} other {cats", ["a cat", "cats"]),
        (
            "A } cat {n, plural} {n, plural, {n, plural, a}}",
            ["A } cat {n, plural} ", " a"],
        ),
        ("{n, plural, other {%d of #}}", ["%d of #"]),
        (
            "Cat #5 {n, plural, other {{m, plural, other {#b}} #c}} #d",
            ["Cat #5 ", "%db", " %dc", " #d"],
        ),
        ("{n, plural, other {# caf&#233;s}}", ["%d caf&#233;s"]),
    ],
)
def test_what_is_chosen_is_a_text_of_its_own(text: str, pieces: list[str]) -> None:
    found = read_choices(text, read)
    assert found.pieces == pieces
    assert found.put_together(list(map(says, found.pieces))).text == text


@given(st.lists(st.sampled_from(["{", "}", "{n, plural,", "a ", "# ", "\n"]), max_size=30))
def test_nothing_is_lost_however_braces_are_nested(scraps: list[str]) -> None:
    text = "".join(scraps)
    found = read_choices(text, lambda part: Document([part]))
    assert found.put_together([]).text == text
