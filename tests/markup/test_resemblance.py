"""Words are found in a translation by what is alike in their own translation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.markup.resemblance import find_alike


def found(whole: str, text: str, *, num_words: int = 1, middle: float = 0.5) -> list[str]:
    stretches = find_alike(whole, text, num_words=num_words, middle=middle)
    return [whole[start:end] for start, end in stretches]


@pytest.mark.parametrize(
    ("whole", "text", "num_words", "expected"),
    [
        ("Il gatto è sul tavolo.", "gatto", 1, "gatto"),
        ("Vedo le mele rosse.", "mela rossa", 2, "mele rosse"),  # other endings
        ("Vedo una mela.", "Le mele.", 1, "mela"),  # another article
        ("Vedo il gatto e il cane.", "Il cane", 2, "il cane"),  # not the other article
        ("Mia sorella dorme.", "Quella sorella ha cominciato?", 1, "sorella"),  # too much
        ("Una macchina rossa e bella.", "rossa macchina", 2, "macchina rossa"),  # another order
        ("Ha già visto l'ufficio.", "Ha visto", 2, "Ha già visto"),  # a word between
        ("È L'UOMO.", "l'uomo", 2, "L'UOMO"),
    ],
)
def test_the_stretch_that_is_most_alike_is_found(
    whole: str, text: str, num_words: int, expected: str
) -> None:
    assert found(whole, text, num_words=num_words) == [expected]


@pytest.mark.parametrize(
    ("whole", "text"),
    [
        ("Vedo il gatto.", "cane"),
        ("Vedo il gatto.", ""),
        ("Vedo il gatto.", "?!"),
        ("", "gatto"),
        ("Va al mare.", "mai la"),  # two letters in common are none
        ("Il gatto è qui.", "il cane rosso dorme sul tavolo"),  # a small part of it
        ("Il " + "gatto " * 40, "gatto " * 40),  # too long
        ("猫は古い本を見ます。", "猫"),
    ],
)
def test_what_resembles_nothing_is_not_found(whole: str, text: str) -> None:
    assert found(whole, text, num_words=6) == []


def test_of_two_that_are_as_good_the_nearest_is_taken() -> None:
    whole = "Il gatto vede un gatto."
    places = [find_alike(whole, "gatto", num_words=1, middle=at / 10) for at in range(11)]

    assert places == [[(3, 8)]] * 6 + [[(17, 22)]] * 5


WORDS = st.lists(st.sampled_from(["il", "la", "gatto", "gatta", "gatti", "mela", "e", "'", "."]))


@given(WORDS.map(" ".join), WORDS.map(" ".join), st.integers(1, 5), st.floats(0, 1))
def test_what_is_found_begins_and_ends_with_words(
    whole: str, text: str, num_words: int, middle: float
) -> None:
    for stretch in found(whole, text, num_words=num_words, middle=middle):
        assert stretch[0].isalpha()
        assert stretch[-1].isalpha() or stretch[-1] == "'"


@given(WORDS.filter(lambda words: any(map(str.isalpha, words))).map(" ".join))
def test_a_text_is_found_in_itself(text: str) -> None:
    words = [word for word in text.split() if word.isalpha()]
    if len(words) <= 20:
        (stretch,) = found(text, text, num_words=len(words))
        assert len(stretch.split()) >= len(words)
