"""Which names an output may have: whatever does not make a program open it as something else."""

from pathlib import Path

import pytest

from dragoman.bulk.formats import check_names


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
