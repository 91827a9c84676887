"""Terms as tokens, for a search that must produce them."""

from collections.abc import Iterator
from functools import cached_property

from dragoman.decoding.phrase import Phrase, Spelling
from dragoman.terms.term import Term, is_of_word
from dragoman.tokenizers.tokenizer import Tokenizer

_ENDS = frozenset(".!?\u2026\u3002\uff01\uff1f")
"""What a sentence ends with."""

_NEIGHBOURS = "(\"'[/-|"
"""Characters that a term may follow without a space; in a vocabulary few pieces begin so."""


class Speller:
    """Writes terms in the tokens of a language."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def spell(self, term: Term, source: str) -> Phrase:
        """Give every way to write a term: after a space, or right behind something else.

        It neither continues a word or number nor is continued by one, unless it is so in the
        source. A sentence does not end before a word of a glossary, which would then be appended.

        Args:
            term: What is to be written.
            source: The text that it was found in.
        """
        is_in_first = term.kind == "glossary" and _ENDS.isdisjoint(source[: term.start])
        spellings = [
            spelling for writing in term.writings for spelling in self._spell(writing, term)
        ]
        continued = term.is_continued or not is_of_word(term.writings[0][-1])
        return Phrase(
            spellings=tuple(dict.fromkeys(spellings)),
            not_before=frozenset() if continued else self._continuing,
            only_behind=self._ending_a_sentence if is_in_first else frozenset(),
        )

    def _spell(self, writing: str, term: Term) -> Iterator[Spelling]:
        alone = tuple(self._tokenizer.encode(writing))
        yield Spelling(alone)
        behind = self._encode_behind_something(writing)
        if behind and behind != alone:
            not_after = frozenset() if term.continues_word else self._ending_a_word
            yield Spelling(behind, not_after=not_after)

    def _encode_behind_something(self, writing: str) -> tuple[int, ...]:
        """Cut a text that stands behind a character that its first piece does not swallow."""
        for neighbour in _NEIGHBOURS:
            before = self._tokenizer.encode(neighbour)
            together = self._tokenizer.encode(neighbour + writing)
            if together[: len(before)] == before:
                return tuple(together[len(before) :])
        return ()

    @cached_property
    def _continuing(self) -> frozenset[int]:
        """The tokens that would continue a word or number."""
        return frozenset(
            token
            for token, text in enumerate(self._behind_a_letter())
            if is_of_word(text[:1]) or text[:1] in ("\ufffd", "_")
        )

    @cached_property
    def _ending_a_word(self) -> frozenset[int]:
        """The tokens behind which a word or number could go on."""
        return frozenset(
            token
            for token, text in enumerate(self._behind_a_letter())
            if is_of_word(text[-1:]) or text[-1:] in ("\ufffd", "_")
        )

    @cached_property
    def _ending_a_sentence(self) -> frozenset[int]:
        """The tokens after which a sentence is over."""
        return frozenset(
            token for token, text in enumerate(self._behind_a_letter()) if text[-1:] in _ENDS
        )

    def _behind_a_letter(self) -> Iterator[str]:
        """Decode each token of the vocabulary behind the letter a."""
        letter = self._tokenizer.encode("a")
        start = len(self._tokenizer.decode(letter))
        for token in range(self._tokenizer.vocab_size):
            yield self._tokenizer.decode([*letter, token])[start:]
