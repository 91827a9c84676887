"""Detection: a few languages, known by their letters and frequent words."""

import pytest

from dragoman.languages.detection import Detector, _frequent_words

SENTENCES = {
    "en": "My sister has bought a new bicycle for her birthday.",
    "it": "Mia sorella ha comprato una bicicletta nuova per il suo compleanno.",
    "de": "Meine Schwester hat zum Geburtstag ein neues Fahrrad gekauft.",
    "fr": "Ma sœur a acheté un nouveau vélo pour son anniversaire.",
    "es": "Mi hermana se ha comprado una bicicleta nueva por su cumpleaños.",
    "pt": "A minha irmã comprou uma bicicleta nova no seu aniversário.",
    "nl": "Mijn zus heeft voor haar verjaardag een nieuwe fiets gekocht.",
    "sv": "Min syster har köpt en ny cykel till sin födelsedag.",
    "pl": "Moja siostra kupiła sobie nowy rower na urodziny.",
    "fi": "Siskoni on ostanut uuden polkupyörän syntymäpäiväkseen.",
    "hu": "A nővérem új biciklit vett a születésnapjára.",
    "tr": "Kız kardeşim doğum günü için yeni bir bisiklet aldı.",
    "ru": "Моя сестра купила себе новый велосипед на день рождения.",
    "uk": "Моя сестра купила собі новий велосипед і їздить ним до школи.",
    "el": "Η αδελφή μου αγόρασε καινούργιο ποδήλατο.",
    "ja": "妹は誕生日に新しい自転車を買いました。",
    "he": "אחותי קנתה אופניים חדשים ליום הולדתה.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_recognised_among_many_languages(language: str) -> None:
    detector = Detector(SENTENCES)

    assert detector.detect(SENTENCES[language], among=list(SENTENCES)).language == language


@pytest.mark.parametrize("text", ["", "7", "🐈", "— … !"])
def test_without_a_letter_the_first_language_is_as_good_as_any(text: str) -> None:
    first, second = Detector(["it", "en"]).rank(text, among=["it", "en"])

    assert (first.language, first.confidence, second.confidence) == ("it", 0.5, 0.5)


def test_confidences_are_probabilities_and_grow_with_the_text() -> None:
    detector = Detector(["en", "it"])

    short, long = (detector.rank(text, among=["en", "it"]) for text in ("table", SENTENCES["en"]))

    for ranked in (short, long):
        assert sum(found.confidence for found in ranked) == pytest.approx(1)
        assert ranked[0].confidence >= ranked[1].confidence
    assert long[0].confidence > short[0].confidence


def test_codes_may_have_a_region_and_may_be_unknown() -> None:
    detector = Detector(["en_GB", "pt-BR", "tlh"])

    assert detector.detect(SENTENCES["pt"], among=["en_GB", "pt-BR", "tlh"]).language == "pt-BR"
    assert detector.detect(SENTENCES["en"], among=["tlh", "en_GB"]).language == "en_GB"


@pytest.mark.parametrize(
    ("unlisted", "listed", "text"),
    [
        ("vi", "en", "Hôm nay tôi đi học với bạn bè của tôi."),
        ("vi", "en", "Chúng tôi sẽ đến thăm bà ngoại vào ngày mai."),
        ("hr", "en", "Danas idem u školu sa svojim prijateljima."),
        ("hr", "en", "Molimo spremite datoteku prije zatvaranja prozora."),
        ("lt", "de", "Šiandien einu į mokyklą su savo draugais."),
        ("kk", "ru", "Бүгін мен достарыммен мектепке барамын."),
    ],
)
def test_a_language_without_a_list_is_not_taken_for_one_that_has_it(
    unlisted: str, listed: str, text: str
) -> None:
    detector = Detector([unlisted, listed])

    assert detector.detect(text, among=[listed, unlisted]).language == unlisted
    assert detector.detect(SENTENCES[listed], among=[unlisted, listed]).language == listed


def test_only_languages_with_lists_or_of_different_scripts_are_told_apart() -> None:
    detector = Detector(["en", "it", "vi", "zh", "ja", "tlh"])

    assert detector.tells_apart("en", "it")
    assert detector.tells_apart("vi", "zh")
    assert not detector.tells_apart("vi", "en")
    assert not detector.tells_apart("ja", "zh")
    assert not detector.tells_apart("zh", "tlh")


def test_every_list_has_enough_words_in_lower_case() -> None:
    for language, words in _frequent_words().items():
        assert len(words) >= 75, language
        assert all(word == word.lower() for word in words), language
