"""A document: its sentences are translated as lines are, and it is put together from them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, get_args

from dragoman.bulk.file_format import Block, Line, cut_rows
from dragoman.bulk.form import Outcome, Rejected, doubts_of, value_of
from dragoman.corpora.text_file import CorpusError, decode_file
from dragoman.documents.archive import read_archive
from dragoman.documents.document import Document, DocumentError
from dragoman.documents.formats import DOCUMENT_FORMATS, DocumentFormat
from dragoman.faults import Fault
from dragoman.markup.passage import Passage
from dragoman.markup.spacing import unwrap
from dragoman.markup.text_reader import TextReader
from dragoman.translation import unasked
from dragoman.words import shorten

_SHOWN_WIDTH = 60


class DocumentFile:
    """One file, which is in memory as a whole."""

    def __init__(self, path: Path, reader: TextReader) -> None:
        self.paths = (path,)
        self._path, self._reader = path, reader
        self.output_form = f"a document ({path.suffix.lower()})"

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what another process reads by itself."""
        return {name: value for name, value in vars(self).items() if name not in _READ}

    @cached_property
    def _content(self) -> bytes:
        return self._path.read_bytes()

    @cached_property
    def _passage(self) -> Passage:
        try:
            if self._format.has_text:
                text = read_archive(self._content, self._format.has_text)
            else:
                text = decode_file(self._content, str(self._path))
            return self._format.take_apart(text, self._reader)
        except DocumentError as error:
            place = self._path if error.line is None else f"{self._path}:{error.line}"
            raise CorpusError(f"{place}: {error.reason}") from None

    @property
    def is_archive(self) -> bool:
        """Whether it is no text, which a terminal could show."""
        return self._format.has_text is not None

    @property
    def _format(self) -> DocumentFormat:
        return DOCUMENT_FORMATS[self._path.suffix.lower()]

    def cut(self, lines_per_block: int) -> list[Block]:
        """Take the file apart, and split what is translated into blocks."""
        return list(cut_rows(len(self._passage.pieces), lines_per_block))

    def read(self, block: Block) -> list[Line]:
        """Read the sentences of a block. A break that was left in one only wraps it."""
        return [
            Line(self._place(piece), unwrap(piece), "", is_piece=True)
            for piece in self._passage.pieces[block.start : block.start + block.size]
        ]

    def _place(self, piece: str) -> str:
        return f'{self._path}: "{shorten(" ".join(piece.split()), _SHOWN_WIDTH)}"'

    def write(self, number: int, line: Line, outcome: Outcome) -> str:
        """Write a translation as JSON, with what seems to be wrong with it."""
        doubts = [] if isinstance(outcome, Rejected) else doubts_of(line, outcome.translation)
        return json.dumps([value_of(line, outcome) or "", doubts])

    def put_together(self, stream: BinaryIO, written: Iterable[str]) -> Sequence[str]:
        """Write the document with its translations in place, and tell what is wrong with these.

        What is between tags was translated only to find its place, unless that was not found.
        """
        translations = [
            replace(unasked(text), faults=tuple(doubts))
            for text, doubts in map(json.loads, written)
        ]
        translated = self._passage.put_together(translations)
        stream.write(self._format.write(translated.text, self._content))
        warnings = [self._tell(fault) for fault in translated.faults]
        if isinstance(self._passage, Document) and self._passage.warning:
            warnings.append(f"{self._path}: {self._passage.warning}")
        elif not self._passage.pieces:
            warnings.append(f"{self._path}: no text to translate was found in it")
        return warnings

    def _tell(self, fault: str) -> str:
        """Say where a fault is that the document has found itself."""
        if fault not in get_args(Fault):
            return fault
        return (
            f"{self._path}: the translation of a text outside its content, such as a tip, {fault}"
        )


_READ = ("_content", "_passage")
