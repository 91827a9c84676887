"""Faults that show at first sight are named, and what is right is left alone."""

import pytest

from dragoman.faults import Fault, find_faults, longest_loop

WORDS = ["one", "man", "is", "riding", "a", "brown", "horse", "over", "the", "green", "hills"]


def faults(source: list[int], translation: list[int]) -> tuple[Fault, ...]:
    text = "one" if translation else ""
    return find_faults("uno", text, source_ids=source, translation_ids=translation)


@pytest.mark.parametrize(
    ("ids", "covered"),
    [
        ([], 0),
        ([7] * 5, 0),  # too few tokens to speak of a loop
        ([7] * 6, 6),
        ([1, 2, 3] * 3, 0),  # three times may be meant
        ([9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 8], 13),
        ([*range(20)] * 4, 80),
        ([*range(21)] * 4, 0),
        ([1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2], 12),
        ([*range(100)], 0),
    ],
)
def test_loops_are_measured(ids: list[int], covered: int) -> None:
    assert longest_loop(ids) == covered


def test_a_loop_is_a_fault_unless_the_source_has_it_too() -> None:
    loop = [5, 6] * 8
    assert faults([*range(16)], loop) == ("repeats itself",)
    assert faults([1, 2] * 8, loop) == ()
    assert faults([1, 2] * 4, loop) == ()
    assert faults([1, 2, 1, 2, 1, 2, 4, 5, 6, 7], loop) == ("repeats itself",)


def test_nothing_to_be_seen_is_an_empty_translation() -> None:
    for ids, text in (([], ""), ([6], ""), ([6, 6], " ")):
        found = find_faults("uno", text, source_ids=[4, 5], translation_ids=ids)
        assert found == ("is empty",)
    assert find_faults("", "", source_ids=[], translation_ids=[]) == ()


@pytest.mark.parametrize(
    ("languages", "is_fault"),
    [(("pt_PT", "pt_BR"), False), (("sr_Latn", "sr_Cyrl"), True), (("en", "pt"), True)],
)
def test_between_varieties_of_a_language_a_text_may_stay(
    languages: tuple[str, str], is_fault: bool
) -> None:
    text, ids = "o gato quer o jornal todos os dias", [*range(8)]
    found = find_faults(text, text, source_ids=ids, translation_ids=ids, languages=languages)
    assert found == (("copies the source",) if is_fault else ())


def test_a_copy_is_a_fault_but_not_that_of_a_name() -> None:
    sentence = " ".join(WORDS)

    def copied(source: str, translation: str) -> bool:
        ids = [*range(10)]
        found = find_faults(source, translation, source_ids=ids, translation_ids=ids)
        return found == ("copies the source",)

    assert copied(sentence, sentence)
    assert copied(sentence, sentence.upper() + " !")
    assert not copied("The New York Times", "The New York Times")
    assert copied("The cat sleeps.", "The cat sleeps.")
    assert copied("three cats sleep", "Three cats sleep")
    assert not copied("The cat sleeps.", "Cat the sleeps.")
    for kept in ("Il cat", "Visual Studio code", "/usr/bin/env python -m", "providers=['all']"):
        assert not copied(kept, kept)
    assert not copied(sentence, "un uomo cavalca un cavallo marrone sulle colline verdi")
    assert not copied(sentence, " ".join([*WORDS[:7], "un", "uomo", "cavalca"]))
    assert not copied("1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8 9")
    address = "https://example.com/a-page/about/horses/and/their/riders?in=hills"
    assert not copied(f"See {address}.", f"Vedi {address}.")
    assert copied(f"{sentence}: {address}", f"{sentence}: {address}")
    assert copied("one man riding brown horse hills", "hills horse brown riding man one")
    assert not copied("one man riding brown horse", "horse brown riding man one")
    # A word of the source excuses one of the translation, not ten.
    assert not copied(sentence, "horse horse horse horse horse horse horse")


@pytest.mark.parametrize(
    ("translation", "copied"),
    [
        ("One man is riding a green horse over the brown mountains.", True),
        ("One man sta cavalcando a brown horse over the green colline", True),
        ("Un uomo cavalca a brown horse sulle colline verdi.", False),  # fewer than half
        ("Cavallo marrone is riding over the.", True),
        ("Cavallo marrone riding over the.", False),  # too few words
        ("Un uomo cavalca un cavallo marrone sulle colline verdi.", False),
        ("One Man Riding Brown Horse Over Green Hills Entertainment", False),  # a name
        ("riding.man(a_brown, horse) cavalca over/the/green.", False),  # code
    ],
)
def test_what_stays_in_the_language_of_the_source_is_a_copy(translation: str, copied: bool) -> None:
    source, ids = "One man is riding a brown horse over the green hills.", [*range(10)]

    def found(languages: tuple[str, str] | None) -> tuple[Fault, ...]:
        return find_faults(
            source, translation, source_ids=ids, translation_ids=ids, languages=languages
        )

    assert found(("en", "it")) == (("copies the source",) if copied else ())
    for unknown in (None, ("en", "tlh")):  # of Klingon no words are listed
        assert found(unknown) == ()


