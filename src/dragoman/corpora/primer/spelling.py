"""Spell a derived sentence, count its words and read off its word alignment."""

import re
from functools import cache

from dragoman.corpora.primer.derivation import Sentence, Tokens

_ELIDED = (
    "l|un|d|c|dov|com|quest|quell|bell|dell|all|dall|nell|sull|coll|sant|vent|trent|quarant|"
    "cinquant|sessant|settant|ottant|novant"
)
_WORD = re.compile(rf"(?<![\w'])(?:{_ELIDED})'(?=\w)|[^\s.,;:!?]+|[.,;:!?]", re.IGNORECASE)

Alignment = tuple[tuple[int, int], ...]


def words(text: str) -> list[str]:
    """Separate the words that alignments count.

    Punctuation is a word, and so is an elided Italian form.

    >>> words("Non ho visto l'amica di Anna.")
    ['Non', 'ho', 'visto', "l'", 'amica', 'di', 'Anna', '.']
    >>> words("I don't know Anna's brother.")
    ['I', "don't", 'know', "Anna's", 'brother', '.']
    """
    return _WORD.findall(text)


def spell(sentence: Sentence) -> tuple[str, str, Alignment]:
    """Return the English text, the Italian text and the links between their words."""
    english = _masks(sentence.english)
    italian = _masks(sentence.italian)
    numbered = list(enumerate(italian))
    links = [(i, j) for i, mask in enumerate(english) for j, other in numbered if mask & other]
    links.append((len(english), len(italian)))
    source = _text(sentence.english)
    target = _text(sentence.italian).replace("' ", "'")
    return source + sentence.mark, target + sentence.mark, tuple(links)


def _masks(tokens: Tokens) -> list[int]:
    """Return the mask of each word."""
    return [mask for text, mask in tokens for _ in _spots(text)]


@cache
def _spots(text: str) -> range:
    return range(len(words(text)))


def _text(tokens: Tokens) -> str:
    text = " ".join([text for text, _ in tokens]).replace(" ,", ",")
    return text[0].upper() + text[1:]
