"""A sentence as a model is shown it, and a translation as a model would have written it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.confidence import Word
from dragoman.prepared_sentence import PreparedSentence, prepare
from dragoman.terms.finder import TermFinder
from dragoman.terms.glossary import Glossary

TERMS = TermFinder(languages=("en", "it"))


def prepared(text: str) -> PreparedSentence:
    return prepare(text, TERMS)


@pytest.mark.parametrize(
    ("text", "translation", "content"),
    [
        ("The cat.", "Il gatto.", "Il gatto."),
        ("The cat.", "", ""),
        ("- The cat.", "", ""),
        ("- The cat.", "-", ""),
        ("- The cat.", "- Il  gatto.", "Il gatto."),
        ("-\tThe cat.", "- Il gatto.", "Il gatto."),
        ("- The cat.", "- Il", "Il"),
        ("- 42 cats.", "- 42", "42"),
        ("- The cat.", "Il gatto.", "Il gatto."),
        ("- The cat.", "* Il gatto.", "* Il gatto."),
        ("The cat.", "- Il gatto.", "- Il gatto."),
        ("✨The cat. 🎉 🎉", "✨Il gatto. 🎉 🎉", "Il gatto."),
        ("✨The cat. 🎉 🎉", "✨Il gatto. 🎉", "Il gatto. 🎉"),
        ("The c\u00adat.", "Il gat\u00adto.", "Il gat\u00adto."),
        ("THE CAT SEES %ID.", "IL GATTO VEDE %ID.", "IL GATTO VEDE %ID."),
        ("THE CAT SEES {Dog}.", "IL GATTO VEDE {Dog}.", "Il gatto vede {Dog}."),
        ("THE CAT IS RED.", "IL", "Il"),
        ("THE CAT IS RED.", "Il gatto", "Il gatto"),
        ("The cat is red.", "IL GATTO È ROSSO.", "IL GATTO È ROSSO."),
        ("42", "Quarantadue", "Quarantadue"),
        ("42", "42", ""),
    ],
)
def test_of_a_translation_a_model_reads_what_it_could_have_written(
    text: str, translation: str, content: str
) -> None:
    found = prepared(text).read(translation)

    assert found.content == content
    assert found.surround(found.content).split() == translation.split()


def test_an_acronym_of_the_glossary_keeps_its_capitals_in_a_sentence_in_capitals() -> None:
    terms = {"NATO": "OTAN", "cat": "micio", "ΝΑΤΟ": "OTAN", "PIN": "codice", "pin": "puntina"}
    glossary = Glossary({source: (target,) for source, target in terms.items()})
    finder = TermFinder(languages=("en", "it"), glossary=glossary)
    sentence = prepare("THE NATO OR ΝΑΤΟ CAT SEES {Dog}, THE PIN AND C4D7E.", finder)

    assert sentence.content == "The NATO or ΝΑΤΟ cat sees {Dog}, the PIN and C4D7E."
    assert sentence.surround("Il micio OTAN") == "IL MICIO OTAN"


def test_where_nothing_is_protected_all_is_as_it_is_written() -> None:
    sentence = prepare("- THE CAT IS RED", TermFinder(protects=False))

    assert sentence.content == "- THE CAT IS RED"
    assert sentence.read("- IL GATTO È ROSSO").content == "- IL GATTO È ROSSO"


@given(
    text=st.lists(
        st.sampled_from(["- ", "2) ", "✨", " ", "the cat", "THE CAT IS", "{x}", "🎉", "12"])
    )
)
def test_what_is_written_around_a_translation_is_read_again(text: list[str]) -> None:
    sentence = prepared("".join(text))
    if sentence.stays:
        return
    for words in ("il gatto", "Il gatto è rosso.", "12 gatti"):
        written = sentence.surround(words)
        found = sentence.read(written)
        assert found.content.lower().split() == words.lower().split()
        assert found.in_capitals == sentence.in_capitals
        whole = sentence.continue_from(found)
        assert whole.surround(words) == written


def test_marks_of_direction_are_not_those_of_a_translation() -> None:
    sentence = prepared("\u200f1. The\u061c cat.\u200e \U0001f389\u200f")

    assert sentence.content == "The cat."
    assert sentence.surround("Il gatto.") == "1. Il gatto. \U0001f389"
    assert prepared("\u200f12:30").content == "\u200f12:30"


def test_the_end_of_a_beginning_may_stand_within_the_translation() -> None:
    sentence = prepared("I love 🎉 cats 🎉 ✨")

    assert sentence.read_beginning("Amo 🎉").content == "Amo 🎉"
    assert not sentence.is_over(sentence.read_beginning("Amo 🎉"))
    assert sentence.is_over(sentence.read_beginning("Amo 🎉 i gatti 🎉 ✨"))
    assert not sentence.is_over(sentence.read_beginning(""))
    touching = prepared("I love cats.🎉 ✨")
    assert touching.is_over(touching.read_beginning("猫が好きです。🎉"))
    assert not touching.is_over(touching.read_beginning("猫が好きです。"))


@pytest.mark.processor_seconds(60)  # in quadratic time it would be many minutes
@pytest.mark.parametrize("before", ["✨ ", ""])
def test_a_translation_is_read_in_time_that_grows_with_its_length(before: str) -> None:
    num_words = 200_000
    text = before * num_words + "The cat" + " 🎉" * num_words
    translation = text.replace("The cat", "Il" + " " * num_words + "gatto")
    sentence = prepared(text)

    found = sentence.read(translation)
    lacking = sentence.read(translation.removesuffix(" 🎉"))
    without = sentence.read("Il gatto")

    assert found.content == "Il gatto"
    assert lacking.content.startswith("Il gatto 🎉 🎉")
    assert without.content == "Il gatto"


@pytest.mark.parametrize(
    ("text", "prefix", "written"),
    [
        ("- THE CAT IS RED 🎉", "", "- IL CANE 🎉"),
        ("- THE CAT IS RED 🎉", "-", "- IL CANE 🎉"),
        ("- THE CAT IS RED 🎉", "- I", "- IL CANE 🎉"),
        ("- THE CAT IS RED 🎉", "I", "IL CANE 🎉"),
        ("- THE CAT IS RED 🎉", "- Il", "- Il cane 🎉"),
        ("The cat", "Il", "Il cane"),
        ("✨The cat", "✨ Il", "✨ Il cane"),
        ("-\tThe cat", "-  Il", "-  Il cane"),
    ],
)
def test_a_translation_is_written_as_it_begins(text: str, prefix: str, written: str) -> None:
    sentence = prepared(text)

    assert sentence.continue_from(sentence.read_beginning(prefix)).surround("Il cane") == written


def test_the_words_of_a_translation_are_set_where_they_are_written() -> None:
    il, gatto = Word(text="Il", confidence=0.5), Word(text="gatto", confidence=0.25)

    def surrounded(text: str) -> list[tuple[str, float]]:
        words = prepared(text).surround_words([il, gatto])
        return [(word.text, word.confidence) for word in words]

    assert surrounded("The cat") == [("Il", 0.5), ("gatto", 0.25)]
    assert surrounded("- THE CAT IS RED 🎉") == [
        ("-", 1.0),
        ("IL", 0.5),
        ("GATTO", 0.25),
        ("🎉", 1.0),
    ]
    assert surrounded("✨The cat🎉") == [("✨Il", 0.5), ("gatto🎉", 0.25)]


def test_what_surrounds_a_sentence_is_no_part_of_words_without_spaces() -> None:
    cat, stop = Word(text="猫", confidence=0.5), Word(text="。", confidence=0.25)
    sentence = prepared("✨ ☞The cat.🎉")

    words = [(word.text, word.confidence) for word in sentence.surround_words([cat, stop])]
    assert words == [("✨", 1.0), ("☞", 1.0), ("猫", 0.5), ("。", 0.25), ("🎉", 1.0)]
    empty = [(word.text, word.confidence) for word in sentence.surround_words([])]
    assert empty == [("✨", 1.0), ("☞🎉", 1.0)]
