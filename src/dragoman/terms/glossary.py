"""Terms whose translation is prescribed."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.spreadsheet import is_heading
from dragoman.corpora.text_file import CorpusError
from dragoman.languages.casing import in_capitals, in_small_letters, with_capital
from dragoman.languages.scripts import STACKERS, mark_pattern
from dragoman.terms.term import (
    PRESCRIBABLE,
    WORD_CHARACTER,
    Term,
    is_acronym,
    is_of_word,
    straight,
)
from dragoman.tokenizers.normalisation import learnable

MOST_LINES_NAMED = 20
"""How many more terms with an empty side are named by their lines."""


class Glossary:
    """Terms of the source language, each with one or more translations.

    A term is found where it occurs as whole words, in upper or lower case, with straight or curly
    apostrophes; in scripts without spaces, wherever its letters occur. A single word in capitals is
    found only in capitals. Of overlapping terms the first counts, and of those that begin together
    the longest.

    Attributes:
        preferred: The preferred translation of each term, both as they were given.
    """

    def __init__(
        self,
        translations: Mapping[str, tuple[str, ...]],
        *,
        languages: tuple[str, str] = ("en", "en"),
    ) -> None:
        """Take the translations of each term, the preferred one first.

        Args:
            translations: The translations of each term.
            languages: Of terms and translations; they decide what the capitals of letters are.
        """
        self._source_language, self._target_language = languages
        self.preferred = {source: targets[0] for source, targets in translations.items()}
        self._translations: dict[str, tuple[str, ...]] = {}
        for source, targets in translations.items():
            key = source if is_acronym(source) else self._key(source)
            self._translations[key] = (*self._translations.get(key, ()), *targets)
        longest_first = sorted(map(learnable, translations), key=len, reverse=True)
        patterns = [_any_of(bounds, terms) for bounds, terms in groupby(longest_first, _bounds)]
        # A mark belongs to the letter before it: no term ends there, but a shorter one may before.
        any_term = f"(?:{'|'.join(patterns) or '(?!)'})(?!{mark_pattern()})"
        self._pattern = re.compile(any_term, re.IGNORECASE)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        languages: tuple[str, str],
        find_protected: Callable[[str], Sequence[Term]],
    ) -> "Glossary":
        """Read a file of terms, one per line: source TAB target.

        A term on several lines may be translated in each of these ways.

        Raises:
            CorpusError: the file cannot be read or has a header, a side of a line is empty, or a
                term or its translation contains something that stays as it is, so that it would
                never count.
        """
        translations: dict[str, tuple[str, ...]] = {}
        unfinished: list[tuple[int, str]] = []
        for pair in read_pairs(CorpusConfig(path=str(path)), languages=languages):
            if is_heading(pair, languages):
                raise CorpusError(
                    f"{path}:{pair.line}: {pair.source} and {pair.target} look like a heading, and "
                    "would be used like any other term; remove the line"
                )
            source, target = learnable(pair.source), learnable(pair.target)
            if not source or not target:
                unfinished.append((pair.line, "target" if source else "source"))
                continue
            for kept in find_protected(source):
                if kept.kind not in PRESCRIBABLE:
                    raise CorpusError(
                        f"{path}:{pair.line}: the term {source!r} would never be used, as "
                        f"{source[kept.start : kept.end]} in it is protected before any glossary "
                        "applies; remove the line, or write only the words beside it"
                    )
            for new in find_protected(target):
                if new.kind not in PRESCRIBABLE:
                    raise CorpusError(
                        f"{path}:{pair.line}: the translation {target!r} of this term is never "
                        f"written, as no translation has {target[new.start : new.end]} unless its "
                        "source does; remove the line, or write only words"
                    )
            translations[source] = (*translations.get(source, ()), target)
        _refuse_empty_sides(path, unfinished)
        return cls(translations, languages=languages)

    def reversed(self) -> "Glossary":
        """Return the glossary of the preferred translations, which translates them back."""
        return Glossary(
            {target: (source,) for source, target in self.preferred.items()},
            languages=(self._target_language, self._source_language),
        )

    def find(self, text: str) -> list[Term]:
        """Find the terms in a text, in order."""
        return [
            Term(
                kind="glossary",
                start=found.start(),
                end=found.end(),
                writings=self._cased(targets, found.group()),
            )
            for found in self._pattern.finditer(text)
            if (targets := self._look_up(found.group()))  # the pattern takes ı for i
            and not _continues(text, found.start())
        ]

    def _look_up(self, found: str) -> tuple[str, ...]:
        """Return the translations of a term, which are others of US than of us."""
        of_acronym = self._translations.get(learnable(found), ())
        return of_acronym or self._translations.get(self._key(found), ())

    def _key(self, term: str) -> str:
        """Undo what the pattern allows: another case, white space or apostrophe, marks apart."""
        return straight(in_small_letters(learnable(term), self._source_language))

    def _cased(self, targets: tuple[str, ...], found: str) -> tuple[str, ...]:
        """Allow a translation to begin a sentence, or to be in capitals as the source is."""
        language = self._target_language
        writings = [*targets, *(with_capital(target, language) for target in targets)]
        if found.isupper() and len(found) > 1:
            writings += [in_capitals(target, language) for target in targets]
        return tuple(dict.fromkeys(writings))


def _bounds(term: str) -> tuple[bool, bool]:
    """Tell whether a word could continue before a term, and after it."""
    return is_of_word(term[0]), is_of_word(term[-1])


def _refuse_empty_sides(path: Path, terms: Sequence[tuple[int, str]]) -> None:
    """Name the lines of terms with an empty side, all at once, as a file may have many.

    Args:
        path: The file.
        terms: For each such term its line, and which side is empty.

    Raises:
        CorpusError: there is such a term.
    """
    if not terms:
        return
    (line, side), *others = terms
    what = f"{path}:{line}: the {side} of this term is empty"
    if not others:
        raise CorpusError(f"{what}; fill it in, or remove the line")
    lines = [f"{number}" for number, _ in others[:MOST_LINES_NAMED]]
    if len(others) > MOST_LINES_NAMED:
        lines.append("…")
    raise CorpusError(
        f"{what}, and a side of {len(others):,} more (line {', '.join(lines)}); "
        "fill them in, or remove the lines"
    )


def _any_of(bounds: tuple[bool, bool], terms: Iterable[str]) -> str:
    """Write a pattern for terms with the same bounds that are not parts of longer words or numbers.

    They share the lookaround for the neighbouring characters, which takes much longer to compile
    than a term.
    """
    before, after = bounds
    return (
        (rf"(?<!{WORD_CHARACTER})(?<!\d[.,:/-](?=\d))" if before else "")
        + f"(?:{'|'.join(map(_words, terms))})"
        + (rf"(?!{WORD_CHARACTER}|(?<=\d)[.,:/-]\d)" if after else "")
    )


def _words(term: str) -> str:
    """Write a pattern for a term in any case; one for an acronym finds IT, but not *it*."""
    pattern = r"\s+".join(map(_composed_or_not, term.split()))
    return f"(?-i:{pattern})" if is_acronym(term) else pattern


def _continues(text: str, start: int) -> bool:
    """Tell whether a word continues at a part of a text, as it does behind the mark of a letter.

    Patterns do not count marks, such as accents and vowel signs, as part of words. In scripts
    without spaces any word may begin behind one.
    """
    before = text[start - 1 : start]
    return before in STACKERS or (is_of_word(before) and is_of_word(text[start]))


def _composed_or_not(word: str) -> str:
    """Write a pattern for a word whose marks may follow their letters (Unicode NFD).

    Its apostrophes may be straight or curly, as editors exchange them while people type.
    """
    decomposed = unicodedata.normalize("NFD", word)
    ways = [word] if word == decomposed else [word, decomposed]
    pattern = straight("|".join(map(re.escape, ways))).replace("'", "['\u2019]")
    return f"(?:{pattern})"
