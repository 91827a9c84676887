"""A document is translated as lines are, and comes back as one."""

import pickle
from dataclasses import replace
from html import escape
from io import BytesIO
from pathlib import Path

import pytest
from tests.documents.office_files import docx, packed, paragraph, run, translated

from dragoman.bulk.document_file import DocumentFile
from dragoman.bulk.files import Progress, in_this_process, translate_files
from dragoman.bulk.form import Translated, warnings_of
from dragoman.bulk.job import Job
from dragoman.bulk.workers import with_workers
from dragoman.corpora.text_file import CorpusError
from dragoman.markup.text_reader import TextReader
from dragoman.translation import Translation, unasked

READER = TextReader("en", "it", splits_sentences=False)
PARAGRAPHS = [f"w{i % 7}\nw{i % 11} w{i % 13}" for i in range(20)]
PAGE = "\ufeff<!DOCTYPE html>\r\n" + "".join(
    f"<p id='{i}'>{text}</p>\r\n" for i, text in enumerate(PARAGRAPHS)
)


@pytest.fixture
def page_job(job: Job, tmp_path: Path) -> Job:
    """Describe the translation of a page, in three blocks."""
    page = tmp_path / "in.html"
    page.write_bytes(PAGE.encode())
    document = DocumentFile(page, READER)
    return replace(job, files=document, output=tmp_path / "out.html", lines_per_block=8)


def expected(job: Job) -> str:
    """Put translations where the paragraphs are, whose line breaks are spaces."""
    translations = job.translator.load()([text.replace("\n", " ") for text in PARAGRAPHS])
    page = PAGE
    for i, (text, translation) in enumerate(zip(PARAGRAPHS, translations, strict=True)):
        page = page.replace(f"'{i}'>{text}<", f"'{i}'>{escape(translation)}<")
    return page


def test_a_page_comes_back_with_its_paragraphs_translated(page_job: Job) -> None:
    translate_files(page_job, in_this_process, lambda progress: None)
    assert page_job.output.read_bytes().decode() == expected(page_job) != PAGE


def test_after_an_interruption_only_the_rest_of_it_is_translated(page_job: Job) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.num_lines:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        translate_files(page_job, in_this_process, interrupt)
    told: list[Progress] = []
    translate_files(page_job, in_this_process, told.append)
    assert [progress.num_lines for progress in told] == [8, 16, 20, 20]
    assert page_job.output.read_bytes().decode() == expected(page_job)


def test_two_processes_share_it(page_job: Job) -> None:
    translate_files(page_job, with_workers(2), lambda progress: None)
    assert page_job.output.read_bytes().decode() == expected(page_job)


def test_another_process_reads_it_by_itself(page_job: Job) -> None:
    document = page_job.files
    blocks = document.cut(8)
    sent = pickle.dumps(document)
    assert b"DOCTYPE" not in sent
    assert [pickle.loads(sent).read(block) for block in blocks] == [
        document.read(block) for block in blocks
    ]


def test_a_warning_quotes_the_sentence(page_job: Job) -> None:
    (line, *_) = page_job.files.read(page_job.files.cut(8)[0])
    assert line.place == f'{page_job.files.paths[0]}: "w0 w0 w0"'


def test_a_sentence_without_spaces_is_quoted_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(f"<p>{'猫' * 70}</p>", encoding="utf-8")
    document = DocumentFile(path, READER)

    (line,) = document.read(document.cut(8)[0])

    assert line.place == f'{path}: "{"猫" * 59}…"'


def said(text: str, *faults: str, cut: bool = False) -> Translated:
    """Make a translation with faults."""
    alternative = replace(unasked(text), faults=faults)
    return Translated(Translation(source="", alternatives=(alternative,), parts=(), cut=cut))


@pytest.mark.parametrize(
    ("whole", "within", "told"),
    [
        (said("Il gatto dorme."), said("gatto", "is far too short"), []),
        (said("Il gatto dorme.", "is far too short"), said("gatto"), ["The cat sleeps."]),
        (said("Dorme.", cut=True), said("gatto", "is far too short"), ["cat"]),
    ],
    ids=["only the place is found with it", "the sentence has one", "each part is translated"],
)
def test_faults_are_told_of_what_is_in_the_document_alone(
    tmp_path: Path, whole: Translated, within: Translated, told: list[str]
) -> None:
    path = tmp_path / "a.html"
    path.write_text("<p>The <b>cat</b> sleeps.</p>", encoding="utf-8")
    document = DocumentFile(path, READER)
    lines = document.read(document.cut(8)[0])
    outcomes = [whole, said("Il"), within, said("dorme.")]
    written = [document.write(0, *each) for each in zip(lines, outcomes, strict=True)]

    assert not any(map(warnings_of, lines, outcomes))
    assert document.put_together(BytesIO(), written) == [
        f'{path}: "{piece}": the translation is far too short' for piece in told
    ]


