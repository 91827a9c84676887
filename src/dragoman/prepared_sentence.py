"""What a model is shown of a sentence, and how its translation is written."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

from dragoman.confidence import Word
from dragoman.languages.codes import base_language
from dragoman.terms.capitals import (
    has_capitals_alone,
    is_in_capitals,
    with_capitals,
    with_small_letters,
)
from dragoman.terms.finder import TermFinder
from dragoman.terms.term import Term, cut_at_terms
from dragoman.tokenizers.normalisation import visible
from dragoman.tokenizers.sentences import cut_margins

WITH_ANOTHER_I = frozenset({"tr", "tur", "az", "aze"})
"""Languages in which the small letter of I is not i."""


@dataclass(frozen=True)
class PreparedSentence:
    """What a model is shown of a sentence, or writes of a translation, and what is around it."""

    content: str
    _: KW_ONLY
    terms: TermFinder
    """Finds what stays as it is."""

    before: str = ""
    after: str = ""
    in_capitals: bool = False
    """Whether the content is written in capitals, though a model reads and writes small letters."""

    stays: bool = False
    """Whether all of it stays as it is, so that a model is not asked."""

    def write(self, text: str) -> str:
        """Write what was shown or translated as the sentence was written: in capitals, if it was.

        A text may be written twice.
        """
        return with_capitals(text, self.terms.find_protected(text)) if self.in_capitals else text

    def surround(self, text: str) -> str:
        """Write a translation of the content as one of the sentence."""
        return self.before + self.write(text).strip() + self.after

    def surround_words(self, words: Sequence[Word]) -> list[Word]:
        """Write the words of the content as those of the sentence; what is around it is sure."""
        written = self.surround(" ".join(word.text for word in words)).split()
        start = len(self.before.split())
        if words and self.before and not self.before[-1].isspace():
            start -= 1  # the first word goes on there
        inside = range(start, start + len(words))
        return [
            Word(text=text, confidence=words[i - start].confidence if i in inside else 1.0)
            for i, text in enumerate(written)
        ]

    def read(self, translation: str) -> "PreparedSentence":
        """Find in a translation of the sentence what a model writes of it.

        Where it has not the capitals of the sentence, or all that stands before or behind that,
        these are part of the content. What is read from capitals has no others than the first:
        which there were, nobody knows.
        """
        found = self.read_beginning(translation)
        end = " ".join(self.after.split())
        if not (end and found.content.endswith(end)):
            return found
        content = found.content.removesuffix(end).rstrip()
        return replace(found, content=content, after=found.content[len(content) :])

    def read_beginning(self, prefix: str) -> "PreparedSentence":
        """Find in the beginning of a translation what a model writes of it, as `read` does.

        What stands at its end is part of the content: there, nobody knows what is to come.
        """
        words = prefix.split()
        if self.stays and words == self.content.split():
            return PreparedSentence("", terms=self.terms, before=prefix, stays=True)
        if self.stays or not self.terms.protects:
            return PreparedSentence(prefix, terms=self.terms)
        if self.before.split()[: len(words)] == words:
            return PreparedSentence("", terms=self.terms, before=prefix)
        before, content = _cut_beginning(prefix, self.before)
        found = PreparedSentence(" ".join(content.split()), terms=self.terms, before=before)
        if self.in_capitals and has_capitals_alone(content, self.terms.find_protected(content)):
            return _in_small_letters(found) or found
        return found

    def continue_from(self, begun: "PreparedSentence") -> "PreparedSentence":
        """Tell how a translation is written that begins so: what the beginning lacks stays away."""
        if not begun.content:
            return self
        return replace(self, before=begun.before, in_capitals=begun.in_capitals)

    def is_over(self, begun: "PreparedSentence") -> bool:
        """Tell whether a beginning ends in a word that stands only behind the sentence."""
        last = set(begun.content.split()[-1:])
        return not last.isdisjoint(self.after.split()) and last.isdisjoint(self.content.split())


def prepare(text: str, terms: TermFinder, languages: tuple[str, str]) -> PreparedSentence:
    """Choose what a model is shown of a sentence.

    Where terms are protected, that is nothing of what surrounds the sentence and says nothing, as
    emoji and the marks of lists do, no sentence of protected terms alone, no characters that
    cannot be seen, and small letters for capitals.

    Args:
        text: A sentence without tags.
        terms: Finds what stays as it is.
        languages: The codes of the source and of the target.
    """
    if not terms.protects:
        return PreparedSentence(text, terms=terms)
    before, content, after = cut_margins(text.strip())
    content = visible(content)
    protected = terms.find_protected(content)
    if not has_words(content, protected):
        return PreparedSentence(text.strip(), terms=terms, stays=True)
    sentence = PreparedSentence(content, terms=terms, before=before, after=after)
    can_change_letters = WITH_ANOTHER_I.isdisjoint(map(base_language, languages))
    if can_change_letters and is_in_capitals(content, protected):
        return _in_small_letters(sentence) or sentence
    return sentence


def has_words(text: str, protected: Sequence[Term]) -> bool:
    """Tell whether there is a letter beside what stays as it is."""
    return any(map(str.isalpha, "".join(cut_at_terms(text, protected)[::2])))


def _in_small_letters(sentence: PreparedSentence) -> PreparedSentence | None:
    """Write the content in small letters, unless that changes a term, as %D to %d."""
    find = sentence.terms.find_protected
    protected = find(sentence.content)
    small = with_small_letters(sentence.content, protected)
    if len(find(small)) != len(protected):
        return None
    return replace(sentence, content=small, in_capitals=True)


def _cut_beginning(text: str, margin: str) -> tuple[str, str]:
    """Cut off the margin, however its white space is written, if the text begins with it."""
    words = margin.split()
    glued = words.pop() if words and not margin[-1].isspace() else ""
    *given, rest = text.split(maxsplit=len(words))
    if not margin or given != words or not rest.startswith(glued):
        return "", text
    content = rest.removeprefix(glued).lstrip()
    start = len(text) - len(content)
    return text[:start], content
