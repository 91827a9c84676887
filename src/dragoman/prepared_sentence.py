"""What a model is shown of a sentence, and how its translation is written."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

from dragoman.confidence import Word
from dragoman.languages.casing import WITH_ANOTHER_I
from dragoman.languages.codes import base_language
from dragoman.terms.capitals import (
    has_capitals_alone,
    is_in_capitals,
    with_capitals,
    with_small_letters,
)
from dragoman.terms.finder import TermFinder
from dragoman.terms.term import Term, cut_at_terms
from dragoman.tokenizers.normalisation import undirected, visible
from dragoman.tokenizers.sentences import cut_margins
from dragoman.words import may_begin_word


@dataclass(frozen=True)
class PreparedSentence:
    """What a model is shown of a sentence, or writes of a translation, and what surrounds it."""

    content: str
    _: KW_ONLY
    terms: TermFinder
    """Finds what stays as it is."""

    before: str = ""
    after: str = ""
    in_capitals: bool = False
    """Whether the sentence is in capitals, though a model reads and writes it in small letters."""

    stays: bool = False
    """Whether all of it stays as it is, so that the model is not asked."""

    def write(self, text: str) -> str:
        """Put what was shown or translated in capitals, if the sentence was.

        A text may go through this twice.
        """
        if not self.in_capitals:
            return text
        *_, language = self.terms.languages or ("",)
        return with_capitals(text, self.terms.find_protected(text), language)

    def surround(self, text: str) -> str:
        """Turn a translation of the content into one of the whole sentence."""
        return self.before + self.write(text).strip() + self.after

    def surround_words(self, words: Sequence[Word]) -> list[Word]:
        """Turn the words of the content into those of the sentence; others have confidence 1."""
        before, content = self.before, self.write(" ".join(word.text for word in words)).strip()
        if may_begin_word(before + content, len(before)):
            before += " "
        if may_begin_word(content + self.after, len(content)):
            content += " "
        written = (before + content + self.after).split()
        start = len(before.split())
        if words and before and not before[-1].isspace():
            start -= 1  # the first word continues the last one there
        inside = range(start, start + len(words))
        return [
            Word(text=text, confidence=words[i - start].confidence if i in inside else 1.0)
            for i, text in enumerate(written)
        ]

    def read(self, translation: str) -> "PreparedSentence":
        """Extract the part that a model writes from a translation of the sentence.

        Where the translation is not in capitals like the sentence, or lacks some of what stands
        before or after that, its letters, or what it has there, are part of the content. What is
        read from capitals keeps only the first one, as nobody knows which others there were.
        """
        found = self.read_beginning(translation)
        end = " ".join(self.after.split())
        if not (end and found.content.endswith(end)):
            return found
        content = found.content.removesuffix(end).rstrip()
        return replace(found, content=content, after=found.content[len(content) :])

    def read_beginning(self, prefix: str) -> "PreparedSentence":
        """Extract the part that a model writes from the beginning of a translation, as `read` does.

        What stands at its end is part of the content, as nobody knows what will follow.
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
            return _in_small_letters(found)
        return found

    def continue_from(self, begun: "PreparedSentence") -> "PreparedSentence":
        """Prepare a translation with this beginning: what the beginning lacks is left out."""
        if not begun.content:
            return self
        return replace(self, before=begun.before, in_capitals=begun.in_capitals)

    def is_over(self, begun: "PreparedSentence") -> bool:
        """Tell whether a beginning ends with a sign that stands only after the sentence."""
        return any(
            begun.content.endswith(sign) and sign not in self.content for sign in self.after.split()
        )


def prepare(text: str, terms: TermFinder) -> PreparedSentence:
    """Choose what a model is shown of a sentence.

    Where terms are protected, a model is not shown what surrounds a sentence and says nothing, such
    as emoji and list markers, nor a sentence of protected terms alone, nor invisible characters;
    and a sentence in capitals is shown in small letters.

    Args:
        text: A sentence without tags.
        terms: Finds what stays as it is; its languages decide whether letters may change.
    """
    if not terms.protects:
        return PreparedSentence(text, terms=terms)
    before, content, after = cut_margins(undirected(text).strip())
    content = visible(content).strip()  # what could not be read has become spaces
    protected = terms.find_protected(content)
    if not has_words(content, protected):
        return PreparedSentence(text.strip(), terms=terms, stays=True)
    sentence = PreparedSentence(content, terms=terms, before=before, after=after)
    can_change_letters = WITH_ANOTHER_I.isdisjoint(map(base_language, terms.languages or ()))
    if can_change_letters and is_in_capitals(content, protected):
        return _in_small_letters(sentence)
    return sentence


def has_words(text: str, protected: Sequence[Term]) -> bool:
    """Tell whether a text has a letter outside what stays as it is."""
    return any(map(str.isalpha, "".join(cut_at_terms(text, protected)[::2])))


def _in_small_letters(sentence: PreparedSentence) -> PreparedSentence:
    """Write the content in small letters, unless that changes a term, such as %ID to %id.

    Acronyms of the glossary stay in capitals, as they are not found in others.
    """
    find = sentence.terms.find_protected
    small = with_small_letters(sentence.content, sentence.terms.find_capitals(sentence.content))
    if len(find(small)) != len(find(sentence.content)):
        return sentence
    return replace(sentence, content=small, in_capitals=True)


def _cut_beginning(text: str, margin: str) -> tuple[str, str]:
    """Cut off the margin if the text begins with it, whatever its white space."""
    words = margin.split()
    glued = words.pop() if words and not margin[-1].isspace() else ""
    *given, rest = text.split(maxsplit=len(words))
    if not margin or given != words or not rest.startswith(glued):
        return "", text
    content = rest.removeprefix(glued).lstrip()
    start = len(text) - len(content)
    return text[:start], content
