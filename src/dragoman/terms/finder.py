"""What is looked for in sources, and then in their translations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from dragoman.faults import Fault
from dragoman.languages.scripts import letters_outside
from dragoman.terms.glossary import Glossary
from dragoman.terms.protected import find_protected
from dragoman.terms.term import PRESCRIBABLE, Term, find_term_faults


@dataclass(frozen=True, kw_only=True)
class TermFinder:
    """Finds what a translation must keep, and tells whether it does."""

    protects: bool = True
    """Whether placeholders, addresses, codes, numbers, signs and words of other scripts stay as
    they are."""

    glossary: Glossary | None = None

    languages: tuple[str, str] | None = None
    """Words in the scripts of these languages are translated; without any, words in all scripts
    are. Latin letters occur in texts of all languages, in names and codes."""

    @classmethod
    def load(
        cls, languages: tuple[str, str], *, protects: bool, glossary: str | Path | None
    ) -> "TermFinder":
        """Read the glossary, if one is named.

        Raises:
            CorpusError: the glossary cannot be used.
        """
        terms = cls(protects=protects, languages=languages)
        if not glossary:
            return terms
        find_protected = terms.find_protected
        read = Glossary.load(Path(glossary), languages=languages, find_protected=find_protected)
        return replace(terms, glossary=read)

    @cached_property
    def _foreign_letter(self) -> re.Pattern[str] | None:
        return letters_outside("en", *self.languages) if self.languages else None

    def find(self, source: str) -> list[Term]:
        """Find the terms of a source, in order; none overlaps another.

        Protected ones take precedence, except for codes, numbers, signs and words in other scripts
        within a term of the glossary, as in "type 2 diabetes": it prescribes how these are written.
        """
        protected = self.find_protected(source)
        if self.glossary is None:
            return protected
        prescribed = [
            term
            for term in self.glossary.find(source)
            if all(_apart(term, other) or _prescribes(term, other) for other in protected)
        ]
        kept = [term for term in protected if not any(_prescribes(p, term) for p in prescribed)]
        return sorted(kept + prescribed, key=lambda term: term.start)

    def find_capitals(self, source: str) -> list[Term]:
        """Find what would be lost in small letters: what stays as it is, and acronyms."""

        def is_acronym(term: Term) -> bool:
            in_small_letters = self.find(source[term.start : term.end].lower())
            return [each.writings[0] for each in in_small_letters] != [term.writings[0]]

        acronyms = [
            term for term in self.find(source) if term.kind == "glossary" and is_acronym(term)
        ]
        others = [
            term
            for term in self.find_protected(source)
            if all(_apart(term, acronym) for acronym in acronyms)
        ]
        return sorted(acronyms + others, key=lambda term: term.start)

    def find_faults(self, required: Sequence[Term], translation: str) -> tuple[Fault, ...]:
        """Name the terms of the source that a translation did not keep."""
        return find_term_faults(required, self.find_protected(translation), translation)

    def find_protected(self, text: str) -> list[Term]:
        """Find what stays as it is, in order."""
        if not self.protects:
            return []
        return find_protected(text, self._foreign_letter, languages=self.languages or ())


def _apart(one: Term, other: Term) -> bool:
    return one.end <= other.start or other.end <= one.start


def _prescribes(prescribed: Term, protected: Term) -> bool:
    """Tell whether a glossary term prescribes how what stays is written in it."""
    return (
        protected.kind in PRESCRIBABLE
        and prescribed.start <= protected.start
        and protected.end <= prescribed.end
    )