@pytest.mark.parametrize(
    ("text", "languages", "copied"),
    [
        ("今日、先生は小さいりんごを欲しがります。", ("ja", "en"), True),
        ("老师今天想要旧的苹果。", ("zh", "en"), True),
        ("선생님은 오늘 오래된 사과를 원합니다.", ("ko", "ja"), True),
        ("शिक्षक आज पुराना सेब चाहता है।", ("hi", "en"), True),
        ("المعلم يريد التفاحة.", ("ar", "fa"), False),  # three words may be names
        ("東京都港区。", ("ja", "en"), False),  # too short
        ("東京都新宿区。", ("ja", "en"), True),
        ("北京大学图书馆", ("zh", "ja"), False),  # it is written so there, too
        ("老师今天想要旧的苹果。", ("zh_Hans", "ja"), True),
        ("老师今天想要“旧的苹果”。", ("zh", "ko"), True),
        ("老师の今天想要旧的苹果。", ("zh", "ja"), False),
        ("iPhone 15 Pro Max (256GB)", ("en", "ja"), False),
        ("老师今天想要旧的苹果。", ("zh", "tlh"), False),  # in Klingon's script, perhaps
    ],
)
def test_a_copy_is_seen_in_letters_without_case(
    text: str, languages: tuple[str, str], copied: bool
) -> None:
    ids = [*range(10)]
    found = find_faults(text, text, source_ids=ids, translation_ids=ids, languages=languages)

    assert found == (("copies the source",) if copied else ())


def test_what_two_languages_share_is_no_copy() -> None:
    ids = [*range(10)]
    pairs = [
        ("La casa de la playa es muy grande y bonita.", "A casa da praia é muito grande e bonita."),
        ("Jeg vil gerne have en kop kaffe med dig.", "Jeg vil gjerne ha en kopp kaffe med deg."),
    ]
    for (source, translation), languages in zip(pairs, (("es", "pt"), ("da", "nb")), strict=True):
        assert not find_faults(
            source, translation, source_ids=ids, translation_ids=ids, languages=languages
        )


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        (5, 30, ("is far too long",)),
        (5, 17, ()),
        (2, 9, ()),  # little text can be said in many ways
        (30, 5, ("is far too short",)),
        (30, 0, ("is empty",)),
        (1, 0, ("is empty",)),
        (0, 0, ()),
        (9, 1, ()),
    ],
)
def test_lengths_are_compared(source: int, translation: int, expected: tuple[Fault, ...]) -> None:
    assert faults([*range(source)], [*range(100, 100 + translation)]) == expected


@pytest.mark.parametrize(
    ("source", "translation", "breaks_off"),
    [
        ("Click here to open the file.", "Fai clic", True),
        ("Click here to open the file!", "Fai clic qui", True),
        ("Click here to open the file. ", "Vai a ", True),
        ('He said: "Open the file now?"', "Disse apri", True),
        ("هل قرأت الكتاب القديم؟", "Have", True),
        ("यह एक बहुत अच्छी किताब है।", "This", True),
        ("یہ کتاب بہت اچھی ہے۔", "This", True),
        ("Click here to open the file", "Fai clic", False),  # a title, perhaps
        ("Click here to open the file.", "Fai clic.", False),  # it may be said so
        ("Click here to open the file.", "Fai clic qui per aprire", False),
        ("Open the file.", "Apri", False),
        ("There are three of them.", "Sono 3", False),
        ("Click here to open the file.", "\u70b9\u51fb\u6b64\u5904\u6253\u5f00\u6587\u4ef6", False),
        ("\u70b9\u51fb\u6b64\u5904\u3002", "Fai clic", False),
    ],
)
def test_a_translation_that_stops_in_the_middle_is_too_short(
    source: str, translation: str, breaks_off: bool
) -> None:
    ids = [*range(8)]
    found = find_faults(source, translation, source_ids=ids, translation_ids=ids)
    assert found == (("is far too short",) if breaks_off else ())


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("A price of 5 \u20ac", "Un prezzo di 5 \ufffd", ("has a broken character",)),
        ("A price of 5 \ufffd", "Un prezzo di 5 \ufffd", ()),  # as its source has
    ],
)
def test_half_a_character_is_a_fault(
    source: str, translation: str, expected: tuple[Fault, ...]
) -> None:
    ids = [*range(8)]
    assert find_faults(source, translation, source_ids=ids, translation_ids=ids) == expected
