"""A table comes back with one more column."""

import io
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from dragoman.bulk.files import in_this_process, translate_files
from dragoman.bulk.job import Job
from dragoman.bulk.parquet import ParquetTable
from dragoman.corpora.text_file import CorpusError

from .conftest import LINES

TEXTS = [None if i == 30 else line for i, line in enumerate(LINES)]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Write the lines and their numbers, in groups of 20 rows."""
    path = tmp_path / "in.parquet"
    columns = pa.table({"id": list(range(len(TEXTS))), "t": TEXTS})
    parquet.write_table(columns, path, row_group_size=20)
    return path


def test_each_row_gets_its_translation_and_keeps_the_rest(job: Job, table: Path) -> None:
    output = table.with_name("out.parquet")
    job = replace(job, files=ParquetTable(table, "t", "it"), output=output)

    assert translate_files(job, in_this_process, lambda progress: None) == 0

    written = parquet.read_table(output)
    translations = job.translator.load()(LINES)
    assert written["it"].to_pylist() == [
        None if text is None else translation
        for text, translation in zip(TEXTS, translations, strict=True)
    ]
    assert written.drop_columns("it").equals(parquet.read_table(table))
    assert parquet.read_metadata(output).num_row_groups == 8


def test_blocks_can_be_read_in_any_order(table: Path) -> None:
    format_ = ParquetTable(table, "t", "it")
    blocks = format_.cut(8)

    read = {block.number: format_.read(block) for block in reversed(blocks)}

    assert [line.text for number in sorted(read) for line in read[number]] == TEXTS
    assert read[3][0].place == f"{table}:row 21"
    assert max(block.size for block in blocks) == 8


def test_another_process_reads_it_by_itself(table: Path) -> None:
    format_ = ParquetTable(table, "t", "it")
    *_, block = format_.cut(8)
    lines = format_.read(block)

    sent = pickle.dumps(format_)

    assert (lines[-1].text or "").encode() not in sent
    assert pickle.loads(sent).read(block) == lines


@pytest.mark.parametrize(
    ("field", "into", "reason"),
    [
        ("x", "it", "no column 'x'; it has id, t"),
        ("id", "it", "the column 'id' is not text but int64"),
        ("t", "id", "there is a column 'id' already; --into names another"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    table: Path, field: str, into: str, reason: str
) -> None:
    with pytest.raises(CorpusError) as error:
        ParquetTable(table, field, into).cut(8)

    assert str(error.value) == f"{table}: {reason}"


def test_columns_of_one_name_are_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    parquet.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["t", "t"]), path)

    with pytest.raises(CorpusError, match="several columns are called 't'"):
        ParquetTable(path, "t", "it").cut(8)


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [{"b": "x"}], "a.b": ["The cat."]},
        {"a.b": pa.array(["The cat."], pa.large_string())},  # as polars and pandas write
    ],
    ids=["a field of another has its name", "large"],
)
def test_the_texts_of_a_column_are_read(columns: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    parquet.write_table(pa.table(columns), path)
    format_ = ParquetTable(path, "a.b", "it")

    ((line,),) = map(format_.read, format_.cut(8))

    assert line.text == "The cat."


def test_columns_keep_their_compression(table: Path) -> None:
    output = table.with_name("out.parquet")
    columns = parquet.read_table(table)
    parquet.write_table(columns, table, compression={"id": "NONE", "t": "ZSTD"})

    with output.open("wb") as stream:
        ParquetTable(table, "t", "it").put_together(stream, ('"x"' for _ in TEXTS))

    group = parquet.read_metadata(output).row_group(0)
    written = [group.column(i).compression for i in range(group.num_columns)]
    assert written == ["UNCOMPRESSED", "ZSTD", "ZSTD"]


def test_a_damaged_group_of_rows_is_named(table: Path) -> None:
    damage(table, at=parquet.read_metadata(table).row_group(1).column(1).dictionary_page_offset)
    format_ = ParquetTable(table, "t", "it")

    for use in (
        lambda: format_.cut(8),
        lambda: format_.put_together(io.BytesIO(), ('"x"' for _ in TEXTS)),
    ):
        with pytest.raises(CorpusError) as error:
            use()
        assert str(error.value) == f"{table}: damaged: its row group 2 cannot be read"


def test_what_is_no_table_and_a_damaged_footer_are_named(table: Path) -> None:
    size = int.from_bytes(table.read_bytes()[-8:-4], "little")
    damage(table, at=-8 - size)
    for content in (table.read_bytes(), b"text"):
        table.write_bytes(content)

        with pytest.raises(CorpusError, match=r"in\.parquet: not a Parquet file, or a damaged one"):
            ParquetTable(table, "t", "it").cut(8)


def damage(path: Path, *, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)


def test_a_text_that_is_not_utf_8_is_named_by_its_row(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    texts = pa.array([b"a cat", None, b"caf\xe9"], pa.binary()).view(pa.string())
    parquet.write_table(pa.table({"t": texts}), path, row_group_size=2)

    with pytest.raises(CorpusError, match=r"in\.parquet:row 3: not UTF-8; convert the column 't'"):
        ParquetTable(path, "t", "it").cut(8)


def test_a_group_of_more_than_a_million_rows_stays_one(tmp_path: Path) -> None:
    path, output = tmp_path / "in.parquet", tmp_path / "out.parquet"
    num_rows = 2**20 + 1
    column = pa.array([""]).take(pa.array([0] * num_rows))
    parquet.write_table(pa.table({"t": column}), path, row_group_size=num_rows)

    with output.open("wb") as stream:
        ParquetTable(path, "t", "it").put_together(stream, ("null" for _ in range(num_rows)))

    written = parquet.read_metadata(output)
    assert (written.num_row_groups, written.num_rows) == (1, num_rows)


def test_a_group_without_rows_stays_one(tmp_path: Path) -> None:
    path, output = tmp_path / "in.parquet", tmp_path / "out.parquet"
    schema = pa.schema([("t", pa.string())])
    with parquet.ParquetWriter(path, schema) as writer:
        for texts in (["a"], [], ["b", None]):
            writer.write_table(pa.table({"t": pa.array(texts, pa.string())}))
    format_ = ParquetTable(path, "t", "it")

    read = [line.text for block in format_.cut(8) for line in format_.read(block)]
    with output.open("wb") as stream:
        format_.put_together(stream, ('"x"', '"y"', "null"))

    assert read == ["a", "b", None]
    assert parquet.read_table(output)["it"].to_pylist() == ["x", "y", None]


def test_a_missing_file_is_not_called_damaged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ParquetTable(tmp_path / "nowhere.parquet", "t", "it").cut(8)
