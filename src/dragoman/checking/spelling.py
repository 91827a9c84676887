"""Which name was meant by one that is spelt differently."""

from collections.abc import Iterable

from dragoman.config import nearest

SIMILAR = 0.8


def plain(name: str) -> str:
    """Take out what people spell differently.

    >>> plain("Multi_HeadAttention")
    'multiheadattention'
    """
    return name.lower().replace("_", "")


def closest(name: str, known: Iterable[str]) -> str | None:
    """Find the name that was meant.

    >>> closest("w_o", ["wq", "wo"]), closest("Self", ["self"]), closest("keepduim", ["keepdim"])
    ('wo', 'self', 'keepdim')
    >>> closest("encoder", ["decoder_stack"])
    """
    candidates = [other for other in known if other != name]
    for candidate in candidates:
        if plain(candidate) == plain(name):
            return candidate
    return nearest(name, candidates, likeness=SIMILAR)
