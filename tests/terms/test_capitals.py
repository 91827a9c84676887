import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.prepared_sentence import prepare
from dragoman.terms.capitals import is_in_capitals, with_capitals, with_small_letters
from dragoman.terms.finder import TermFinder
from dragoman.terms.protected import find_protected


@pytest.mark.parametrize(
    ("text", "small"),
    [
        ("THE CAT IS ON THE TABLE.", "The cat is on the table."),
        ("«PERCHÉ NO?»", "«Perché no?»"),
        ("IS IT ON?", "Is it on?"),
        ("_%s FILES FOUND", "_%s files found"),
        ("1ST FLOOR OPEN", "1st floor open"),
        ("OPEN %(name)s OR {x} AT http://A.it/B", "Open %(name)s or {x} at http://A.it/B"),
        ("%s FILES LEFT", "%s files left"),
        ("12 FILES LEFT", "12 files left"),
        ("ОТКРЫТЬ ФАЙЛ", "Открыть файл"),
        ("ΟΔΟΣ ΑΝΟΙΚΤΗ", "Οδος ανοικτη"),  # with its last sigma
        ("ΑΣ ΠΑΜΕ ΣΠΙΤΙ", "Ας παμε σπιτι"),
    ],
)
def test_a_sentence_in_capitals_is_written_with_small_letters(text: str, small: str) -> None:
    assert is_in_capitals(text, find_protected(text))
    assert with_small_letters(text, find_protected(text)) == small
    assert with_capitals(small, find_protected(small), "en") == text


def test_greek_capitals_have_no_stress_marks() -> None:
    written = with_capitals("Άνοιξε το ρολόι: εύκολα, Μαΐου", [], "el_GR")
    assert written == "ΑΝΟΙΞΕ ΤΟ ΡΟΛΟΪ: ΕΥΚΟΛΑ, ΜΑΪΟΥ"
    sentence = prepare("OPEN THE DOOR", TermFinder(languages=("en", "el")))
    assert sentence.surround("Άνοιξε την πόρτα") == "ΑΝΟΙΞΕ ΤΗΝ ΠΟΡΤΑ"


@pytest.mark.parametrize(
    "text",
    [
        *("USB", "HTML, CSS", "TCP/IP", "CD-ROM", "MAX_PATH_LENGTH", "I A B C", "U.S.A.", "1 2 3"),
        *("The USB PORT IS OPEN", "%s", "", "http://A.IT/B USB"),
        *("他在 NASA 工作。", "मेरा USB खराब है", "אני עובד ב-NASA היום"),
    ],
)
def test_other_sentences_are_not_in_capitals(text: str) -> None:
    assert not is_in_capitals(text, find_protected(text))


@given(st.text(st.sampled_from("aAßİé 1%s{}.:/@-_\U0001f431")))
def test_what_is_kept_is_kept_in_capitals_and_in_small_letters(text: str) -> None:
    kept = find_protected(text)
    for changed in (with_capitals(text, kept, "en"), with_small_letters(text, kept)):
        place = 0
        for term in kept:
            place = changed.index(text[term.start : term.end], place) + term.end - term.start
