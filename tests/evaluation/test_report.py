"""Each reported number stands beside its signature."""

import json

from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.metrics import Score, score
from dragoman.evaluation.report import (
    comparisons_to_table,
    comparisons_to_text,
    scores_to_table,
    scores_to_text,
)
from dragoman.evaluation.significance import Comparison, compare

A = Score("BLEU", 31.256, "nrefs:1|tok:13a", 29.0, 33.5)
B = Score("BLEU", 30.0, "nrefs:1|tok:13a", 28.1, 32.0)
PLAIN = Score("TER", 101.5, "nrefs:1|tok:tercom", None, None)


def test_scores_are_written_in_columns() -> None:
    assert scores_to_text([A, PLAIN]) == (
        "metric  score   95 % interval   signature\n"
        "BLEU    31.26   29.00 to 33.50  nrefs:1|tok:13a\n"
        "TER     101.50  -               nrefs:1|tok:tercom\n"
    )


def test_comparisons_are_written_in_columns() -> None:
    assert comparisons_to_text([Comparison(A, B, 0.03)], ("old", "runs/new")) == (
        "metric  old    runs/new  difference  p       signature\n"
        "BLEU    31.26  30.00     -1.26       0.0300  nrefs:1|tok:13a\n"
    )


def test_tables_hold_the_numbers_of_the_scores() -> None:
    assert scores_to_table([PLAIN]) == {
        "TER": {"score": 101.5, "low": None, "high": None, "signature": "nrefs:1|tok:tercom"}
    }
    assert comparisons_to_table([Comparison(B, A, 0.5)]) == {
        "BLEU": {
            "a": 30.0,
            "b": 31.256,
            "delta": 31.256 - 30.0,
            "p_value": 0.5,
            "signature": "nrefs:1|tok:13a",
        }
    }


def test_what_was_measured_can_be_written_as_json() -> None:
    config = EvaluationConfig(bootstrap_samples=5)
    references = ["a b c d e", "f g h i"]
    scores = score(["a b c d", "f g h i j"], references, config)
    comparisons = compare(["a b c d", "f"], ["a", "f g h i j"], references, config)

    for table in (scores_to_table(scores), comparisons_to_table(comparisons)):
        assert json.loads(json.dumps(table)) == table
