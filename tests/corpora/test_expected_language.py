"""In which language a text seems to be: a few foreign parts are no matter, more of them are."""

import pytest

from dragoman.corpora.expected_language import (
    PART,
    ExpectedLanguage,
    OtherLanguage,
    SwappedPairs,
    language_warnings,
)
from dragoman.corpora.parallel_text import Pair

ENGLISH = "The old man with the hat was looking for his dog in the garden behind the house. "
ITALIAN = "Il vecchio con il cappello cercava il suo cane nel giardino che sta dietro la casa. "
ENGLISH_PART, ITALIAN_PART = (text * (PART // len(text) + 1) for text in (ENGLISH, ITALIAN))


def other(*texts: str) -> OtherLanguage | None:
    """Say what a text that should be English seems to be."""
    expected = ExpectedLanguage("en")
    for text in texts:
        expected.add(text)
    return expected.other()


def test_some_of_a_text_is_three_parts_and_a_tenth_of_it() -> None:
    assert other(*[ENGLISH_PART] * 3, *[ITALIAN_PART] * 2) is None
    assert other(*[ENGLISH_PART] * 27, *[ITALIAN_PART] * 3) == OtherLanguage("it", 0.1)
    assert other(*[ENGLISH_PART] * 27, *[ITALIAN_PART] * 3, ENGLISH) is None  # 3 of 31


def test_half_of_a_text_is_not_most_of_it() -> None:
    assert other(ENGLISH_PART, ITALIAN_PART) is None
    assert other(ENGLISH_PART, ITALIAN_PART, ITALIAN) == OtherLanguage("it", 2 / 3)


def test_a_text_that_fills_no_part_is_one() -> None:
    assert other(ITALIAN) == OtherLanguage("it", 1.0)


def test_two_pairs_the_wrong_way_round_are_too_few_to_speak_of() -> None:
    swapped = SwappedPairs(("en", "it"))
    for number in range(3):
        assert swapped.share() == 0.0
        swapped.add(Pair(ITALIAN, ENGLISH, number))
    assert swapped.share() == 1.0


@pytest.mark.parametrize(
    ("source", "target", "is_swapped"),
    [
        (ITALIAN, ENGLISH, True),
        (ENGLISH, ITALIAN, False),
        (ITALIAN, "Where is the cat?", False),  # too short to be judged
        ("Dove sta il gatto?", ENGLISH, False),
        (ITALIAN, "4711 4712 4713 4714 4715 4716", False),  # in no language
        ("4711 4712 4713 4714 4715 4716", ENGLISH, False),
    ],
)
def test_a_pair_is_the_wrong_way_round_if_both_of_its_sides_say_so(
    source: str, target: str, is_swapped: bool
) -> None:
    assert SwappedPairs(("en", "it")).has_swapped(Pair(source, target, 1)) == is_swapped


@pytest.mark.parametrize(
    ("share", "is_told"), [(0.0, False), (0.04, False), (0.05, True), (0.9, True), (0.91, False)]
)
def test_pairs_are_mixed_if_neither_few_nor_nearly_all_are_the_wrong_way_round(
    share: float, is_told: bool
) -> None:
    assert bool(language_warnings(("en", "it"), (None, None), share)) == is_told


def test_of_mixed_pairs_only_a_third_language_is_told_besides() -> None:
    seeming = OtherLanguage("fr", 0.2), OtherLanguage("en", 0.3)

    mixed, third = language_warnings(("en", "it"), seeming, 0.3)

    assert mixed.startswith("some 30 % of the pairs seem to be the wrong way round")
    assert third == "the source should be English (en) and some 20 % of it seem to be French (fr)"
