"""A model's shortlist as CTranslate2 reads it, which calls it a vocabulary map."""

from collections.abc import Sequence

from dragoman.engines.protocol import EngineError
from dragoman.shortlist.shortlist import Shortlist

VOCABULARY_MAP_NAME = "vmap.txt"
"""What CTranslate2 calls it among the files of a model."""


def write_vocabulary_map(
    shortlist: Shortlist, source_pieces: Sequence[str], target_pieces: Sequence[str]
) -> bytes:
    """Write a line for each source token: its spelling, a tab, and what it calls for.

    What stands on every list is called for by no token at all.

    Args:
        shortlist: Which target tokens each source token calls for.
        source_pieces: The spelling of each source token.
        target_pieces: The spelling of each target token.

    Raises:
        EngineError: a spelling has white space, which would end it.
    """
    for piece in (*source_pieces, *target_pieces):
        if any(sign in piece for sign in " \t\n"):
            raise EngineError(
                f"CTranslate2 can read no shortlist with the token {piece!r}, which has white "
                "space in it; take engine pytorch"
            )
    lists = (shortlist.frequent, *shortlist.translations)
    lines = (
        f"{source}\t{' '.join(target_pieces[token] for token in dict.fromkeys(tokens.tolist()))}\n"
        for source, tokens in zip(("", *source_pieces), lists, strict=True)
    )
    return "".join(lines).encode()
