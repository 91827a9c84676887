"""Which names an output may have: whatever does not make a program open it as something else."""

import re
from pathlib import Path

import pytest

from dragoman.bulk.formats import check_names, check_names_of_records
from dragoman.errors import UsageError


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("a.htm", "b.html"),
        ("a.xhtml", "b.HTML"),
        ("a.pot", "it.po"),
        ("it.po", "it.po.new"),
        ("a.sdlxliff", "b.xml"),
        ("a.docx", "b.DOCX"),
        ("a.srt", "b.txt"),
        ("news.en", "news.it"),
        ("a.txt", "b.md"),
        ("a.txt", "b.csv"),
    ],
)
def test_an_output_may_have_any_name_that_is_not_misleading(
    source: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(source).touch()

    check_names((Path(source),), Path(output), are_aligned=False)


@pytest.mark.parametrize(
    ("source", "output", "ending"),
    [
        ("a.jsonl", "b.PARQUET", ".jsonl"),
        ("a", "b.csv", ".jsonl"),
        ("a.Parquet", "b.jsonl", ".parquet"),
        ("a.parquet", "b.json", ".parquet"),
    ],
)
def test_records_are_not_converted_as_the_name_of_the_output_may_seem_to_ask(
    source: str, output: str, ending: str
) -> None:
    with pytest.raises(
        UsageError, match=f"^{output}: .*; let the name end in {re.escape(ending)}$"
    ):
        check_names_of_records((Path(source),), Path(output))


@pytest.mark.parametrize(
    ("source", "output"),
    [("a.jsonl", "b.json"), ("a", "b"), ("a.PARQUET", "b.parquet"), ("a.parquet", "b.new")],
)
def test_an_output_of_records_may_have_other_names(source: str, output: str) -> None:
    check_names_of_records((Path(source),), Path(output))


def test_a_file_that_is_not_translated_is_told_before_the_name_of_its_translation() -> None:
    with pytest.raises(UsageError, match=r"^a\.doc: .*; save it as \.docx or \.odt"):
        check_names((Path("a.doc"),), Path("b.doc"), are_aligned=False)


def test_documents_have_no_fields() -> None:
    for output in (None, Path("b.srt"), Path("b.jsonl")):
        with pytest.raises(UsageError, match=r"^a\.SRT: a document has no fields"):
            check_names_of_records((Path("a.SRT"),), output)
