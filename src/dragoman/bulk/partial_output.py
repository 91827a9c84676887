"""What is kept beside an incomplete output: `out.txt.part/`.

Each block is kept in a file of its own, which is on the disk as a whole or not at all. So there is
no journal to repair: what is there is finished. When all files are there, they are put together.
"""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from dragoman.bulk.file_format import Block, BulkError
from dragoman.bulk.unchanged import Unchanged
from dragoman.durable import beside, follow_links, write_atomically
from dragoman.errors import DragomanError

JOB = "job.json"
LOCK = ".lock"

_OURS = re.compile(r"\.?(\d{9}[-.]|job\.json\.)")
"""What may be there without `job.json`, after a kill while everything was deleted or started."""

_IN_THE_WAY = "it was not made by a translation, and this one would keep its parts there"


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """A line that was set aside."""

    place: str
    line: int
    """From 1, through all files."""

    text: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class FinishedBlock:
    """The outcome of a block."""

    output: list[str]
    """What is written for each line; for a table, its values as JSON."""

    alignments: list[str]
    rejected: list[Rejection]
    warnings: list[str]


class KeptParts:
    """The directory of finished blocks of one job.

    Args:
        output: The file that they will become.
        identity: What determines its content; see `Job.identity`.
        unchanged: The files of that identity. What was made from others is not kept.
    """

    def __init__(self, output: Path, identity: dict[str, str], unchanged: Unchanged) -> None:
        self.path = beside(follow_links(output), ".part")
        self.run = uuid4().hex
        """A name of this run of the command, in all of its processes."""

        self._output = output
        self._identity, self._unchanged = identity, unchanged
        content = json.dumps(identity, sort_keys=True).encode()
        self._of_job = sha256(content).hexdigest()[:8]
        """Part of the names of blocks, so that none is ever taken for one of another job."""

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Start the job, or continue it; keep other processes out.

        Raises:
            BulkError: another process is working on it, or what is kept is from another job.
            DragomanError: the directory cannot be made.
        """
        try:
            self.path.mkdir(exist_ok=True)
        except FileExistsError:
            raise BulkError(f"{self.path}: {_IN_THE_WAY}; move it away") from None
        except OSError as error:
            raise DragomanError(f"{self._output}: cannot be written: {error.strerror}") from error
        lock = FileLock(self.path / LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise BulkError(
                f"{self._output}: another process is translating to it; wait or stop it"
            ) from None
        try:
            with self.kept_if_it_fails():
                self._recognise()
            try:
                yield
            except BaseException:
                if not any(self._blocks()):
                    self.remove()
                raise
        finally:
            lock.release()

    def finished(self) -> set[int]:
        """List the blocks that are finished, by number."""
        return {int(path.name.partition("-")[0]) for path in self._blocks()}

    def has(self, number: int) -> bool:
        """Tell whether a block is finished."""
        return self._place(number).exists()

    def save(self, number: int, block: FinishedBlock) -> None:
        """Save a block that was just made; it is on the disk when this returns.

        Raises:
            BulkError: there is no room for it, or the input has changed, perhaps before it was
                read.
        """
        self._unchanged.check()
        with self.kept_if_it_fails():
            write_atomically(self._place(number), json.dumps(asdict(block)))

    @contextmanager
    def kept_if_it_fails(self) -> Iterator[None]:
        """If something cannot be written, say how to continue.

        Raises:
            BulkError: something could not be written.
        """
        try:
            yield
        except OSError as error:
            raise BulkError(
                f"{self._output}: cannot be written: {error.strerror}; what is finished is kept in "
                f"{self.path.name}: make space and run the same command again"
            ) from error

    def check_identity(self, now: dict[str, str]) -> None:
        """Make sure that something is as it was at the beginning.

        Args:
            now: Part of what determines the content, as it is now.

        Raises:
            BulkError: it is not.
        """
        if changed := [name for name in now if now[name] != self._identity.get(name, "none")]:
            raise BulkError(
                f"{self._output}: {' and '.join(changed)} changed while it was translated; "
                "undo the change and run the command again"
            )

    def load(self, block: Block) -> FinishedBlock:
        """Read a block that is finished.

        Raises:
            BulkError: it is damaged.
        """
        path = self._place(block.number)
        try:
            table = json.loads(path.read_bytes())
            table["rejected"] = [Rejection(**each) for each in table["rejected"]]
            finished = FinishedBlock(**table)
            is_whole = len(finished.output) == block.num_lines
        except (ValueError, TypeError, KeyError):
            is_whole = False
        if not is_whole:
            raise BulkError(f"{path}: it is damaged; delete it and run the command again")
        return finished

    def remove(self) -> None:
        """Delete everything; the output is complete, or nothing is worth keeping.

        The lock goes last: a process that finds none may start anew.
        """
        with suppress(OSError):
            for path in self.path.iterdir():
                if path.name != LOCK:
                    path.unlink()
        shutil.rmtree(self.path, ignore_errors=True)

    def _place(self, number: int) -> Path:
        return self.path / f"{number:09}-{self._of_job}.json"

    def _blocks(self) -> Iterator[Path]:
        return self.path.glob(f"*-{self._of_job}.json")

    def _recognise(self) -> None:
        """Compare the job with the one whose parts are kept, if there are any."""
        path = self.path / JOB
        if not path.exists():
            names = [found.name for found in self.path.iterdir()]
            if strange := [name for name in names if name != LOCK and not _OURS.match(name)]:
                raise BulkError(f"{self.path / strange[0]}: {_IN_THE_WAY}; move it away")
        elif (before := self._described()) == self._identity:
            return
        elif any(self.path.glob("*-*.json")):  # otherwise it was killed before any was finished
            names = sorted({*before, *self._identity})
            changed = [name for name in names if before.get(name) != self._identity.get(name)]
            raise BulkError(
                f"{self._output}: {self.path.name} keeps an unfinished translation that differs in "
                f"{', '.join(_tell(name, before, self._identity) for name in changed)}; undo the "
                f"change to go on with it, or delete {self.path} to begin anew"
            )
        write_atomically(path, json.dumps(self._identity, indent=1))

    def _described(self) -> dict[str, str]:
        """Read which job the parts belong to."""
        path = self.path / JOB
        try:
            described = json.loads(path.read_bytes())
        except ValueError:
            described = None
        if not isinstance(described, dict):
            raise BulkError(f"{path}: it is damaged; delete {self.path} to begin anew")
        return described


def _tell(name: str, before: dict[str, str], now: dict[str, str]) -> str:
    """Say what has changed, with both values if a person can read them."""
    old, new = before.get(name, "none"), now.get(name, "none")
    is_readable = max(len(old), len(new)) < sha256().digest_size * 2
    return f"{name} ({old} before, {new} now)" if is_readable else name
