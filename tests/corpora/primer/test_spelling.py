from dragoman.corpora.primer.derivation import Sentence
from dragoman.corpora.primer.spelling import spell, words


def test_punctuation_and_elided_forms_are_words() -> None:
    assert words("Dov'è l'amica dell'attrice?") == [
        *("Dov'", "è", "l'", "amica", "dell'", "attrice", "?")
    ]
    assert words("Un'isola, per favore.") == ["Un'", "isola", ",", "per", "favore", "."]
    assert words("Ha vent'anni.") == ["Ha", "vent'", "anni", "."]


def test_english_contractions_and_possessives_are_one_word() -> None:
    assert words("Anna's cat doesn't eat.") == ["Anna's", "cat", "doesn't", "eat", "."]
    assert words("It is three o'clock.") == ["It", "is", "three", "o'clock", "."]


def test_tokens_that_share_a_bit_are_linked() -> None:
    english = (("the", 1), ("red", 2), ("island", 4))
    italian = (("l'", 1), ("isola", 4), ("rossa", 2))
    assert spell(Sentence(english, italian)) == (
        "The red island.",
        "L'isola rossa.",
        ((0, 0), (1, 2), (2, 1), (3, 3)),
    )
