"""Sentences one by one: the worst first, each in its place in the table."""

from sacrebleu.metrics import CHRF

from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.sentences import compare_sentences

SOURCES = ["A cat.", "A\tdog\nsleeps.", "It rains."]
REFERENCES = ["Un gatto.", "Un cane dorme.", "Piove."]
OURS = ["Un gatto.", "Un cane.", "Nevica."]
THEIRS = ["Un ratto.", "Un cane dorme.", "Nevica."]


def rows(*systems: list[str], lowercase: bool = False) -> list[list[str]]:
    config = EvaluationConfig(lowercase=lowercase)
    lines = list(compare_sentences(SOURCES, REFERENCES, systems, config, ("runs/a", "runs/b")))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    return [line[:-1].split("\t") for line in lines]


def chrf(translation: str, reference: str) -> str:
    return f"{CHRF().sentence_score(translation, [reference]).score:.1f}"


def test_the_worst_comes_first_with_its_chrf() -> None:
    head, *found = rows(OURS)
    assert head == ["sentence", "source", "reference", "chrF", "translation"]
    assert found == [
        ["3", "It rains.", "Piove.", chrf("Nevica.", "Piove."), "Nevica."],
        ["2", "A dog sleeps.", "Un cane dorme.", chrf("Un cane.", "Un cane dorme."), "Un cane."],
        ["1", "A cat.", "Un gatto.", "100.0", "Un gatto."],
    ]


def test_of_two_systems_what_the_first_lost_to_the_second_comes_first() -> None:
    head, *found = rows(OURS, THEIRS)
    assert head[3:5] == ["chrF of runs/a", "translation of runs/a"]
    assert head[5:] == ["chrF of runs/b", "translation of runs/b"]
    assert [row[0] for row in found] == ["2", "3", "1"]
    assert found[0][3:] == [
        chrf("Un cane.", "Un cane dorme."),
        "Un cane.",
        "100.0",
        "Un cane dorme.",
    ]


def test_case_matters_unless_it_is_ignored() -> None:
    upper = [text.upper() for text in REFERENCES]
    assert {row[3] for row in rows(upper, lowercase=True)[1:]} == {"100.0"}
    assert "100.0" not in {row[3] for row in rows(upper)[1:]}
