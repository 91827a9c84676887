"""Validation text taken from the training text, where a recipe names none."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.batched import batched
from dragoman.corpora.overlap import canonical
from dragoman.corpora.seen import hash_texts
from dragoman.corpora.text_file import CorpusError, read_lines

MOST_PAIRS = 1000
SHARE = 0.05
"""The share of the training text that is held out, if that is fewer than `MOST_PAIRS`."""

MOST_LEFT = 1000
"""How many sources with too many copies are skipped before fewer pairs are accepted."""

HASHED_AT_ONCE = 10_000


def hold_out(
    text: Path, validation: Path, counts: Sequence[int], allowed: Sequence[bool]
) -> list[int]:
    """Move some of the training text to the validation text.

    Args:
        text: Lines of source, tab and target; what is left of them replaces it.
        validation: Where the held-out lines are written.
        counts: Lines of each corpus; the corpora follow each other.
        allowed: Whether each corpus may validate. Others lose their copies of the sources that do.

    Returns:
        How many lines each corpus has lost.

    Raises:
        CorpusError: there are too few different sources to hold some out.
    """
    sources = (line.partition("\t")[0] for line in read_lines(text))
    may_validate = np.repeat(allowed, counts)
    is_held_out = choose(sources, None if all(allowed) else may_validate)
    left = text.with_name(text.name + ".left")
    with (
        left.open("w", encoding="utf-8", newline="\n") as train,
        validation.open("w", encoding="utf-8", newline="\n") as held_out,
    ):
        for line, is_held, may in zip(read_lines(text), is_held_out, may_validate, strict=True):
            if may or not is_held:
                (held_out if is_held else train).write(f"{line}\n")
    left.replace(text)
    ends = np.cumsum(counts)[:-1]
    return [int(part.sum()) for part in np.split(is_held_out, ends)]


def size(pairs: int) -> int:
    """Say how many of so many pairs are held out at most."""
    return min(math.ceil(SHARE * pairs), MOST_PAIRS)


def choose(
    sources: Iterator[str], allowed: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.bool_]:
    """Choose the pairs whose sources have the smallest hashes; this takes 16 bytes per pair.

    A hash looks random but is always the same. Sources that differ only in case or punctuation
    have the same one, so that none is learnt while another validates. A source with more copies
    than are wanted is left to training, unless all have more.

    Raises:
        CorpusError: there are too few different sources.
    """
    blocks = [
        hash_texts([canonical(source) for source in block])
        for block in batched(sources, HASHED_AT_ONCE)
    ]
    hashes = np.concatenate(blocks)
    if allowed is not None:
        hashes = hashes[allowed]
    hashes.sort()  # in place: a sorted copy would be eight bytes more
    chosen = _smallest(hashes)
    if not chosen:
        raise CorpusError(
            "too few pairs to hold some out for validation; name a validation text in "
            "corpora.validation, as with --set 'corpora.validation=[{path=\"dev.tsv\"}]'"
        )
    return np.concatenate([np.isin(block, chosen) for block in blocks])


def _smallest(hashes: npt.NDArray[np.uint64]) -> list[np.uint64]:
    """Choose hashes from the start of a sorted array until their copies are enough."""
    wanted = min(size(len(hashes)), len(hashes) - 1)
    chosen: list[np.uint64] = []
    taken = left = place = 0
    while place < len(hashes) and taken < wanted and left < MOST_LEFT:
        end = int(np.searchsorted(hashes, hashes[place], side="right"))
        if taken + end - place <= wanted:
            chosen.append(hashes[place])
            taken += end - place
        else:
            left += 1
        place = end
    return chosen or _rarest(hashes)


def _rarest(hashes: npt.NDArray[np.uint64]) -> list[np.uint64]:
    """Choose the hash with the fewest copies, if there is another one to learn from."""
    different, counts = np.unique(hashes, return_counts=True)
    return [different[counts.argmin()]] if len(different) > 1 else []
