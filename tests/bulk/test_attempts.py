"""Notes about blocks on which processes died."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from dragoman.bulk.attempts import MOST, WHOLE, Attempts
from dragoman.bulk.block_translator import BlockTranslator
from dragoman.bulk.file_format import Block, BulkError
from dragoman.bulk.files import in_this_process, translate_files
from dragoman.bulk.job import Job
from dragoman.bulk.partial_output import KeptParts
from dragoman.bulk.unchanged import Unchanged
from dragoman.translation import Translation
from dragoman.translator import Translator

from .test_files import poison

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
def test_a_note_that_is_torn_is_none(tmp_path: Path, torn: str) -> None:
    attempts = Attempts(tmp_path, "a")
    attempts.begin(BLOCK)
    (note,) = tmp_path.iterdir()
    note.write_text(torn)

    assert attempts.begin(BLOCK).begun == 1


def test_no_line_is_blamed_if_a_process_dies_when_all_are_translated(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise MemoryError

    parts = KeptParts(job.output, job.identity(), Unchanged(job.files.paths))
    block, *_ = job.files.cut(job.lines_per_block)
    with parts.claim():
        attempts = Attempts(parts.path, parts.run)
        for _ in range(WHOLE):
            attempts.begin(block)
        monkeypatch.setattr(KeptParts, "save", die)
        with pytest.raises(MemoryError):
            BlockTranslator(job, parts).translate(block)  # line by line

        assert attempts.begin(block).rejected == []


@pytest.mark.parametrize("content", ["w1 w2\n", "w1\n \nw2\n"])
def test_lines_are_not_to_blame_for_what_all_with_text_fail_with(
    job: Job, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    translate = Translator.translate

    def fail(self: Translator, texts: Iterable[str]) -> Iterable[Translation]:
        given = list(texts)
        if any(text.strip() for text in given):
            raise RuntimeError("no memory")
        return translate(self, given)

    (path,) = job.files.paths
    path.write_text(content)
    monkeypatch.setattr(Translator, "translate", fail)

    with pytest.raises(RuntimeError, match="no memory"):
        translate_files(job, in_this_process, lambda _: None)


def test_a_block_on_which_processes_die_whatever_the_line_is_given_up(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path, "a")
    for _ in range(MOST):
        attempts.begin(BLOCK)

    with pytest.raises(BulkError, match=f"^lines 31 to 40: {MOST} processes died while they"):
        attempts.begin(BLOCK)


def test_the_only_line_of_a_block_is_to_blame_if_others_were_translated(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = job.files.paths
    path.write_text("w1 w2\n" * job.lines_per_block + "w3\n")
    poison(monkeypatch, texts=frozenset({"w3"}))

    assert translate_files(job, in_this_process, lambda _: None) == 1

    assert job.output.read_text().count("\n") == job.lines_per_block + 1
