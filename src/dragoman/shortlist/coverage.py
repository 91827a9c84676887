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
    """The share of the translations of which every token is."""

    mean_length: float
    """Tokens of a list."""


def measure_coverage(shortlist: Shortlist, pairs: TokenPairs) -> Coverage:
    """Look for the tokens of translations on the lists of their sentences.

    Args:
        shortlist: What makes the lists.
        pairs: At least one, with a token of a translation among them.
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
