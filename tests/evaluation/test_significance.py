"""A better system is found better, and equal ones are not."""

import random

import pytest

from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.significance import FEWEST_COMPARED, compare, few_sentences
from dragoman.evaluation.statistics import EvaluationError

WORDS = ["the", "a", "cat", "dog", "house", "sees", "draws", "old", "green", "by"]
BLEU = EvaluationConfig(metrics=("BLEU",), bootstrap_samples=200)


def sentences(count: int, draw: random.Random) -> list[str]:
    return [" ".join(draw.choices(WORDS, k=8)) for _ in range(count)]


def spoil(references: list[str], rate: float, draw: random.Random) -> list[str]:
    return [
        " ".join(draw.choice(WORDS) if draw.random() < rate else word for word in line.split())
        for line in references
    ]


def test_a_system_does_not_differ_from_itself() -> None:
    draw = random.Random(1)
    references = sentences(30, draw)
    system = spoil(references, 0.3, draw)

    for comparison in compare(system, system, references, EvaluationConfig(bootstrap_samples=50)):
        assert comparison.delta == 0.0
        assert comparison.p_value == 1.0


def test_a_clearly_better_system_is_significantly_better_whatever_the_order() -> None:
    draw = random.Random(2)
    references = sentences(50, draw)
    bad, good = spoil(references, 0.6, draw), spoil(references, 0.1, draw)
    config = EvaluationConfig(bootstrap_samples=100)

    forward = compare(bad, good, references, config)
    backward = compare(good, bad, references, config)

    for there, back in zip(forward, backward, strict=True):
        assert there.p_value == back.p_value == 1 / 101
        assert there.delta == -back.delta
        assert (there.delta < 0) is (there.name == "TER")
        assert there.delta == pytest.approx(there.b.value - there.a.value)
        assert "bs:100|seed:12345" in there.signature


def test_the_p_value_of_two_sentences_is_what_one_computes_by_hand() -> None:
    references = ["a b c d", "e f g h"]
    a = ["a b c d", "e f g x"]  # no edit and one edit
    b = ["x x x x", "e f g h"]  # four edits and none
    config = EvaluationConfig(metrics=("TER",), bootstrap_samples=2000)

    (comparison,) = compare(a, b, references, config)

    # A resampled test set has the first sentence twice (delta 100, one time in four), both
    # (37.5, two in four) or the second twice (-25, one in four). The mean is 37.5. Two in four
    # lie 62.5 from it, which is further than 37.5.
    assert comparison.delta == pytest.approx(37.5)
    assert comparison.p_value == pytest.approx(0.5, abs=0.05)


def test_resampled_differences_lie_around_their_mean_and_not_around_the_observed_one() -> None:
    references = ["a", "b c d e f g h i j k l m n o p q r s t u"]
    b = ["x", "x c d e f g h i j k l m n o p q r s t u"]  # one edit each, of 1 word and of 20
    config = EvaluationConfig(metrics=("TER",), bootstrap_samples=200)

    (comparison,) = compare(references, b, references, config)

    # The delta is 2/21. Resampled ones are 100 (one time in four), 9.5 (two in four) and 5: their
    # mean is 31, and each is further from it than 9.5.
    assert comparison.delta == pytest.approx(100 * 2 / 21)
    assert comparison.p_value == 1.0


def test_a_hundred_sentences_are_enough_to_compare() -> None:
    assert few_sentences(FEWEST_COMPARED) is None
    assert "whatever their p-values" in (few_sentences(FEWEST_COMPARED - 1) or "")


def test_one_sentence_shows_no_difference() -> None:
    config = EvaluationConfig(metrics=("TER",))

    (comparison,) = compare(["a b c x"], ["a b c d"], ["a b c d"], config)

    assert comparison.delta == -25.0
    assert comparison.p_value == 1.0


def test_the_systems_need_as_many_sentences_as_there_are_references() -> None:
    with pytest.raises(EvaluationError, match="1 hypotheses but 2 references"):
        compare(["a", "b"], ["a"], ["a", "b"], BLEU)


def test_a_comparison_needs_resampled_test_sets() -> None:
    with pytest.raises(EvaluationError, match="bootstrap_samples=0"):
        compare(["a"], ["a"], ["a"], EvaluationConfig(bootstrap_samples=0))
