"""Restore the capitals of text in lower case.

Some corpora are in lower case only. Mixed with others, they teach a model to write capitals at
random. Here each word gets the case that it mostly has in cased text (as in Lita et al. 2003,
"tRuEcasIng", but without a look at its neighbours), and each sentence begins with a capital.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from dragoman.languages.casing import in_small_letters, with_capital
from dragoman.languages.scripts import SENTENCE_ENDS

_WORD = re.compile(r"[^\W\d_]+")
_NOTHING_YET = re.compile(r"\W*$")
_SENTENCE_END = re.compile(rf"(?s:.*\w)?+[^\w{SENTENCE_ENDS}]*[{SENTENCE_ENDS}][^\w\s]*\s")
"""A full stop and white space behind the last digit, found without going back: rows of dots, as in
a table of contents, would take cubic time."""


class Truecaser:
    """Learns the case of words from text of one language, and restores it in other text."""

    def __init__(self, language: str) -> None:
        """Take the code of the language, which decides what the capitals of letters are."""
        self._language = language
        self._forms: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def learn(self, text: str) -> None:
        """Count how the words within sentences are written; skip titles, which are capitalised."""
        within = [word[0] for word, begins in _words(text) if not begins]
        if 2 * sum(not word.islower() for word in within) <= len(within):
            for word in within:
                self._forms[in_small_letters(word, self._language)][word] += 1

    def restore(self, text: str) -> str:
        """Write lower-case words as they are mostly written; existing capitals stay."""
        restored, end = [], 0
        for word, begins in _words(text):
            restored += [text[end : word.start()], self._cased(word[0], begins=begins)]
            end = word.end()
        return "".join(restored) + text[end:]

    def _cased(self, word: str, *, begins: bool) -> str:
        if not word.islower():
            return word
        forms = self._forms.get(word)
        cased = forms.most_common(1)[0][0] if forms else word
        return with_capital(cased, self._language) if begins else cased


def _words(text: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield each word, and whether a sentence begins with it."""
    end, begins = 0, _NOTHING_YET
    for word in _WORD.finditer(text):
        yield word, begins.match(text, end, word.start()) is not None
        end, begins = word.end(), _SENTENCE_END