def test_a_fault_that_the_document_itself_finds_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    sheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    xml = f'<worksheet xmlns="{sheet}"><hyperlink tooltip="a cat"/></worksheet>'
    path.write_bytes(packed({"xl/worksheets/sheet1.xml": xml.encode()}))
    document = DocumentFile(path, READER)
    (line,) = document.read(document.cut(8)[0])

    told = document.put_together(BytesIO(), [document.write(0, line, said("gatti " * 50))])

    assert told == [
        f"{path}: the translation of a text outside its content, such as a tip, is far too long"
    ]


@pytest.mark.parametrize("page", ["<p><img src='a.png'></p>", "<p translate='no'>A cat</p>", ""])
def test_a_document_without_a_text_to_translate_is_told_of(tmp_path: Path, page: str) -> None:
    path = tmp_path / "a.html"
    path.write_text(page, encoding="utf-8")
    written = BytesIO()

    told = DocumentFile(path, READER).put_together(written, [])

    assert told == [f"{path}: no text to translate was found in it"]
    assert page in written.getvalue().decode()


def test_what_stays_in_a_document_against_expectation_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    unit = "<trans-unit><source>A cat</source><target>A cat</target></trans-unit>"
    path.write_text(f"<xliff><file>\n{unit}</file></xliff>", encoding="utf-8")

    (told,) = DocumentFile(path, READER).put_together(BytesIO(), [])

    assert told.startswith(f"{path}: line 2: this target is a copy of its source; ")


def test_a_job_tells_faults_when_the_document_is_whole(page_job: Job) -> None:
    told: list[Progress] = []
    translate_files(page_job, in_this_process, told.append)
    (page,) = page_job.files.paths
    *before, last = (progress.warnings for progress in told)
    assert not any(before)
    assert last  # such a model stops at its limits
    assert all(warning.startswith(f'{page}: "w') for warning in last)


def test_an_office_document_comes_back_as_one(page_job: Job, tmp_path: Path) -> None:
    source = tmp_path / "in.DOCX"
    source.write_bytes(docx(paragraph(run("w1"), run("w2", "<w:b/>")) + paragraph(run("w3"))))
    document = DocumentFile(source, READER)
    texts = [line.text or "" for block in document.cut(2) for line in document.read(block)]
    job = replace(page_job, files=document, output=tmp_path / "out.docx", lines_per_block=2)

    translate_files(job, in_this_process, lambda progress: None)

    expected = iter(page_job.translator.load()(texts))
    assert job.output.read_bytes() == translated(source.read_bytes(), lambda _: next(expected))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.html", b"<p>caf\n\xe9</p>", "a.html:2: not UTF-8 .byte 0xe9 at position 0.; convert"),
        ("a.srt", "A cat".encode("utf-16"), "a.srt: UTF-16 text; convert it to UTF-8"),
        ("a.srt", b"1\n\0", "a.srt:2: a NUL character"),
        ("a.srt", b"PK\x03\x04", "a.srt: a compressed file; unpack it first"),
        ("a.SRT", b"A cat", "a.SRT:1: no line has times such as"),
        ("a.po", b'\nmsgid "a"\n', "a.po:2: "),
        ("a.odt", b"A cat", "a.odt: it is not what its name says, or it is damaged"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=said):
        DocumentFile(path, READER).cut(8)


@pytest.mark.parametrize("lines_per_block", [1, 7, 20, 100])
def test_blocks_have_each_sentence_once(page_job: Job, lines_per_block: int) -> None:
    blocks = page_job.files.cut(lines_per_block)
    texts = [line.text for block in blocks for line in page_job.files.read(block)]
    assert texts == [text.replace("\n", " ") for text in PARAGRAPHS]
    assert [block.first_line for block in blocks] == list(range(0, 20, lines_per_block))


def test_a_wrapped_line_has_a_space_only_where_words_have(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<p>猫は\r\n  川を見る</p><p>a\ncat</p>", encoding="utf-8")
    file = DocumentFile(path, READER)
    assert [line.text for block in file.cut(8) for line in file.read(block)] == [
        "猫は川を見る",
        "a cat",
    ]
