"""A text is cut behind its sentences and nowhere else, and no character is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.tokenizers.sentences import (
    cut_margins,
    cut_to_fit,
    join_translations,
    split_sentences,
)
from dragoman.tokenizers.tokenizer import UNK_ID
from dragoman.tokenizers.words import WordTokenizer

LETTERS = st.sampled_from(
    list("aAé. !?…\"'”»)(]\n\t\r\v\x1c\x85\u2028\xa0\u3000\u0301日。🐈1,;:-\u200b\ufeff")
)


@given(
    text=st.text(LETTERS, max_size=60) | st.text(st.characters(exclude_categories=["Cs"])),
    language=st.sampled_from(["en", "it", "de", "zh", "en_GB", "xx", ""]),
)
def test_the_pieces_put_together_are_the_text(text: str, language: str) -> None:
    pieces = split_sentences(text, language)

    assert "".join(pieces) == text
    assert len(pieces) == 1 or all(any(map(str.isalpha, piece)) for piece in pieces)


@given(text=st.text(LETTERS, max_size=60))
def test_translating_each_piece_to_itself_gives_the_text(text: str) -> None:
    pieces = split_sentences(text, "en")
    joined = join_translations(pieces, [piece.strip() for piece in pieces], "it")

    between = str.maketrans("", "", " \u3000")  # which may become each other between sentences
    assert joined.translate(between) == text.translate(between)


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("en", "Mr. Smith met Dr. Jones at 3 p.m. on Monday. They talked.", 2),
        ("en", "Version 2.0.1 is at www.example.com. Get it!", 2),
        ("en", "a cat sits. a dog runs.", 2),
        ("en", "1. First", 1),
        ("en", "Really?! ... Yes.", 2),
        ("en_US", "One. Two.", 2),
        ("zh", "你好。我是学生。", 2),
        ("it", "Il gatto dorme. E il cane?", 2),
        ("en", "Good 👋🏽 see you 👩\u200d🚀🚀", 2),
        ("en", "File \u2192 Open, by Acme\u2122", 1),
        ("en", "I am happy 😀, and you?", 2),
        ("en", "a cat🐱dog in C\u266f minor", 1),
        ("en", "...", 1),
        ("en", "", 1),
    ],
)
def test_abbreviations_and_numbers_end_no_sentence(
    language: str, text: str, sentences: int
) -> None:
    assert len(split_sentences(text, language)) == sentences


@pytest.mark.parametrize(
    ("language", "pieces"),
    [
        ("en", ["Use .NET and C# here."]),
        ("en", ["Your site.%2$s Foo.Bar() and /home/.Xauthority"]),
        ("en", ["See README.Debian, GMAIL.COM and the .ICC or Authorize.Net."]),
        ("en", ["asp.Net is old. ", "We know."]),
        ("en", ["The cat sat.", "I saw it."]),
        ("en", ["We chose plan B. ", "Then we left."]),
        ("en", ["It works. [1]", " Then it does not."]),
        (
            "en",
            ["We have the report.", "I will vote on it.", "Members of it did so in 2009.", "All."],
        ),
        (
            "en",
            ["\u201cGo.\u201d", "Then we (all!) went?", "Yes!", "\u201cNow\u201d.", "\\nThis way."],
        ),
        ("en", ["The file rfc822.Message of v2.Sources is old. ", "It is big."]),
        ("es", ["\u00a1Hola!", "\u00bfQu\u00e9 tal?", "Bien."]),
        (
            "ru",
            ["\u041e\u043d \u0443\u0448\u0451\u043b.", "\u041e\u043d\u0430 \u0442\u0443\u0442."],
        ),
        (
            "ar",
            [
                "\u0645\u0631\u062d\u0628\u0627.",
                "\u0643\u064a\u0641 \u062d\u0627\u0644\u0643\u061f",
            ],
        ),
        ("en", ["Hi!\U0001f389 ", "Bye."]),
        ("zh", ["\u4f60\u597d\u3002", "\u7528.NET\u5417\uff1f\u201d", "\u597d!", "\u662f"]),
        ("ja", ["\u300c\u306f\u3044\u3002\u300d", "Yes\uff01", "No"]),
        ("ja", ["彼は「はい。」と言った。", "「うん。」", "とても嬉しい。"]),
        ("ja", ["「はい。」", "とりあえず行こう。", "彼は「行く。」と。", "次の日。"]),
        ("ja", ["「君の名は。」という映画です。", "「猫。」を見た。", "「猫。」", "犬は寝た。"]),
        ("ja", ["「行こう。」と彼は言った。", "「はい。」とジョンは答えた。"]),
        ("ja", ["価格は３．５円。", "１．概要　２．詳細"]),
        ("ko", ['그는 "예."라고 말했다. ', "갔다."]),
        ("zh", ["今天来了3.5万个人。", "2个人走了！”", "2024年他们回来了。3.5"]),
        ("ja", ["雨です。", "３．５時に帰ります。", "2. 犬です。"]),
        ("km", ["ខ្ញុំទៅ។ ", "គាត់មក ។ល។ ទៅ។", "ខ្ញុំទៅ។"]),
        ("km", ["តម្លៃ ១.៥ ដុល្លារ។", "ខ្ញុំទៅ។"]),
        ("th", ["ในปีพ.ศ. 2567 เวลา 10.00 น. ดร.สมชาย มา! ", "ดี"]),
        ("fa", ["سال ۱۳۷۰ ه.ش. بود. ", "رفت."]),
        ("ru", ["Это т. е. так. ", "А. С. Пушкин. "]),
        ("tr", ["Bu 19. yüzyıl. ", "Evi 3. katta. "]),
        ("nb", ["Den 5. mai kom han. ", "Bra."]),
        ("he", ["הוא בן 42. ", "הוא גר."]),
        ("ar", ["\u202bهذه قطة.\u202c ", "\u202bنعم.\u202c"]),
        ("fa", ["این گربه است.\u200f ", "بله."]),
        ("he", ['ארה"ב כאן. ', 'הוא אמר: "כן." ', "ואז יצא."]),
        (
            "hi",
            ["\u092f\u0939 \u0939\u0948\u0964", "\u0935\u0939 \u0939\u0948\u0964 ", "\u0914\u0930"],
        ),
    ],
)
def test_without_white_space_a_sentence_ends_where_none_is_needed_or_one_was_forgotten(
    language: str, pieces: list[str]
) -> None:
    assert split_sentences("".join(pieces), language) == pieces


def test_where_a_sentence_is_cut_no_space_comes_into_a_word() -> None:
    assert join_translations(["abc", "d\u00e9f"], ["abc", "d\u00e9f"], "it") == "abcd\u00e9f"
    assert join_translations(["It is.", "Then"], ["\u00c8.", "Poi"], "it") == "\u00c8. Poi"
    assert join_translations(["猫。\u3000", "犬。"], ["Cat.", "Dog."], "en") == "Cat. Dog."
    for first, second in (("\u732b", "\u72d7"), ("\u732b\uff0c", "NET"), ("\u0964", "\u0935")):
        assert join_translations([first, second], ["a", "b"], "en") == "a b"
        for language in ("ja", "zh_TW", "yue"):
            assert join_translations([first, second], ["a", "b"], language) == "ab"


@given(text=st.text(LETTERS, max_size=30) | st.text(st.characters(exclude_categories=["Cs"])))
def test_margins_and_what_is_between_them_are_the_text(text: str) -> None:
    before, content, after = cut_margins(text)

    assert before + content + after == text
    assert any(map(str.isalpha, content)) == any(map(str.isalpha, text))
    assert not any(map(str.isalpha, before + after))


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        ("", "The cat.", ""),
        ("\ufeff\u200b \x07", "The cat.", "\u2028\x00\t"),
        ("1\ufe0f\u20e3 🇮🇹", "2 cats (red)!", "\u2764\ufe0f 👩\u200d🚀"),
        ("", "\u00a9 2026, 5 \u2605\u2605 hotels \u2192 \u20ac", ""),
        ("", "\u0915\u093f\u200d", ""),
        ("", "Thank you", " 😀."),
        ("", "(hello", " 😀) "),
        ("", "Press it! (now)", " 1\ufe0f\u20e3"),
        ("", "\u2068{name}\u2069 joined", ""),
        ("50 % 🎉, 12:30!", "", ""),
        ("\n", "", ""),
        ("", "", ""),
    ],
)
def test_pictures_and_what_is_invisible_stand_beside_a_sentence(
    before: str, content: str, after: str
) -> None:
    assert cut_margins(before + content + after) == (before, content, after)


class Letters(WordTokenizer):
    """A token for each character, at once."""

    def encode(self, text: str) -> list[int]:
        return [UNK_ID] * len(text)


@pytest.mark.parametrize(
    "pieces",
    [
        ["今日、猫は古い本を見ます、", "犬は新しい車を買います。"],
        ["猫は本を見ました。」", "3匹の犬は、車を買います。"],
        ["「今日、", "猫は古い本を見ます。」"],
        ["今日、", "猫は古い本を見ますか？！"],
        ['बिल्ली यहाँ है।"', " कुत्ता भी है"],
        ["重さは３．５キロで、", "車は高い"],
        ["القط الآن، ", "الكلب يشتري السيارة"],
        ["The cat, ", "the dog. The end"],
        ["The ", "cat" + " " * 30],
        ["ខ្ញុំជាសិស្ស", "នៅភ្នំពេញ"],
        ["น้ำดื่มที่", "เย็นมาก"],
        ["มานา", "มา"],
        ["विश्वविद्या", "प्रशासन"],
    ],
)
def test_what_is_too_long_is_cut_behind_sentences_then_clauses(pieces: list[str]) -> None:
    text = "".join(pieces)

    assert cut_to_fit(text, Letters([]), limit=len(text) - 1) == pieces
    assert cut_to_fit(text, Letters([]), limit=len(text)) == [text]


def test_what_stays_whole_is_cut_off_at_its_nearer_end() -> None:
    text = "cat {12345678 9} a dog"
    whole = [(text.index("{"), text.index("}") + 1)]

    pieces = cut_to_fit(text, Letters([]), limit=len(text) - 1, whole=whole)

    assert pieces == ["cat {12345678 9}", " a dog"]


def test_a_single_character_is_not_cut_however_many_tokens_it_has() -> None:
    assert cut_to_fit("猫犬", Letters([]), limit=0) == ["猫", "犬"]


@pytest.mark.processor_seconds(20)  # in quadratic time it would be minutes
@pytest.mark.parametrize("unit", ["the cat ", "the cat, ", "a", " " * 500 + "a", "。", "。」"])
def test_a_million_characters_are_cut_in_reasonable_time(unit: str) -> None:
    text = unit * (10**6 // len(unit))

    pieces = cut_to_fit(text, Letters([]), limit=2000)

    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 2000


@pytest.mark.processor_seconds(30)  # in quadratic time it would be minutes
@pytest.mark.parametrize("unit", ["🎉", "🎉.", "\ufe0f", "👩\u200d", " ", "\n", "!", "<!--", "a!"])
def test_what_never_ends_is_cut_in_reasonable_time(unit: str) -> None:
    text = unit * 120_000 + "x"

    assert "".join(split_sentences(text, "en")) == text


@pytest.mark.parametrize(
    "sentence", ["Mr. Rossi has {} cats, e.g. this one. ", "There are {} of them here."]
)
def test_a_long_text_is_cut_as_its_parts_are(sentence: str) -> None:
    sentences = [sentence.format(i) for i in range(1000)]

    assert split_sentences("".join(sentences), "en") == sentences


def test_a_long_sentence_is_not_cut_as_long_as_it_goes_on() -> None:
    sentence = "the children and the teachers and " * 300 + "he. "

    assert split_sentences(sentence + "Yes.", "en") == [sentence, "Yes."]
