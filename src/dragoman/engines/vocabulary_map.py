"""A model's shortlist as CTranslate2 reads it, which calls it a vocabulary map."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dragoman.engines.protocol import EngineError
from dragoman.tokenizers.tokenizer import SpecialIds

if TYPE_CHECKING:
    from dragoman.shortlist.shortlist import Shortlist

VOCABULARY_MAP_NAME = "vmap.txt"
"""What CTranslate2 calls it among the files of a model."""


def write_vocabulary_map(
    shortlist: "Shortlist", source_pieces: Sequence[str], target_pieces: Sequence[str]
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


@contextmanager
def beside(copy: Path, vocabulary_map: bytes) -> Iterator[Path]:
    """Make a folder with the files of a copy and a vocabulary map, for as long as it is read."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file in copy.iterdir():
            if file.name != VOCABULARY_MAP_NAME:
                (folder / file.name).symlink_to(file.absolute())
        (folder / VOCABULARY_MAP_NAME).write_bytes(vocabulary_map)
        yield folder


def mixes_up(special: SpecialIds) -> bool:
    """Tell whether CTranslate2 would take tokens of one sentence's list for those of another's.

    From list to list it remembers the place where a token first was. What a search looks for by its
    place are special tokens, so all is well where these come first in the vocabulary, and thus in
    each list: all lists have them but for padding, which none has.
    """
    listed = {special.unk, special.bos, special.eos}
    return not {*range(max(listed))} <= {*listed, special.pad}
