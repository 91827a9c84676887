"""Terms as tokens, for a search that must produce them."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property

from dragoman.decoding.phrase import Phrase, Spelling
from dragoman.languages.scripts import SENTENCE_ENDS, UNSPACED_CHARACTER
from dragoman.terms.finder import TermFinder
from dragoman.terms.term import Term, is_of_word
from dragoman.tokenizers.tokenizer import Tokenizer

_ENDS = frozenset(SENTENCE_ENDS)

_LOOKED_AT = 2
"""Characters of a token that decide whether something protected may be next to it."""

_BEHIND_A_DIGIT = {".": "0.", ",": "0,"}
"""These join two numbers into one if a digit comes before them, as it may."""

_NEIGHBOURS = "(\"'[/-|"
"""Characters that a term may follow without a space; few tokens of a vocabulary begin so."""


class Speller:
    """Writes terms in the tokens of a language."""

    def __init__(self, tokenizer: Tokenizer, terms: TermFinder) -> None:
        self._tokenizer = tokenizer
        self._terms = terms

    def spell(self, term: Term, source: str) -> Phrase:
        """Return every way to write a term: after a space, or right after something else.

        It neither continues a word or number nor is continued by one, unless that is so in the
        source; and nothing right next to it may make something longer of it, such as a full stop
        before a number. If a glossary term comes before the first end of a sentence in the source,
        no sentence of the translation ends before it: it would then just be appended.

        Args:
            term: What is to be written.
            source: The text that it was found in.
        """
        is_in_first = term.kind == "glossary" and _ENDS.isdisjoint(source[: term.start])
        spellings = [
            spelling for writing in term.writings for spelling in self._spell(writing, term)
        ]
        return Phrase(
            spellings=tuple(dict.fromkeys(spellings)),
            not_before=frozenset().union(*(self._not_before(w, term) for w in term.writings)),
            only_behind=self._ending_a_sentence if is_in_first else frozenset(),
        )

    def knows(self, term: Term) -> bool:
        """Tell whether the vocabulary has a term's characters, and need not spell them in bytes."""
        pieces = [
            self._behind_a_letter[token] for token in self._tokenizer.encode(term.writings[0])
        ]
        return "".join(pieces).strip() == term.writings[0]

    def _spell(self, writing: str, term: Term) -> Iterator[Spelling]:
        alone = tuple(self._tokenizer.encode(writing))
        yield Spelling(alone)
        behind = self._encode_behind_something(writing)
        if behind and behind != alone:
            yield Spelling(behind, not_after=self._not_after(writing, term))

    def _encode_behind_something(self, writing: str) -> tuple[int, ...]:
        """Encode a text that follows a character which its first token does not swallow."""
        for neighbour in _NEIGHBOURS:
            before = self._tokenizer.encode(neighbour)
            together = self._tokenizer.encode(neighbour + writing)
            if together[: len(before)] == before:
                return tuple(together[len(before) :])
        return ()

    def _not_after(self, writing: str, term: Term) -> frozenset[int]:
        """Return the tokens right after which a writing would be part of something longer."""
        may_go_on = term.continues_word or not _goes_on(writing[0])
        return frozenset(
            token
            for text, tokens in self._tokens_by_end.items()
            if (_goes_on(text[-1]) and not may_go_on)
            or not self._is_found(term, _BEHIND_A_DIGIT.get(text, text) + writing)
            for token in tokens
        )

    def _not_before(self, writing: str, term: Term) -> frozenset[int]:
        """Return the tokens right before which a writing would be part of something longer."""
        may_go_on = term.is_continued or not _goes_on(writing[-1])
        return frozenset(
            token
            for text, tokens in self._tokens_by_beginning.items()
            if (_goes_on(text[0]) and not may_go_on) or not self._is_found(term, writing + text)
            for token in tokens
        )

    def _is_found(self, term: Term, text: str) -> bool:
        """Tell whether a term that is recognised by its form is still found as the same one."""
        if term.kind in ("glossary", "foreign"):
            return True
        return any(found.key == term.key for found in self._terms.find_protected(text))

    @cached_property
    def _tokens_by_end(self) -> dict[str, list[int]]:
        """The tokens of the vocabulary by the last characters of what they write."""
        return self._grouped(lambda text: text[-_LOOKED_AT:])

    @cached_property
    def _tokens_by_beginning(self) -> dict[str, list[int]]:
        """The tokens of the vocabulary by the first characters of what they write."""
        return self._grouped(lambda text: text[:_LOOKED_AT])

    def _grouped(self, looked_at: Callable[[str], str]) -> dict[str, list[int]]:
        """Group tokens by a part of their text; all characters of unspaced scripts count as one."""
        groups = defaultdict(list)
        for token, text in enumerate(self._behind_a_letter):
            if text:
                groups[UNSPACED_CHARACTER.sub("\u4e00", looked_at(text))].append(token)
        return groups

    @cached_property
    def _ending_a_sentence(self) -> frozenset[int]:
        """The tokens that end a sentence."""
        return frozenset(
            token for token, text in enumerate(self._behind_a_letter) if text[-1:] in _ENDS
        )

    @cached_property
    def _behind_a_letter(self) -> tuple[str, ...]:
        """What each token of the vocabulary writes after the letter a."""
        letter = self._tokenizer.encode("a")
        start = len(self._tokenizer.decode(letter))
        vocabulary = range(self._tokenizer.vocab_size)
        return tuple(self._tokenizer.decode([*letter, token])[start:] for token in vocabulary)


def _goes_on(character: str) -> bool:
    """Tell whether a word or number continues at a character, or at a part of one."""
    return is_of_word(character) or character in ("_", "\ufffd")
