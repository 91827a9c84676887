"""Words are cut at white space and, where a script has none, where tokens begin."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.untrained import ENGLISH_JAPANESE

from dragoman.confidence import judge_words
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.training import train_tokenizers
from dragoman.words import cut_words, may_begin_word, word_spans

JAPANESE = [japanese for _, japanese in ENGLISH_JAPANESE]
THAI = ["แมวอยู่บนโต๊ะ", "สุนัขอยู่ใต้โต๊ะ", "แมวอยู่ที่ไหน", "ฉันเห็นสุนัขและแมว"]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> TokenizerPair:
    pairs = list(zip(JAPANESE, THAI, strict=True)) * 10
    config = TokenizerConfig(kind="bpe", vocab_size=310, joint=False)
    return train_tokenizers(config, lambda: pairs, tmp_path_factory.mktemp("tokenizers"))


@pytest.mark.parametrize("text", JAPANESE)
def test_a_japanese_word_is_a_piece_of_the_vocabulary(text: str, tokenizers: TokenizerPair) -> None:
    tokenizer = tokenizers.source
    pieces = [piece.strip("▁") for piece in tokenizer.pieces(tokenizer.encode(text))]

    assert cut_words(text, tokenizer) == [piece for piece in pieces if piece]
    assert max(map(len, pieces)) > 1  # or each character would do


@pytest.mark.parametrize("text", THAI)
def test_no_thai_word_begins_with_a_mark_on_the_letter_before(
    text: str, tokenizers: TokenizerPair
) -> None:
    words = cut_words(text, tokenizers.target)

    assert "".join(words) == text
    assert len(words) > 1
    assert not any(word[0] in "ัิีึืุู่้๊๋์ํ" for word in words)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("แมวไทย", ["แม", "ว", "ไท", "ย"]),
        ("น้ำตาจะๆ", ["น้ำ", "ตา", "จะ", "ๆ"]),
        ("ໃຈໄທ", ["ໃຈ", "ໄທ"]),
        ("ນ້ຳຕາພະ", ["ນ້ຳ", "ຕາ", "ພະ"]),
        ("ខ្មែរ", ["ខ្មែ", "រ"]),
        ("ဗုဒ္ဓ", ["ဗု", "ဒ္ဓ"]),
        ("日本語が", ["日", "本", "語", "が"]),
        ("ｶﾞｽﾊﾟ", ["ｶﾞ", "ｽ", "ﾊﾟ"]),
    ],
)
def test_no_word_begins_within_what_is_written_as_one(text: str, cut: list[str]) -> None:
    assert [text[start:end] for start, end in word_spans(text, range(len(text)))] == cut


def test_words_of_other_scripts_are_not_cut_there(tokenizers: TokenizerPair) -> None:
    tokenizer = tokenizers.source

    assert cut_words(" Where's  Python?\n", tokenizer) == ["Where's", "Python?"]
    words = cut_words("猫はPython 3.11を 見ます", tokenizer)
    assert "Python" in words
    assert "3.11" in words
    assert "".join(words) == "猫はPython3.11を見ます"


def test_a_wide_sign_ends_a_word_of_any_script(tokenizers: TokenizerPair) -> None:
    tokenizer = tokenizers.source

    for text in ("Java。", "Python、Java。 caffè！", "고양이。"):
        ids = tokenizer.encode(text)
        judged = judge_words(ids, [0.0] * len(ids), tokenizer)
        assert cut_words(text, tokenizer) == [word.text for word in judged]
    assert cut_words("Python、Java。", tokenizer) == ["Python", "、", "Java", "。"]


def test_words_are_written_as_the_text_has_them(tokenizers: TokenizerPair) -> None:
    words = cut_words("caffe\u0300 か\u3099猫か\u3099", tokenizers.source)

    assert words == ["caffe\u0300", "か\u3099", "猫", "か\u3099"]
    assert cut_words("\u0958犬猫", tokenizers.source) == [
        "\u0958",
        "犬",
        "猫",
    ]  # normally two characters
    korean = unicodedata.normalize("NFD", "고양이猫")
    assert cut_words(korean, tokenizers.source) == [korean[:-1], "猫"]


@pytest.mark.processor_seconds(60)  # in quadratic time it would be many minutes
def test_a_long_text_without_spaces_is_soon_cut(tokenizers: TokenizerPair) -> None:
    words = cut_words("か\u3099猫" * 50_000, tokenizers.source)

    assert words == ["か\u3099", "猫"] * 50_000


@given(
    text=st.text(st.sampled_from("aé.猫はが犬ー。「」กี่ \u3000\u3099\u0958ㅏ\u1112\u1161\u11ab🐈"))
)
@example(text="がか\u3099")
@example(text="\u0958犬猫")
@example(text="\u1112猫\u1161\u11ab")
def test_nothing_is_lost_between_words(tokenizers: TokenizerPair, text: str) -> None:
    words = cut_words(text, tokenizers.source)

    assert "".join(words) == "".join(text.split())
    assert "" not in words


def test_a_word_begins_where_a_token_begins_beside_a_script_without_spaces() -> None:
    text = "猫。」Neko 3.5号"

    cut = [text[start:end] for start, end in word_spans(text, range(len(text)))]

    assert cut == ["猫", "。", "」", "Neko", "3.5", "号"]
    places = [place for place in range(-1, len(text) + 2) if may_begin_word(text, place)]
    assert places == [1, 2, 3, 11]
    assert word_spans("", [0]) == word_spans(" ", [0]) == []
