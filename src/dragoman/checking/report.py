"""What a check found."""

from dataclasses import dataclass

PAGE = "docs/mistakes.md"
"""Explains every mistake, under its name as heading."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A mistake, or a peculiarity that works."""

    name: str
    """The name of the check, and the heading on the page."""

    finding: str
    """What is wrong, in one sentence."""

    measured: str
    """What was seen that shows it."""

    why: str
    """Why it matters."""

    section: str
    """Of Vaswani et al. 2017."""

    page: str


@dataclass(frozen=True, kw_only=True)
class PartReport:
    """What was found out about one part of the Transformer."""

    part: str
    found_as: str | None = None
    passed: tuple[str, ...] = ()
    mistakes: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    not_checked: tuple[str, ...] = ()
    """What could not be checked, each with its reason."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was found out about a file."""

    file: str
    parts: tuple[PartReport, ...]
    unknown: tuple[str, ...] = ()
    """Classes of the program that are none of the parts by their names."""

    output: str = ""
    """The end of what the program printed."""

    @property
    def num_mistakes(self) -> int:
        """Count the mistakes; notes are not mistakes."""
        return sum(len(part.mistakes) for part in self.parts)
