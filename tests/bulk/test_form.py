"""A line for each line, whatever came of it."""

import pytest

from dragoman.bulk.file_format import Line
from dragoman.bulk.form import WRITERS, Rejected


@pytest.mark.parametrize(("ending", "written"), [("\n", "\n"), ("\r\n", "\r\n"), ("", "\n")])
def test_what_was_set_aside_keeps_its_place_at_the_end_of_a_file_too(
    ending: str, written: str
) -> None:
    line = Line(place="a.txt:2", text="B", ending=ending)

    assert WRITERS["text"](1, line, Rejected("it fails")) == written
