"""The phrasebook: everyday English-Italian pairs that no grammar would build."""

from functools import cache
from importlib.resources import files

from dragoman.corpora.primer.tables import LexiconError


@cache
def phrasebook() -> tuple[tuple[str, str], ...]:
    """Return the English-Italian pairs of ``phrasebook.tsv`` in order.

    Lines that are empty or start with # are skipped.

    Raises:
        LexiconError: a line is not *English TAB Italian*, or an English text comes twice.
    """
    text = files(__package__).joinpath("phrasebook.tsv").read_text(encoding="utf-8")
    pairs: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        english, *italian = line.split("\t")
        if len(italian) != 1 or not english or not italian[0]:
            raise LexiconError(
                f"phrasebook.tsv, line {number}: expected English, a tab, Italian, got {line!r}"
            )
        if english in pairs:
            raise LexiconError(f"phrasebook.tsv, line {number}: {english!r} is there already")
        pairs[english] = italian[0]
    return tuple(pairs.items())
