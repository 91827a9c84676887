"""Read a block, translate it, save it: what every process does, wherever it runs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dragoman.bulk.attempts import DIED_ALONE, Attempt, Attempts
from dragoman.bulk.file_format import Block, Line
from dragoman.bulk.form import Outcome, Rejected, Translated, warnings_of
from dragoman.bulk.job import Job
from dragoman.bulk.partial_output import FinishedBlock, KeptParts, Rejection
from dragoman.model_directory import ModelError

if TYPE_CHECKING:
    from dragoman.alignment.aligner import Aligner
    from dragoman.translator import Translator


class Done(NamedTuple):
    """A block was finished."""

    num_lines: int
    warnings: list[str]
    engine: str
    """What computed it."""


class BlockTranslator:
    """Translates blocks of a job in one process.

    A line that cannot be translated is set aside, and the others are delivered: one that raises an
    exception, and one on which a process dies, twice among others and once alone.

    Args:
        job: What is translated.
        parts: Where it is kept.
    """

    def __init__(self, job: Job, parts: KeptParts) -> None:
        self._job, self._parts = job, parts
        self._attempts = Attempts(parts.path, parts.run)
        self._has_translated = False

    def translate(self, block: Block) -> Done:
        """Translate a block, unless that was done before, and save it.

        Raises:
            DragomanError: the model cannot be used, or no line of the block can be translated, or
                the block cannot be saved.
        """
        if self._parts.has(block.number):  # whoever did it died before it could say so
            finished = self._parts.load(block)
        else:
            with self._parts.kept_if_it_fails():
                attempt = self._attempts.begin(block)
            self._load()
            lines = self._job.files.read(block)
            finished = self._finish(block, lines, self._translate(block, attempt, lines))
            self._parts.save(block.number, finished)
            self._attempts.end(block)
        return Done(block.num_lines, finished.warnings, self._load())

    def _load(self) -> str:
        """Load the model, unless that was done before, and name what computes."""
        if self._aligner is not None:
            self._aligner.check()
        return self._translator.engine

    def _translate(self, block: Block, attempt: Attempt, lines: list[Line]) -> Sequence[Outcome]:
        """Translate the lines together, or fewer at a time if that fails."""
        if attempt.line_by_line:
            return self._one_by_one(block, attempt, lines)
        outcomes = self._in_halves(lines)
        if self._is_of_all(lines, outcomes):
            return self._together(lines)  # which fails again, and says why
        return outcomes

    def _in_halves(self, lines: Sequence[Line]) -> list[Outcome]:
        """Translate lines; if that fails, each half of them, down to the lines to blame."""
        try:
            return [*self._together(lines)]
        except ModelError:  # no line is to blame
            raise
        except Exception as error:
            if len(lines) == 1:
                return [Rejected(f"it fails with {type(error).__name__}: {error}")]
        middle = len(lines) // 2  # here, as the error holds on to what was computed
        return self._in_halves(lines[:middle]) + self._in_halves(lines[middle:])

    def _together(self, lines: Sequence[Line]) -> list[Translated]:
        translations = list(self._translator.translate(line.text or "" for line in lines))
        if self._aligner is None:
            found = [Translated(each) for each in translations]
        else:
            aligned = self._aligner.align_translations(translations)
            found = list(map(Translated, translations, aligned))
        self._has_translated = True
        return found

    def _one_by_one(self, block: Block, attempt: Attempt, lines: list[Line]) -> list[Outcome]:
        """Find the lines on which processes die."""
        outcomes: list[Outcome] = []
        for i, line in enumerate(lines):
            if i in attempt.rejected:
                outcomes.append(Rejected(DIED_ALONE))
                continue
            self._note(block, replace(attempt, alone=i))
            outcomes += self._in_halves([line])
        self._note(block, attempt)
        return outcomes

    def _note(self, block: Block, attempt: Attempt) -> None:
        with self._parts.kept_if_it_fails():
            self._attempts.note(block, attempt)

    def _is_of_all(self, lines: Sequence[Line], outcomes: Sequence[Outcome]) -> bool:
        """Tell whether an error is about the model or the machine, because every line has it."""
        with_text = [
            outcome
            for line, outcome in zip(lines, outcomes, strict=True)
            if line.text and line.text.strip()
        ]
        all_failed = all(isinstance(outcome, Rejected) for outcome in with_text)
        return all_failed and (len(with_text) > 1 or not self._has_translated)

    def _finish(
        self, block: Block, lines: Sequence[Line], outcomes: Sequence[Outcome]
    ) -> FinishedBlock:
        """Write the outcome of each line."""
        from dragoman.alignment.links import write_pharaoh

        finished = FinishedBlock(output=[], alignments=[], rejected=[], warnings=[])
        for i, (line, outcome) in enumerate(zip(lines, outcomes, strict=True)):
            number = block.first_line + i
            finished.output.append(self._job.files.write(number, line, outcome))
            finished.warnings.extend(warnings_of(line, outcome))
            if isinstance(outcome, Rejected):
                finished.rejected.append(
                    Rejection(
                        place=line.place,
                        line=number + 1,
                        text=line.text or "",
                        reason=outcome.reason,
                    )
                )
            if self._job.alignments is not None:
                alignment = outcome.alignment if isinstance(outcome, Translated) else None
                links = frozenset() if alignment is None else alignment.links
                finished.alignments.append(write_pharaoh(links))
        return finished

    @cached_property
    def _translator(self) -> "Translator":
        translator = self._job.translator.load()
        self._parts.check_identity(self._job.translator.checksums())
        return translator

    @cached_property
    def _aligner(self) -> "Aligner | None":
        if self._job.alignments is None:
            return None
        from dragoman.alignment.aligner import Aligner

        return Aligner(self._job.translator.model)
