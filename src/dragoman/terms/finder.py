"""What is looked for in the sources, and then in their translations."""

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.faults import Fault
from dragoman.terms.glossary import Glossary
from dragoman.terms.protected import find_protected
from dragoman.terms.term import Term, find_term_faults


@dataclass(frozen=True, kw_only=True)
class TermFinder:
    """Finds what a translation must keep, and tells whether it does."""

    protects: bool = True
    """Whether placeholders, numbers and addresses stay as they are."""

    glossary: Glossary | None = None

    def find(self, source: str) -> list[Term]:
        """Find the terms of a source, in order; none overlaps another, protected ones go first."""
        protected = find_protected(source) if self.protects else []
        prescribed = self.glossary.find(source) if self.glossary else []
        free = [
            term
            for term in prescribed
            if not any(term.start < other.end and other.start < term.end for other in protected)
        ]
        return sorted(protected + free, key=lambda term: term.start)

    def find_faults(self, required: Sequence[Term], translation: str) -> tuple[Fault, ...]:
        """Name what a translation did not keep of the terms of its source."""
        kept = find_protected(translation) if self.protects else []
        return find_term_faults(required, kept, translation)
