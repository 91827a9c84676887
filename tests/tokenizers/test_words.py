"""The word-level tokenizer of learners' guides."""

from pathlib import Path

import pytest

from dragoman.tokenizers.tokenizer import TokenizerError
from dragoman.tokenizers.words import WordTokenizer, split_words

WORDS = ["the", "cat", ".", "'", "s", "sleeps", ",", "(", ")", "well", "-", "known"]


def test_words_have_the_ids_after_the_special_ones() -> None:
    tokenizer = WordTokenizer(WORDS)

    assert tokenizer.encode("the cat.") == [4, 5, 6]
    assert tokenizer.vocab_size == 16
    assert tokenizer.pieces([0, 1, 2, 3, 5]) == ["<pad>", "<unk>", "<s>", "</s>", "cat"]


def test_a_word_outside_the_list_is_unknown() -> None:
    assert WordTokenizer(WORDS).encode("the dog The") == [4, 1, 1]
    assert WordTokenizer(WORDS).decode([4, 1, 6]) == "the <unk>."


def test_words_are_looked_up_in_their_normal_form() -> None:
    assert WordTokenizer(["café"]).encode("cafe\u0301") == [4]


def test_lower_casing_is_part_of_the_tokenizer() -> None:
    assert WordTokenizer(WORDS, lowercase=True).encode("THE Cat") == [4, 5]


@pytest.mark.parametrize("lowercase", [False, True])
def test_each_word_is_found_where_it_stands(lowercase: bool) -> None:
    tokenizer = WordTokenizer(WORDS, lowercase=lowercase)

    offsets = tokenizer.offsets("  The\tcat's   cafe\u0301!")

    found = ["The cat's café!"[start:end] for start, end in offsets]
    assert found == ["The", "cat", "'", "s", "café", "!"]


@pytest.mark.parametrize("text", ["</s>", "<pad>", "<s>"])
def test_special_pieces_in_a_text_are_only_text(text: str) -> None:
    ids = WordTokenizer(["<", ">", "/", "s", "pad"]).encode(text)

    assert min(ids) > 3


@pytest.mark.parametrize(
    "text", ["the cat's well, sleeps.", "(the cat)", "well-known (cat)", "the"]
)
def test_ordinary_spacing_comes_back(text: str) -> None:
    tokenizer = WordTokenizer(WORDS)

    assert tokenizer.decode([2, *tokenizer.encode(text), 3, 0]) == text


@pytest.mark.parametrize(
    "text",
    [
        "cat’s",
        "¿cat?",
        "¡cat!",
        "“cat”",
        "«cat»",
        "[cat]",
        "{cat}",
        "cat…",
        "50%",
        "cat: dog; cow",
        "a/b",
    ],
)
def test_no_space_comes_beside_a_sign_that_touches_its_word(text: str) -> None:
    tokenizer = WordTokenizer(split_words(text))

    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_words_and_single_punctuation_marks_are_split() -> None:
    assert split_words("L'ora?! 3,5\u00a0€") == ["L", "'", "ora", "?", "!", "3", ",", "5", "€"]


@pytest.mark.parametrize("text", ["यह एक किताब है", "ฉันอยู่ที่บ้าน", "هٰذَا كِتَابٌ", "שָׁלוֹם", "q\u0307a"])
def test_vowel_signs_and_accents_are_parts_of_words(text: str) -> None:
    assert split_words(text) == text.split()


def test_what_chooses_the_look_of_a_picture_is_no_part_of_a_word() -> None:
    assert split_words("1\ufe0f\u20e3a") == ["1", "\ufe0f", "\u20e3", "a"]


def test_sampling_has_one_way_to_cut() -> None:
    assert WordTokenizer(WORDS).sample(["the cat", "."], seed=1, strength=0.5) == [[4, 5], [6]]


@pytest.mark.parametrize("lowercase", [False, True])
def test_a_saved_list_comes_back(tmp_path: Path, lowercase: bool) -> None:
    path = tmp_path / "tokenizer.words"
    tokenizer = WordTokenizer([*WORDS, "città"], lowercase=lowercase)
    tokenizer.save(path)

    loaded = WordTokenizer.load(path)

    assert loaded.encode("The città sleeps") == tokenizer.encode("The città sleeps")
    assert loaded.fingerprint == tokenizer.fingerprint
    assert loaded.fingerprint != WordTokenizer(WORDS, lowercase=lowercase).fingerprint


def test_the_file_can_be_read_by_people(tmp_path: Path) -> None:
    WordTokenizer(["cat"], lowercase=True).save(tmp_path / "a.words")

    lines = (tmp_path / "a.words").read_text(encoding="utf-8").split("\n")
    assert lines == ["dragoman words 1 lowercase", "<pad>", "<unk>", "<s>", "</s>", "cat", ""]


HEAD = "dragoman words 1\n<pad>\n<unk>\n<s>\n</s>\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a list of words that was saved here"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"a file\nof text\n", "not a list of words that was saved here"),
        (HEAD.replace("<s>\n", "").encode(), "not a list of words that was saved here"),
        ((HEAD + "cat\ndo").encode(), "or only a part of one"),
        ((HEAD + "cat\ndog\ncat\n").encode(), "it has the word 'cat' twice"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.words"
    path.write_bytes(content)

    with pytest.raises(TokenizerError, match=rf"bad\.words: .*{message}"):
        WordTokenizer.load(path)


@pytest.mark.processor_seconds(20)  # in quadratic time it would be hours
def test_a_long_list_with_a_double_at_its_end_is_refused(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(200_000)]
    (tmp_path / "long.words").write_text(HEAD + "".join(f"{word}\n" for word in [*words, "w7"]))

    with pytest.raises(TokenizerError, match="it has the word 'w7' twice"):
        WordTokenizer.load(tmp_path / "long.words")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"nothing\.words: cannot be read"):
        WordTokenizer.load(tmp_path / "nothing.words")
