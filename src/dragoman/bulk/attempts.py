"""Which block a process was working on when it died: a note that outlives it.

A process that dies leaves no exception. But the next one that gets the block finds the note, so it
knows how often that has happened, and which line the last one was translating alone.
"""

import contextlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dragoman.bulk.file_format import Block, BulkError

WHOLE = 2
"""How often a block is tried as a whole; if a process dies once, a person may have killed it."""

DIED_ALONE = f"the process that translated it died: {WHOLE} times among other lines, then alone"

MOST = 20
"""If so many processes die on one block, it is not the text's fault."""


@dataclass(kw_only=True)
class Attempt:
    """How a block has been tried so far."""

    run: str
    """The run of the command that made it; if all of that was killed, nobody knows why."""

    begun: int = 0
    """How often it was started; every time but the last, the process died."""

    alone: int | None = None
    """The line of the block that is translated by itself, because processes died on the block."""

    rejected: list[int] = field(default_factory=list)
    """Lines of the block, by number from 0, on which a process died when they were alone."""

    @property
    def line_by_line(self) -> bool:
        """Whether it is time to find out which line it is."""
        return self.begun > WHOLE


class Attempts:
    """The notes of one run of a job.

    Args:
        directory: Where they are kept; every process can read it.
        run: A name that no other run has.
    """

    def __init__(self, directory: Path, run: str) -> None:
        self._directory, self._run = directory, run

    def begin(self, block: Block) -> Attempt:
        """Note that a block is started, and return what is known about it.

        Raises:
            BulkError: too many processes have died on it.
        """
        attempt = self._read(block)
        if attempt.begun == MOST:
            first = block.first_line + 1
            raise BulkError(
                f"lines {first} to {first + block.num_lines - 1}: {MOST} processes died while they "
                "translated them, whatever the line; too little memory may be the reason"
            )
        if attempt.alone is not None:
            attempt.rejected.append(attempt.alone)
            attempt.alone = None
        attempt.begun += 1
        self.note(block, attempt)
        return attempt

    def note(self, block: Block, attempt: Attempt) -> None:
        """Record how far an attempt has come."""
        self._place(block).write_text(json.dumps(asdict(attempt)), encoding="utf-8")

    def end(self, block: Block) -> None:
        """Forget a block that is finished."""
        self._place(block).unlink(missing_ok=True)

    def _place(self, block: Block) -> Path:
        return self._directory / f"{block.number:09}.attempt"

    def _read(self, block: Block) -> Attempt:
        # There may be none, or one that a kill has left unfinished: then counting begins anew.
        with contextlib.suppress(FileNotFoundError, ValueError, TypeError):
            attempt = Attempt(**json.loads(self._place(block).read_bytes()))
            if attempt.run == self._run:
                return attempt
        return Attempt(run=self._run)
