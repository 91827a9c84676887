"""Notes about blocks on which processes died."""

from pathlib import Path

import pytest

from dragoman.bulk.attempts import Attempts
from dragoman.bulk.file_format import Block

BLOCK = Block(number=3, file=0, start=0, size=9, first_line=30, first_line_of_file=30, num_lines=10)


def test_a_note_is_of_one_run(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, "a")
    attempts.begin(BLOCK)

    assert attempts.begin(BLOCK).begun == 2
    assert Attempts(tmp_path, "b").begin(BLOCK).begun == 1


def test_a_block_is_tried_twice_as_a_whole_before_it_is_line_by_line(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, "a")

    assert [attempts.begin(BLOCK).line_by_line for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize("torn", ["", '{"run": "a", "beg', "[]", '{"run": "a", "what": 1}', "\0\0"])
def test_a_note_that_a_power_failure_has_torn_is_none(tmp_path: Path, torn: str) -> None:
    attempts = Attempts(tmp_path, "a")
    attempts.begin(BLOCK)
    (note,) = tmp_path.iterdir()
    note.write_text(torn)

    assert attempts.begin(BLOCK).begun == 1
