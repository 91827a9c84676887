"""Translation of text as it arrives: nothing is kept, and each line is answered soon."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dragoman.batched import batched
from dragoman.bulk.document_file import DocumentFile
from dragoman.bulk.doubts import Doubts
from dragoman.bulk.file_format import LINES_PER_BLOCK, BulkError, Line
from dragoman.bulk.form import Translated, Write, warnings_of
from dragoman.bulk.plain_text import read_stream
from dragoman.durable import open_whole

if TYPE_CHECKING:
    from dragoman.translation import Translation
    from dragoman.translator import Translator

ALIGNED_AT_ONCE = 256

Align = Callable[[Iterator["Translation"]], Iterator[Translated]]
"""Yields translations with their alignments, or without if nobody asked for them."""


@contextmanager
def open_alignments(model: Path, path: Path | None) -> Iterator[Align]:
    """Prepare to align translations and to write a line for each, if a file is named.

    The model is loaded once more, to align whichever engine translates.
    """
    if path is None:
        yield partial(map, Translated)
        return
    from dragoman.alignment.aligner import Aligner
    from dragoman.alignment.links import write_pharaoh

    aligner = Aligner(model)
    aligner.check()
    with open_whole(path) as file:

        def align(translations: Iterator["Translation"]) -> Iterator[Translated]:
            for block in batched(translations, ALIGNED_AT_ONCE):
                found = aligner.align_translations(block)
                for translation, alignment in zip(block, found, strict=True):
                    file.write(f"{write_pharaoh(alignment.links)}\n".encode())
                    yield Translated(translation, alignment)

        yield align


def read_chunks(paths: tuple[Path, ...]) -> Iterator[list[Line]]:
    """Read the lines of files, or of standard input, as they become available.

    Raises:
        BulkError: there is no standard input.
        CorpusError: a line is not text.
    """
    if not paths:
        if sys.stdin is None:  # closed by the process that started us
            raise BulkError("standard input is closed; name a file")
        yield from read_stream(sys.stdin.buffer, "standard input")
    for number, path in enumerate(paths, start=1):
        with path.open("rb") as stream:
            yield from read_stream(stream, str(path), last=number == len(paths))


def translate_stream(
    translator: "Translator",
    chunks: Iterable[list[Line]],
    write: Write,
    stream: BinaryIO,
    align: Align,
) -> Iterator[str]:
    """Translate and write chunk after chunk; yield the warnings."""
    number, doubts = 0, Doubts(translator.source_language, translator.glossary)
    for lines in chunks:
        translations = translator.translate(line.text or "" for line in lines)
        for line, translated in zip(lines, align(translations), strict=True):
            stream.write(write(number, line, translated).encode())
            number += 1
            doubts.look_at(line.text or "")
            yield from warnings_of(line, translated)
        stream.flush()
    yield from doubts.warnings()


def translate_document(
    translator: "Translator", document: DocumentFile, stream: BinaryIO
) -> Iterator[str]:
    """Translate a file as a whole, and write it; yield the warnings."""
    written: list[str] = []
    doubts = Doubts(translator.source_language, translator.glossary)
    for block in document.cut(LINES_PER_BLOCK):
        lines = document.read(block)
        translations = translator.translate(line.text or "" for line in lines)
        for line, translation in zip(lines, translations, strict=True):
            written.append(document.write(len(written), line, Translated(translation)))
            doubts.look_at(line.text or "")
    yield from document.put_together(stream, written)
    yield from doubts.warnings()
