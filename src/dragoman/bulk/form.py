"""What is written for a line: a translation, or that it was set aside."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dragoman.bulk.file_format import Line
from dragoman.corpora.text_file import on_one_line

if TYPE_CHECKING:
    from dragoman.alignment.links import Alignment
    from dragoman.translation import Translation

Form = Literal["text", "scores", "list", "json"]
"""`text` is the translation alone, `list` the n-best list of Moses, `json` all there is."""


class Translated(NamedTuple):
    """A line that was translated."""

    translation: "Translation"
    alignment: "Alignment | None" = None
    """Of its words, if that was asked for."""


class Rejected(NamedTuple):
    """A line that was set aside."""

    reason: str


Outcome = Translated | Rejected

Write = Callable[[int, Line, Outcome], str]
"""(number of the line from 0, the line, its outcome) -> what is written."""


def _as_text(number: int, line: Line, outcome: Outcome) -> str:
    text = "" if isinstance(outcome, Rejected) else outcome.translation.text
    return text + (line.ending or ("" if text else "\n"))  # a last line keeps its place, too


def _with_score(number: int, line: Line, outcome: Outcome) -> str:
    if isinstance(outcome, Rejected):
        return f"\t-inf{line.ending}"
    translation = outcome.translation
    return f"{on_one_line(translation.text)}\t{translation.score:.4f}{line.ending}"


def _as_list(number: int, line: Line, outcome: Outcome) -> str:
    """Write the n-best list in the format of Moses, with bars within a text escaped."""
    if isinstance(outcome, Rejected):
        return f"{number} |||  ||| -inf\n"
    written = (
        (on_one_line(each.text).replace("|||", "&#124;&#124;&#124;"), each.score)
        for each in outcome.translation.alternatives
    )
    return "".join(f"{number} ||| {text} ||| {score:.4f}\n" for text, score in written)


def _as_json(number: int, line: Line, outcome: Outcome) -> str:
    table = {"line": number + 1, "source": line.text, **_table(outcome)}
    return json.dumps(table, ensure_ascii=False) + "\n"


def _table(outcome: Outcome) -> dict[str, Any]:
    """Return everything that is known about a translation."""
    if isinstance(outcome, Rejected):
        return {"text": "", "rejected": outcome.reason}
    translation, alignment = outcome
    table = {
        "text": translation.text,
        "score": translation.score,
        "confidence": translation.confidence,
        "finished": translation.finished,
        "cut": translation.cut,
        "faults": translation.faults,
        "parts": translation.parts,
        "alternatives": [
            vars(alternative) | {"confidence": alternative.confidence}
            for alternative in translation.alternatives
        ],
    }
    if alignment is not None:
        table |= {
            "source_words": alignment.source_words,
            "target_words": alignment.target_words,
            "alignment": sorted(alignment.links),
        }
    return table


WRITERS: dict[Form, Write] = {
    "text": _as_text,
    "scores": _with_score,
    "list": _as_list,
    "json": _as_json,
}
"""What writes a line in each form."""


def value_of(line: Line, outcome: Outcome) -> str | None:
    """Return the translation of a text in a record, if there is one."""
    if line.text is None or isinstance(outcome, Rejected):
        return None
    return outcome.translation.text


def warnings_of(line: Line, outcome: Outcome) -> Sequence[str]:
    """Say at once what a reader of the translation should know."""
    if isinstance(outcome, Rejected):
        return (f"{line.place}: set aside, as {outcome.reason}",)
    translation, alignment = outcome
    found = [] if line.is_piece else doubts_of(line, translation)
    if alignment is not None and not alignment.complete:
        found.append(f"{line.place}: too long to be aligned as a whole, so links are missing")
    return found


def doubts_of(line: Line, translation: "Translation") -> list[str]:
    """Say what seems to be wrong with a translation."""
    found = []
    if translation.cut:
        found.append(
            "a sentence has more tokens than the model has seen, so it was cut, and its pieces "
            "were translated separately"
        )
    found += [f"the translation {fault}" for fault in translation.faults]
    if not translation.finished:
        found.append("the translation stopped at the length limit")
    return [f"{line.place}: {warning}" for warning in found]
