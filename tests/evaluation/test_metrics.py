"""Scores that were worked by hand, and sacreBLEU's own numbers."""

import json
import math
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from dragoman.evaluation.config import EvaluationConfig, MetricName, Tokenization
from dragoman.evaluation.metrics import Score, exact_match, score
from dragoman.evaluation.statistics import EvaluationError

REFERENCES = ["The cat is on the table.", "My sister draws an old house.", "Nobody is here."]
SYSTEM = ["The cat sits on the table.", "My sister draws the old house.", "No one is here."]


def value(name: MetricName, hypotheses: Sequence[str], references: Sequence[str]) -> float:
    (only,) = score(hypotheses, references, EvaluationConfig(metrics=(name,), bootstrap_samples=0))
    return only.value


@pytest.mark.parametrize(
    ("name", "perfect"), [("BLEU", 100.0), ("chrF", 100.0), ("chrF++", 100.0), ("TER", 0.0)]
)
def test_a_perfect_translation_has_the_perfect_score(name: MetricName, perfect: float) -> None:
    assert value(name, REFERENCES, REFERENCES) == pytest.approx(perfect, abs=1e-9)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        # All n-grams match; 4 words stand for 5: only the brevity penalty exp(1 - 5/4) is left.
        ("a b c d", "a b c d e", 100 * math.exp(1 - 5 / 4)),
        # Precisions 4/5, 3/4, 2/3, 1/2; as long as the reference.
        ("a b c d x", "a b c d e", 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)),
        # "the" counts once, as often as in the reference; 1/4, and smoothed 1/2, 1/4, 1/8 of the
        # 3, 2 and 1 longer n-grams, none of which matches.
        ("the the the the", "the b c d", 100 * (1 / 4 * 1 / 6 * 1 / 8 * 1 / 8) ** (1 / 4)),
        ("", "a b c d", 0.0),
    ],
)
def test_bleu_is_what_one_computes_by_hand(
    hypothesis: str, reference: str, expected: float
) -> None:
    assert value("BLEU", [hypothesis], [reference]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        # One letter of two is right, and there is no longer n-gram that matches: precision and
        # recall are 1/2 for letters and 0 for pairs, on average 1/4, and so is their F.
        ("ab", "ac", 25.0),
        # Letters: precision 1, recall 1/2; pairs: none in the hypothesis, so that order is out.
        # F2 = 5 p r / (4 p + r).
        ("a", "ab", 100 * 5 * 0.5 / 4.5),
        ("xyz", "abc", 0.0),
    ],
)
def test_chrf_is_what_one_computes_by_hand(
    hypothesis: str, reference: str, expected: float
) -> None:
    assert value("chrF", [hypothesis], [reference]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("a b c x", "a b c d", 25.0),  # one substitution for four words
        ("a b c", "a b c d", 25.0),  # one insertion
        ("d a b c", "a b c d", 25.0),  # one shift
        ("a b c d e f g h i", "a b", 350.0),  # seven deletions for two words
    ],
)
def test_ter_is_what_one_computes_by_hand(hypothesis: str, reference: str, expected: float) -> None:
    assert value("TER", [hypothesis], [reference]) == pytest.approx(expected)


def test_counts_are_summed_before_they_are_scored() -> None:
    pooled = value("TER", ["a x", "a b c d e f"], ["a b", "a b c d e f"])

    assert pooled == pytest.approx(100 * 1 / 8)  # the mean of the two sentences would be 25


def test_scores_and_intervals_equal_those_of_sacrebleu() -> None:
    draw = random.Random(4)
    references = [" ".join(draw.choices("abcdef", k=9)) for _ in range(40)]
    system = [" ".join(w if draw.random() > 0.3 else "x" for w in r.split()) for r in references]
    peers = {"BLEU": BLEU(), "chrF": CHRF(), "chrF++": CHRF(word_order=2), "TER": TER()}
    config = EvaluationConfig(metrics=tuple(peers), bootstrap_samples=100)  # type: ignore[arg-type]

    for ours in score(system, references, config):
        theirs: Any = peers[ours.name].corpus_score(system, [references], n_bootstrap=100)
        assert ours.value == pytest.approx(theirs.score, abs=1e-9)
        assert ours.low is not None
        assert ours.high is not None
        assert (ours.high - ours.low) / 2 == pytest.approx(theirs._ci, abs=1e-3)  # float32 there
        assert ours.low < ours.value < ours.high
        assert ours.signature == str(peers[ours.name].get_signature())


def test_bleu_equals_that_of_the_sacrebleu_command(tmp_path: Path) -> None:
    for name, lines in (("system", SYSTEM), ("references", REFERENCES)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "references", "-i", "system", "-w", "12"]

    output = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout

    theirs = json.loads(output)
    (ours,) = score(SYSTEM, REFERENCES, EvaluationConfig(metrics=("BLEU",), bootstrap_samples=0))
    assert ours.value == pytest.approx(theirs["score"], abs=1e-9)
    assert ours.signature == theirs["signature"]


