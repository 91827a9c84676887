"""Parquet: a table, of which one column is translated into a new one."""

import json
from bisect import bisect
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dragoman.bulk.file_format import Block, Line, cut_rows
from dragoman.bulk.form import Outcome, value_of
from dragoman.corpora.text_file import CorpusError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet


class ParquetTable:
    """One file. It is read by row groups, with one in memory at a time."""

    def __init__(self, path: Path, field: str, into: str) -> None:
        self.paths = (path,)
        self._path, self._field, self._into = path, field, into
        self.output_form = f"Parquet with {field} translated into {into}"
        self._last_read: tuple[int, pa.ChunkedArray] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what another process reads by itself, which may be hundreds of megabytes."""
        return vars(self) | {"_last_read": None}

    def cut(self, lines_per_block: int) -> list[Block]:
        """Check the columns and all texts, and split the row groups into blocks."""
        self._check()
        blocks: list[Block] = []
        start = 0
        for group, num_rows in enumerate(self._rows_of_groups()):
            self._check_texts(group, start)
            blocks += cut_rows(num_rows, lines_per_block, start=start, number=len(blocks))
            start += num_rows
        return blocks

    def read(self, block: Block) -> list[Line]:
        """Read the rows of a block."""
        first_rows = [0, *accumulate(self._rows_of_groups())]
        group = bisect(first_rows, block.start) - 1
        column = self._column(group).slice(block.start - first_rows[group], block.size)
        return [
            Line(f"{self._path}:row {block.start + i}", text, "")
            for i, text in enumerate(column.to_pylist(), start=1)
        ]

    def write(self, number: int, line: Line, outcome: Outcome) -> str:
        """Write the value of the new column as JSON: a string, or null."""
        return json.dumps(value_of(line, outcome))

    def put_together(self, stream: BinaryIO, written: Iterable[str]) -> Sequence[str]:
        """Write the table with the translations of all its rows as one more column."""
        import pyarrow as pa
        from pyarrow import parquet

        values = map(json.loads, written)
        with parquet.ParquetFile(self._path) as table:
            schema = table.schema_arrow.append(pa.field(self._into, pa.string()))
            compression = self._compression(table)
            with parquet.ParquetWriter(stream, schema, compression=compression) as writer:
                for group in range(table.num_row_groups):
                    rows = self._read_group(table, group)
                    added = pa.array(list(islice(values, rows.num_rows)), pa.string())
                    rows = rows.append_column(self._into, added)
                    writer.write_table(rows, row_group_size=max(1, rows.num_rows))
        return ()

    def _compression(self, table: "parquet.ParquetFile") -> dict[str, str]:
        """Return the compression of each column; the new one gets that of its source."""
        groups = [table.metadata.row_group(i) for i in range(table.num_row_groups)]
        columns = [group.column(i) for group in groups for i in range(group.num_columns)]
        found = {column.path_in_schema: column.compression for column in columns}
        found[self._into] = found.get(self._field, "NONE")
        return {path: "NONE" if name == "UNCOMPRESSED" else name for path, name in found.items()}

    def _read_group(
        self, table: "parquet.ParquetFile", group: int, columns: list[str] | None = None
    ) -> "pa.Table":
        import pyarrow as pa

        try:
            return table.read_row_group(group, columns=columns)
        except (pa.ArrowInvalid, OSError):
            raise CorpusError(
                f"{self._path}: damaged: its row group {group + 1} cannot be read"
            ) from None

    def _rows_of_groups(self) -> list[int]:
        from pyarrow import parquet

        metadata = parquet.read_metadata(self._path)
        return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]

    def _column(self, group: int) -> "pa.ChunkedArray":
        """Read the column of a group; it is kept, because blocks of a group follow each other."""
        from pyarrow import parquet

        if self._last_read is None or self._last_read[0] != group:
            with parquet.ParquetFile(self._path) as table:
                # by its name: "a.b" would also read a field `b` of a struct `a`
                column = self._read_group(table, group, [self._field]).column(self._field)
            self._last_read = (group, column)
        return self._last_read[1]

    def _check_texts(self, group: int, first_row: int) -> None:
        """Refuse a text that is not UTF-8, and name its row."""
        import pyarrow as pa

        column = self._column(group)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            for row, value in enumerate(column, start=first_row + 1):
                try:
                    value.as_py()
                except UnicodeDecodeError:
                    raise CorpusError(
                        f"{self._path}:row {row}: not UTF-8; convert the column {self._field!r}"
                    ) from None
            raise

    def _check(self) -> None:
        """Refuse a file that is not Parquet, lacks the column, or already has its translation."""
        import pyarrow as pa
        from pyarrow import parquet

        try:
            schema = parquet.read_schema(self._path)
        except (pa.ArrowInvalid, OSError) as error:
            if isinstance(error, OSError) and error.errno:  # it is missing, or may not be read
                raise
            raise CorpusError(f"{self._path}: not a Parquet file, or a damaged one") from None
        if self._field not in schema.names:
            raise CorpusError(
                f"{self._path}: no column {self._field!r}; it has {', '.join(schema.names)}"
            )
        if schema.names.count(self._field) > 1:
            raise CorpusError(f"{self._path}: several columns are called {self._field!r}")
        kind = schema.field(self._field).type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise CorpusError(f"{self._path}: the column {self._field!r} is not text but {kind}")
        if self._into in schema.names:
            raise CorpusError(
                f"{self._path}: there is a column {self._into!r} already; --into names another"
            )
