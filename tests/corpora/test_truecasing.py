"""Case that is learnt and restored, by hand."""

import pytest

from dragoman.corpora.truecasing import Truecaser


@pytest.fixture
def truecaser() -> Truecaser:
    learnt = Truecaser("en")
    for text in (
        "The old mayor of Rome met Tom's sister in May.",
        "In May we may go to Rome, and I may stay with the NATO people.",
        "May it be so. May you come. Who may speak for us?",
        "We like the Rome of old.",
        "Old Town Of Rome",  # a title
    ):
        learnt.learn(text)
    return learnt


@pytest.mark.parametrize(
    ("small", "expected"),
    [
        ("we saw rome.", "We saw Rome."),
        ("what nato may do", "What NATO may do"),  # twice small within, twice May
        ("the old town of rome", "The old town of Rome"),
        ("tom's sister", "Tom's sister"),
        (
            "he left. (so did i.) was it 5 p.m.? yes…  no",
            "He left. (So did I.) Was it 5 p.m.? Yes…  No",
        ),
        ("no. 4 is old, l'europa unknown", "No. 4 is old, l'europa unknown"),
        ("ROME is not rOme, nor Old", "ROME is not rOme, nor Old"),
        ("  « nato »  ", "  « NATO »  "),
        ("12 people, n. 49 people", "12 people, n. 49 people"),
        ("page 4. . nato 5 . 6 nato 7.) nato", "Page 4. . NATO 5 . 6 NATO 7.) NATO"),
        ("nato" + " ." * 100_000 + " 5 rome", "NATO" + " ." * 100_000 + " 5 Rome"),
        ("", ""),
    ],
)
def test_words_are_written_as_they_mostly_are(
    truecaser: Truecaser, small: str, expected: str
) -> None:
    assert truecaser.restore(small) == expected


def test_only_the_case_changes(truecaser: Truecaser) -> None:
    text = "ǆ ﬁne straße ß i̇ ı\u200b 'tis o’clock e-mail x_y 3rd \u0301a"

    restored = truecaser.restore(text)

    assert restored.casefold() == text.casefold()


def test_turkish_has_two_pairs_of_i() -> None:
    truecaser = Truecaser("tr")
    truecaser.learn("Kardeşim de İstanbul ve Isparta yolunda.")

    assert truecaser.restore("istanbul ve ısparta. iyi. ışık") == "İstanbul ve Isparta. İyi. Işık"


def test_armenian_has_a_full_stop_of_its_own() -> None:
    truecaser = Truecaser("hy")
    truecaser.learn("Նա այստեղ է։ Կատուն այնտեղ է, կատուն։")

    assert truecaser.restore("նա կատուն է։ կատուն այստեղ է։") == "Նա կատուն է։ Կատուն այստեղ է։"


def test_a_text_of_which_half_the_words_have_capitals_is_no_title() -> None:
    truecaser = Truecaser("en")
    truecaser.learn("Go to Rome in May.")

    assert truecaser.restore("to rome") == "To Rome"
