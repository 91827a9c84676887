"""A glossary of which no term occurs: said where that is no accident, and why, if that shows."""

import pytest

from dragoman.terms import glossary_use
from dragoman.terms.glossary import Glossary
from dragoman.terms.glossary_use import FEWEST_TEXTS, GlossaryUse

GLOSSARY = Glossary({"valve": ("valvola",), "file": ("archivio",)}, languages=("en", "it"))


def warnings(texts: list[str], glossary: Glossary | None = GLOSSARY) -> list[str]:
    use = GlossaryUse(glossary)
    for text in texts:
        use.look_at(text)
    return use.warnings()


def test_a_glossary_is_used_if_one_term_occurs_once() -> None:
    texts = ["The cat."] * FEWEST_TEXTS
    assert warnings([*texts, "A Valve."]) == []
    assert warnings(texts, glossary=None) == []


def test_a_glossary_that_is_the_wrong_way_round_is_told_from_one_of_other_words() -> None:
    texts = ["Il gatto.", "Files and valves."] * FEWEST_TEXTS
    (other,) = warnings(texts)
    (wrong,) = warnings(["La Valvola.", *texts])
    assert other == (
        "no term of the glossary occurs in the text; each form that occurs, such as a plural, "
        "needs a line of its own"
    )
    assert wrong == (
        "no term of the glossary occurs in the text, but translations of its terms do; "
        "exchange its columns"
    )


def test_a_short_text_may_lack_all_terms() -> None:
    texts = ["La valvola."] * (FEWEST_TEXTS - 1) + [" "] * FEWEST_TEXTS
    assert warnings(texts) == []
    assert len(warnings([*texts, "Il gatto."])) == 1


def test_the_beginning_of_a_long_text_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glossary_use, "MOST_TEXTS", FEWEST_TEXTS)
    (warning,) = warnings(["The cat."] * FEWEST_TEXTS + ["A valve."])
    assert f"occurs in the first {FEWEST_TEXTS} lines; " in warning

    use = GlossaryUse(GLOSSARY)
    assert use.look_at("A valve.")
    assert not use.look_at("A cat.")
