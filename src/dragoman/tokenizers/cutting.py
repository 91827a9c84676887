"""Cut a text that is too long to be translated at once."""

import re

from dragoman.tokenizers.tokenizer import Tokenizer

_BOUNDARIES = (re.compile(r"[.!?…][\"'”’»)\]]*\s|[。！？]"), re.compile(r"\s"))
"""Where a text is cut: behind a sentence if there are several, else behind a word."""


def encode_in_parts(text: str, tokenizer: Tokenizer, *, limit: int) -> list[list[int]]:
    """Encode a text in as many parts as it takes for none to have more tokens than the limit.

    A text that is too long is cut behind the sentence that ends nearest to its middle, and its
    halves in turn. Where there is but one sentence it is cut behind a word, and where there is but
    one word, in its middle. All characters but the white space at a cut are in some part.
    """
    text = text.strip()
    ids = tokenizer.encode(text)
    if len(ids) <= limit or len(text) == 1:
        return [ids]
    cut = _nearest_to_the_middle(text)
    halves = (text[:cut], text[cut:])
    return [part for half in halves for part in encode_in_parts(half, tokenizer, limit=limit)]


def _nearest_to_the_middle(text: str) -> int:
    """Find the best place to cut a text, which has no white space at its ends."""
    middle = len(text) // 2
    for boundary in _BOUNDARIES:
        ends = [found.end() for found in boundary.finditer(text) if found.end() < len(text)]
        if ends:
            return min(ends, key=lambda end: abs(end - middle))
    return middle
