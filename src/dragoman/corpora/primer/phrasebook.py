"""The phrasebook: everyday English-Italian pairs that no grammar would build."""

from functools import cache
from importlib.resources import files


@cache
def phrasebook() -> tuple[tuple[str, str], ...]:
    """Return the English-Italian pairs of ``phrasebook.tsv`` in order."""
    text = files(__package__).joinpath("phrasebook.tsv").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in text.removesuffix("\n").split("\n"))
    return tuple((english, italian) for english, italian in lines)
