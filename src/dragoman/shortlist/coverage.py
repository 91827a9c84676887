"""How much of a text its shortlists contain."""

from dataclasses import dataclass

from dragoman.shortlist.lexicon import TokenPairs
from dragoman.shortlist.shortlist import Shortlist


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """What a shortlist does for some sentence pairs."""

    pairs: int

    tokens: float
    """The share of the tokens of the translations that are on the lists of their sentences."""

    sentences: float
    """The share of the translations whose tokens are all on the list."""

    mean_length: float
    """Mean number of tokens on a list."""


def measure_coverage(shortlist: Shortlist, pairs: TokenPairs) -> Coverage:
    """Look for the tokens of translations on the lists of their sentences.

    Args:
        shortlist: Makes the lists.
        pairs: At least one pair, and at least one target token among them.
    """
    on_list = num_tokens = whole = length = 0
    for source, target in pairs:
        listed = set(shortlist.tokens(source))
        found = sum(token in listed for token in target)
        on_list += found
        num_tokens += len(target)
        whole += found == len(target)
        length += len(listed)
    return Coverage(
        pairs=len(pairs),
        tokens=on_list / num_tokens,
        sentences=whole / len(pairs),
        mean_length=length / len(pairs),
    )
