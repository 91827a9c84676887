"""Which lexical combinations are held out of training, the same for every seed.

A combination is a pair of lexemes in a grammatical relation, such as an adjective and its noun or
a verb and its object. The generated test set is compositional: each of its sentences has a
combination that no training sentence has, made of words that training sentences do have.
"""

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from typing import Literal

Split = Literal["train", "validation", "test"]

_HELD_OUT_PERCENT = 4


@cache
def split_of_combination(combination: str) -> Split:
    """Assign a combination by a hash of its text, 4 % to each held-out split."""
    digest = blake2b(combination.encode(), digest_size=8).digest()
    percent = int.from_bytes(digest) % 100
    if percent < _HELD_OUT_PERCENT:
        return "test"
    return "validation" if percent < 2 * _HELD_OUT_PERCENT else "train"


def split_of_sentence(combinations: Iterable[str]) -> Split | None:
    """Return the split of a sentence: None if it mixes combinations of both held-out splits."""
    held_out: Split = "train"
    for combination in combinations:
        split = split_of_combination(combination)
        if split in ("train", held_out):
            continue
        if held_out != "train":
            return None
        held_out = split
    return held_out
