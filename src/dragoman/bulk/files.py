"""From files to a file: split, translate what is not finished yet, put together."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, NamedTuple

from dragoman.bulk.block_translator import BlockTranslator, Done
from dragoman.bulk.doubts import Doubts
from dragoman.bulk.file_format import Block
from dragoman.bulk.job import Job
from dragoman.bulk.partial_output import FinishedBlock, KeptParts, Rejection
from dragoman.bulk.unchanged import Unchanged
from dragoman.durable import beside, flush, follow_links, is_ordinary, open_whole, remove_unfinished

Distribute = Callable[[Job, KeptParts, Sequence[Block]], Iterator[Done]]
"""Has the blocks of a job translated and saved, in any order."""


class Progress(NamedTuple):
    """How far a job has come."""

    num_lines: int
    of: int
    warnings: Sequence[str] = ()
    """Of the block that was finished last; at the beginning and at the end, of the whole text."""

    engine: str | None = None
    """What computed it."""


def translate_files(job: Job, distribute: Distribute, tell: Callable[[Progress], None]) -> int:
    """Translate files, or continue doing so, until the output is complete.

    Args:
        job: What is translated, and to where.
        distribute: Who does it.
        tell: Called with the progress, at the beginning, after each block and at the end.

    Returns:
        How many lines were set aside.

    Raises:
        DragomanError: the input, the model or the output cannot be used; what is finished is kept.
    """
    unchanged = Unchanged(job.files.paths)
    blocks = job.files.cut(job.lines_per_block)
    parts = KeptParts(job.output, job.identity(), unchanged)
    with parts.claim():
        finished = parts.finished()
        num_lines = sum(block.num_lines for block in blocks)
        rest = [block for block in blocks if block.number not in finished]
        num_done = num_lines - sum(block.num_lines for block in rest)
        tell(Progress(num_done, num_lines, _doubts(job, blocks)))
        for done in distribute(job, parts, rest) if rest else ():
            num_done += done.num_lines
            tell(Progress(num_done, num_lines, done.warnings, done.engine))
        unchanged.check()
        with parts.kept_if_it_fails():
            num_rejected, warnings = _put_together(job, map(parts.load, blocks))
        tell(Progress(num_done, num_lines, warnings))
        for path in filter(is_ordinary, filter(None, (job.alignments, job.output))):
            flush(follow_links(path).parent)  # before what they could be made from again is deleted
        parts.remove()
    return num_rejected


def _doubts(job: Job, blocks: Iterable[Block]) -> list[str]:
    """Find out that a text is not the right one before somebody waits for its translation."""
    doubts = Doubts(job.translator.source_language, job.translator.load_glossary())
    for block in blocks:
        if not all(doubts.look_at(line.text or "") for line in job.files.read(block)):
            break
    return doubts.warnings()


def in_this_process(job: Job, parts: KeptParts, blocks: Sequence[Block]) -> Iterator[Done]:
    """Translate block after block."""
    return map(BlockTranslator(job, parts).translate, blocks)


def rejections_path(output: Path) -> Path:
    """Return the path of the file with the lines that were set aside."""
    return beside(output, ".rejected.jsonl")


def _put_together(job: Job, blocks: Iterable[FinishedBlock]) -> tuple[int, Sequence[str]]:
    """Write the output and what goes with it; the output gets its name last.

    Returns:
        How many lines were set aside, and what was not told before.
    """
    rejected: list[Rejection] = []
    path_of_rejected = rejections_path(job.output)
    for path in filter(None, (job.output, job.alignments, path_of_rejected)):
        remove_unfinished(path)
    with open_whole(job.output) as output:
        with nullcontext() if job.alignments is None else open_whole(job.alignments) as alignments:
            warnings = job.files.put_together(output, _output(blocks, alignments, rejected))
        if rejected:
            with open_whole(path_of_rejected) as file:
                file.writelines(map(_as_json, rejected))
        else:
            path_of_rejected.unlink(missing_ok=True)  # of an earlier output of this name
    return len(rejected), warnings


def _as_json(rejection: Rejection) -> bytes:
    """Write a line that people can read, with JSON escapes for what UTF-8 cannot hold."""
    text = json.dumps(asdict(rejection), ensure_ascii=False)
    return f"{text}\n".encode(errors="backslashreplace")


def _output(
    blocks: Iterable[FinishedBlock], alignments: BinaryIO | None, rejected: list[Rejection]
) -> Iterator[str]:
    """Yield what is written for each line; put alignments and rejections where they belong."""
    for block in blocks:
        if alignments is not None:
            alignments.write("".join(f"{links}\n" for links in block.alignments).encode())
        rejected.extend(block.rejected)
        yield from block.output
