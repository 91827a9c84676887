"""The leak guard: training text does not give evaluation sentences away."""

import re

import pytest

from dragoman.corpora.config import OverlapPolicy
from dragoman.corpora.overlap import (
    OverlapError,
    OverlapReport,
    canonical,
    canonical_sources,
    check,
)
from dragoman.corpora.parallel_text import Pair

EVALUATION = canonical_sources([Pair("The cat sleeps.", "Il gatto dorme.", 1), Pair("…", "!", 2)])

CLEAN = Pair("The dog sleeps.", "Il cane dorme.", 1)
SAME_PAIR = Pair("the cat  sleeps", "Il gatto dorme", 2)
SAME_SOURCE = Pair("«The cat sleeps!»", "La gatta dorme.", 3)
SAME_TARGET = Pair("The tomcat is asleep.", "IL GATTO DORME", 4)
TRAINING = [CLEAN, SAME_PAIR, SAME_SOURCE, SAME_TARGET]


def checked(policy: OverlapPolicy) -> tuple[list[Pair], OverlapReport]:
    report = OverlapReport("train")
    return list(check(TRAINING, EVALUATION, policy, report)), report


def test_a_pair_with_an_evaluation_source_is_dropped_and_counted() -> None:
    kept, report = checked("drop")

    assert kept == [CLEAN, SAME_TARGET]
    assert (report.sources, report.lines) == (2, [2, 3])


def test_leaks_may_be_allowed_and_are_counted() -> None:
    kept, report = checked("allow")

    assert kept == TRAINING
    assert report.sources == 2


def test_leaks_are_refused_when_all_pairs_are_read() -> None:
    pairs = [Pair("The cat sleeps", "x", line) for line in range(1, 12)]
    report = OverlapReport("news")

    with pytest.raises(OverlapError) as caught:
        list(check([*TRAINING, *pairs], EVALUATION, "refuse", report))

    message = str(caught.value)
    assert "news: 13 pairs" in message
    assert "(lines 2, 3, 1, …)" in message
    assert re.search('corpora.overlap to "drop" .* "allow"', message)


def test_one_leak_is_refused_in_the_singular() -> None:
    with pytest.raises(OverlapError, match=r"1 pair of .* \(line 2\)"):
        list(check([CLEAN, SAME_PAIR], EVALUATION, "refuse", OverlapReport("train")))


def test_without_leaks_nothing_is_refused() -> None:
    pairs = [CLEAN, SAME_TARGET]

    assert list(check(pairs, EVALUATION, "refuse", OverlapReport("train"))) == pairs


def test_training_pairs_are_checked_as_they_are_read() -> None:
    def pairs() -> object:
        yield CLEAN
        raise AssertionError("read too far")

    stream = check(pairs(), EVALUATION, "refuse", OverlapReport("train"))  # type: ignore[arg-type]

    assert next(stream) == CLEAN


def test_punctuation_alone_is_no_sentence() -> None:
    pairs = [Pair("?!", "...", 1)]

    assert list(check(pairs, EVALUATION, "refuse", OverlapReport("train"))) == pairs


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("  The\u00a0 CAT. ", "the cat"),
        ("«L’uomo», disse.", "l’uomo», disse"),
        ("ﬁne", "FINE"),
        ("e\u0301", "É"),
        ("Straße", "STRASSE"),
        ("2 < 3 €", "2 < 3"),
        ("２０２０年", "2020年"),
        ("the\u200e ta\u00adble\u200b", "\ufeffthe table"),
    ],
)
def test_sentences_that_look_the_same_are_the_same(text: str, same: str) -> None:
    assert canonical(text) == canonical(same)


@pytest.mark.parametrize(
    ("text", "other"), [("कि", "का"), ("It's 3.5", "It's 35"), ("perché", "perche")]
)
def test_marks_and_inner_punctuation_make_a_difference(text: str, other: str) -> None:
    assert canonical(text) != canonical(other)
