"""Reading CSV: what a spreadsheet's cells hold arrives, and any other table is refused."""

import csv
import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpora.texts import LANGUAGES, read, written

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.text_file import CorpusError

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), min_size=1)


def test_quoted_cells_have_separators_doubled_marks_and_line_breaks(tmp_path: Path) -> None:
    content = b'"Yes, ""now"",\r\nshe said","S\xc3\xac, ""ora"""\r\ncat,gatto\r\n"a\n\nb",\r\n'

    assert read(written(tmp_path / "a.csv", content)) == [
        ('Yes, "now", she said', 'Sì, "ora"', 1),
        ("cat", "gatto", 3),
        ("a b", "", 4),
    ]


def test_long_cells_are_read_and_empty_lines_at_the_end_are_none(tmp_path: Path) -> None:
    long = "x" * 200_000

    assert read(written(tmp_path / "a.csv", f"{long},b\n{long},c\n\n\n".encode())) == [
        (long, "b", 1),
        (long, "c", 2),
    ]


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("cat,gatto", ("cat", "gatto")),
        ("cat;gatto", ("cat", "gatto")),
        ("cat\tgatto", ("cat", "gatto")),
        ("cat, gatto", ("cat", "gatto")),
        ('"cat", "gatto"', ("cat", "gatto")),
        ('"Yes, now", "Sì; ora"', ("Yes, now", "Sì; ora")),
        ('"Yes, now"; """Sì"", ora"', ("Yes, now", '"Sì", ora')),
        ("Yes, now;Sì, ora", ("Yes, now", "Sì, ora")),
        ("Yes, now;ora", ("Yes, now", "ora")),
        ("Yes; now,ora", ("Yes; now", "ora")),
        ("1,5;1.5", ("1,5", "1.5")),
        ('"Yes, now",Sì; ora', ("Yes, now", "Sì; ora")),
        ('"Yes; ""now""";"Sì, ora"', ('Yes; "now"', "Sì, ora")),
        ("Yes, now; then\tSì, ora; poi", ("Yes, now; then", "Sì, ora; poi")),
    ],
)
def test_what_separates_the_cells_is_told_by_the_first_row(
    tmp_path: Path, line: str, pair: tuple[str, str]
) -> None:
    (found,) = read(written(tmp_path / "a.csv", line.encode()))

    assert found[:2] == pair


def test_the_first_row_may_have_several_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", b'"one,\ntwo";due\nthree, four;"tre, quattro"\n')

    assert read(path) == [("one, two", "due", 1), ("three, four", "tre, quattro", 3)]


def test_cells_that_follow_a_space_in_the_first_row_may_be_quoted_in_all(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", b'en, it\n"Yes, now",  "Si, ora"\ncat,gatto\n')

    assert [pair[:2] for pair in read(path)[1:]] == [("Yes, now", "Si, ora"), ("cat", "gatto")]


@pytest.mark.parametrize(
    ("first", "expected", "rest"),
    [
        ("A cat, a dog;Un gatto", ("A cat, a dog", "Un gatto"), ""),
        ("A cat; a dog,Un gatto", ("A cat; a dog", "Un gatto"), "One,Uno\n"),
        ("A cat;a dog,Un gatto", ("A cat;a dog", "Un gatto"), "One,Uno\n"),
        ("A\tcat,Un gatto", ("A\tcat", "Un gatto"), "One,Uno\nTwo,Due\n"),
        ("A cat,a dog;Un gatto", ("A cat,a dog", "Un gatto"), "One;Uno\n"),
        ("A cat;a dog,Un gatto", ("A cat;a dog", "Un gatto"), '"One\nor two",Uno\n'),
        ("A;cat,Gatto", ("A;cat", "Gatto"), 18 * "One,Uno\n" + '"Two\nor three",Tre\n'),
    ],
)
def test_the_next_rows_say_which_sign_in_the_first_one_separates(
    tmp_path: Path, first: str, expected: tuple[str, str], rest: str
) -> None:
    path = written(tmp_path / "a.csv", f"{first}\n{rest}".encode())

    assert read(path)[0] == (*expected, 1)


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_a_line_that_tells_excel_the_separator_is_no_row(tmp_path: Path, separator: str) -> None:
    rows = ["sep=;", "English;Italian", '"a\nb";c', "d;e"]
    content = "".join(f"{row}\r\n" for row in rows).replace(";", separator)
    path = written(tmp_path / "a.csv", content.encode())

    assert read(path) == [("English", "Italian", 2), ("a b", "c", 3), ("d", "e", 5)]


@given(
    pairs=st.lists(st.tuples(cells, cells), min_size=1),
    separator=st.sampled_from(";,\t"),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_table_that_python_writes_with_a_heading_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[str, str]],
    separator: str,
    line_end: str,
) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator=line_end)
        writer.writerows([("en", "it"), *pairs])

    assert [pair[:2] for pair in read(path)[1:]] == pairs


def test_a_byte_order_mark_is_no_text_and_compressed_files_are_read(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbf"en";"it"\r\ncat;gatto\r\n'
    path = written(tmp_path / "A.CSV.GZ", gzip.compress(content))

    assert read(path) == [("en", "it", 1), ("cat", "gatto", 2)]


def test_a_long_table_is_read_as_it_comes(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", b"cat,gatto\n" * 10_000 + b"one,two,three\n")

    assert next(read_pairs(CorpusConfig(path=str(path)), languages=LANGUAGES)) == Pair(
        "cat", "gatto", 1
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.csv: the file is empty"),
        (b"cat,gatto\n\ndog,cane\n", "a.csv:2: an empty line; remove it"),
        (b"cat\ndog\n", "a.csv:1: 1 column where 2 are expected (source and translation, with a"),
        (b"cat,gatto\ndog\n", "a.csv:2: 1 column where 2"),
        (b"one, two, three\n", "a.csv:1: 3 columns where 2 are expected (source and translation, "),
        (b'"a\nb";c\na;b;c\n', "a.csv:3: 3 columns where 2 are expected (source and translation, "),
        (b"a;b\na;b;c\n", "put a cell that has a semicolon in it into quotation marks"),
        (
            b'cat,gatto\n"dog,cane\nend,fine\n',
            "a.csv:2: its cells cannot be told apart (unexpected",
        ),
        (b'a,b\n"it "is" so",b\n', "a.csv:2: its cells cannot be told apart (',' expected after"),
        (b'"cat" ,"gatto"\n', "double those within, and leave no space before a separator"),
        (b"sep=;\r\n", "a.csv: the file is empty"),
        (b"sep=;\na;b\n\nc;d\n", "a.csv:3: an empty line; remove it"),
        (b"a,b\nc\rd,e\n", "(new-line character seen in unquoted field); convert its line"),
        (b"\n\n", "a.csv: the file is empty"),
        (b"a,b\n\nc,d\n", "a.csv:2: an empty line; remove it"),
        (b"a,b\nperch\xe9,c\n", "a.csv:2: not UTF-8 (byte 0xe9 at position 5)"),
        ("cat,gatto\n".encode("utf-16"), "a.csv: UTF-16 text; convert it to UTF-8"),
        (b"cat,gatto\rdog,cane\r", "a.csv: its lines end in carriage returns alone"),
    ],
)
def test_what_is_no_table_of_pairs_is_named_by_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = written(tmp_path / "a.csv", content)

    with pytest.raises(CorpusError, match=re.escape(message)) as caught:
        read(path)

    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
