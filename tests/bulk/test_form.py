"""A line for each line, whatever came of it."""

from dataclasses import replace

import pytest
from tests.alternative import says

from dragoman.alignment.links import Alignment
from dragoman.bulk.file_format import Line
from dragoman.bulk.form import WRITERS, Form, Rejected, Translated, warnings_of
from dragoman.translation import Translation


@pytest.mark.parametrize(("ending", "written"), [("\n", "\n"), ("\r\n", "\r\n"), ("", "\n")])
def test_what_was_set_aside_keeps_its_place_at_the_end_of_a_file_too(
    ending: str, written: str
) -> None:
    line = Line(place="a.txt:2", text="B", ending=ending)

    assert WRITERS["text"](1, line, Rejected("it fails")) == written


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("text", "a\rb ||| c\n"),
        ("scores", "a b ||| c\t-1.0000\n"),
        ("list", "0 ||| a b &#124;&#124;&#124; c ||| -1.0000\n"),
    ],
)
def test_a_record_is_a_line_whatever_stands_in_it(form: Form, written: str) -> None:
    text = "a\rb ||| c"
    translation = Translation(source=text, alternatives=(says(text),), parts=(text,), cut=False)
    line = Line(place="a.txt:1", text=text, ending="\n")

    assert WRITERS[form](0, line, Translated(translation)) == written


def test_what_is_not_the_whole_translation_is_said() -> None:
    stopped = replace(says("a a"), finished=False, faults=("repeats itself",))
    translation = Translation(source="b", alternatives=(stopped,), parts=("b",), cut=True)
    line = Line(place="a.txt:1", text="b", ending="\n")

    alignment = Alignment(source_words=("b",), target_words=(), links=frozenset(), complete=False)

    cut, fault, length, unaligned = warnings_of(line, Translated(translation, alignment))

    assert cut.startswith("a.txt:1: a sentence has more tokens than the model has seen")
    assert fault == "a.txt:1: the translation repeats itself"
    assert length == "a.txt:1: the translation stopped at the length limit"
    assert unaligned == "a.txt:1: too long to be aligned as a whole, so links are missing"