def test_equal_seeds_give_equal_intervals_and_other_seeds_others() -> None:
    def interval(seed: int) -> Score:
        config = EvaluationConfig(metrics=("chrF",), bootstrap_samples=50, seed=seed)
        return score(SYSTEM, REFERENCES, config)[0]

    assert interval(7) == interval(7)
    assert "|seed:7|" in interval(7).signature
    assert (interval(7).low, interval(7).high) != (interval(8).low, interval(8).high)


@pytest.mark.parametrize(
    ("sentences", "samples", "has"), [(3, 40, True), (3, 39, False), (1, 40, False)]
)
def test_an_interval_needs_sentences_and_samples(sentences: int, samples: int, has: bool) -> None:
    config = EvaluationConfig(metrics=("chrF",), bootstrap_samples=samples)
    (only,) = score(SYSTEM[:sentences], REFERENCES[:sentences], config)

    assert (only.low is not None, only.high is not None) == (has, has)


def test_without_resampling_there_is_no_interval() -> None:
    (only,) = score(SYSTEM, REFERENCES, EvaluationConfig(metrics=("TER",), bootstrap_samples=0))

    assert only.low is only.high is None
    assert "bs:" not in only.signature


def test_case_counts_unless_the_configuration_says_otherwise() -> None:
    upper = [reference.upper() for reference in REFERENCES]
    for name, lowercase in (("BLEU", True), ("chrF", True), ("BLEU", False), ("chrF", False)):
        config = EvaluationConfig(metrics=(name,), lowercase=lowercase)  # type: ignore[arg-type]
        (only,) = score(upper, REFERENCES, config)
        assert (only.value == pytest.approx(100)) is lowercase
        assert f"case:{'lc' if lowercase else 'mixed'}" in only.signature


@pytest.mark.parametrize(
    ("tokenize", "expected"),
    [
        # "x ." against "d .": 4/5, 2/4, 1/3, and 1/2 smoothed for none of 2.
        ("13a", 100 * (4 / 5 * 2 / 4 * 1 / 3 * 1 / 4) ** (1 / 4)),
        # "x." against "d.": 3/4, 2/3, 1/2, and 1/2 smoothed for none of 1.
        ("none", 100 * (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4)),
    ],
)
def test_the_way_to_split_words_changes_bleu_and_its_signature(
    tokenize: Tokenization, expected: float
) -> None:
    config = EvaluationConfig(metrics=("BLEU",), tokenize=tokenize)

    (only,) = score(["a b c x."], ["a b c d."], config)

    assert only.value == pytest.approx(expected)
    assert f"tok:{tokenize}" in only.signature


@pytest.mark.parametrize(
    ("tokenize", "expected", "asian"),
    [
        *(("zh", 100 / 6, "yes"), ("char", 100 / 6, "yes")),
        *(("13a", 100, "no"), ("intl", 100, "no"), ("none", 100, "no")),
    ],
)
def test_ter_splits_chinese_as_bleu_does(
    tokenize: Tokenization, expected: float, asian: str
) -> None:
    config = EvaluationConfig(metrics=("TER",), tokenize=tokenize)

    (only,) = score(["狗看见旧书。"], ["猫看见旧书。"], config)

    assert only.value == pytest.approx(expected)
    assert f"asian:{asian}" in only.signature


def test_unequal_numbers_of_sentences_are_both_named() -> None:
    with pytest.raises(EvaluationError, match="3 hypotheses but 2 references"):
        score(SYSTEM, REFERENCES[:2], EvaluationConfig())


def test_an_empty_test_set_is_refused() -> None:
    with pytest.raises(EvaluationError, match="no sentences"):
        score([], [], EvaluationConfig())


def test_empty_translations_are_scored_like_any_other() -> None:
    for only in score(["", "", ""], REFERENCES, EvaluationConfig()):
        assert only.value == (100.0 if only.name == "TER" else 0.0)


@pytest.mark.parametrize(
    ("hypotheses", "expected"),
    [(REFERENCES, 100.0), (SYSTEM, 0.0), ([f" {REFERENCES[0]}\n", "", "nobody is here."], 100 / 3)],
)
def test_exact_matches_are_counted_in_per_cent(hypotheses: Sequence[str], expected: float) -> None:
    assert exact_match(hypotheses, REFERENCES, EvaluationConfig()) == pytest.approx(expected)


def test_the_encoding_of_accents_and_double_spaces_do_not_count() -> None:
    composed, decomposed = ["perché  no"], ["perche\u0301 no\u00a0"]
    config = EvaluationConfig(metrics=("chrF", "TER"), bootstrap_samples=0)

    for one, other in ((composed, decomposed), (decomposed, composed)):
        assert exact_match(one, other, config) == 100.0
        chrf, ter = score(one, other, config)
        assert (chrf.value, ter.value) == (100.0, 0.0)


def test_case_counts_in_exact_matches_as_in_the_scores() -> None:
    shouted = [reference.upper() for reference in REFERENCES]

    assert exact_match(shouted, REFERENCES, EvaluationConfig()) == 0.0
    assert exact_match(shouted, REFERENCES, EvaluationConfig(lowercase=True)) == 100.0
