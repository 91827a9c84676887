"""Text that is escaped as in HTML, where people would read the signs themselves."""

import pytest

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.entities import FEWEST, EntitySigns
from dragoman.corpora.parallel_text import Pair
from dragoman.corpora.signs import Signs

ESCAPED = [*["Tom &amp; Ann"] * 10, *["It &apos;s a dog"] * (FEWEST - 10)]


def warnings(texts: list[str]) -> list[str]:
    signs = EntitySigns()
    for text in texts:
        signs.add(text)
    return signs.warnings()


def test_escaped_text_is_noticed_with_an_example() -> None:
    (warning,) = warnings(["A dog", *ESCAPED])

    assert warning.startswith(
        f"{FEWEST} of {FEWEST + 1} texts are escaped as in HTML (&amp; for '&'"
    )


@pytest.mark.parametrize(
    "texts",
    [
        ESCAPED[1:],
        [*ESCAPED, *["Tom & Ann"] * (FEWEST + 1)],  # so others write & where they mean it
        [f"<b>{text}</b>" for text in ESCAPED],
        ["Type &start; or &;"] * FEWEST,
        [f"{text} & co" for text in ESCAPED],
    ],
)
def test_other_text_is_not_doubted(texts: list[str]) -> None:
    assert warnings(texts) == []


def test_both_sides_of_a_corpus_are_looked_at() -> None:
    signs = Signs(CorpusConfig(path="a.tsv"), ("en", "it"))
    pairs = [Pair("A dog", text, line) for line, text in enumerate(ESCAPED, 1)]

    assert list(signs.watch(pairs)) == pairs

    assert any(f"{FEWEST} of {2 * FEWEST} texts are escaped" in said for said in signs.warnings())
