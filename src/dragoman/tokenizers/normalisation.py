"""The one form of a text that tokenizers see."""

import re
import unicodedata

_UNENCODABLE = re.compile("[\0\ud800-\udfff\uffff]")
_CONTROL = re.compile("[\x01-\x1f\x7f-\x9f\ufffd]")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSEEN = re.compile("[\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def normalise(text: str) -> str:
    r"""Write a text in its normal form, which is what a tokenizer gives back.

    - Code points not allowed in text interchange become U+FFFD: NUL, lone surrogates, U+FFFF.
    - Letters and their marks are composed (Unicode NFC); look-alikes such as ½ or Ａ are kept.
    - Every run of white space, no-break spaces and line breaks included, becomes one space, and
      none is left at the ends.

    >>> normalise("  caffe\u0300\u00a0½\n")
    'caffè ½'
    """
    if not text.isascii() or "\0" in text:  # the rest is in this form already
        text = unicodedata.normalize("NFC", encodable(text))
    return " ".join(text.split())


def encodable(text: str) -> str:
    """Replace the code points not allowed in text interchange: NUL, lone surrogates, U+FFFF."""
    return _UNENCODABLE.sub("\ufffd", text)


def undirected(text: str) -> str:
    """Leave out the marks that say in which direction a text runs: a translation has its own.

    >>> undirected("\u202b1. cat\u202c")
    '1. cat'
    """
    return _DIRECTION.sub("", text)


def visible(text: str) -> str:
    r"""Leave out invisible characters that are no part of a word; make control characters spaces.

    U+FFFD, which stands for what could not be read, becomes a space too. What joins letters, as in
    Persian and Hindi, is part of a word.

    >>> visible("ta\u00adble\u200b\7on")
    'table on'
    """
    if text.isprintable() and "\ufffd" not in text:  # as most texts are
        return text
    return _CONTROL.sub(" ", _UNSEEN.sub("", text))


def learnable(text: str) -> str:
    r"""Write a text as models learn it, which is as they are shown text to translate.

    >>> learnable("the ta\u00adble\u200b\ud800\n")
    'the table'
    """
    return normalise(visible(encodable(text)))
