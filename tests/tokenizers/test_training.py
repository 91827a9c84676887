"""Vocabularies are learnt from any amount of text, always the same way."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from dragoman.tokenizers import training
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import TokenizerError
from dragoman.tokenizers.training import automatic_vocab_size, train_tokenizers

Corpus = list[tuple[str, str]]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("kind", ["unigram", "bpe", "words"])
def test_the_same_text_gives_the_same_file(
    corpus: Corpus, tmp_path: Path, kind: Literal["unigram", "bpe", "words"], lowercase: bool
) -> None:
    config = TokenizerConfig(kind=kind, lowercase=lowercase)
    for name in ("once", "and_once_more"):
        train_tokenizers(config, lambda: iter(corpus), tmp_path / name)

    once, again = (next((tmp_path / name).iterdir()) for name in ("once", "and_once_more"))
    assert once.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_larger_vocabulary_than_the_text_supports_becomes_smaller(
    corpus: Corpus, tmp_path: Path, kind: Literal["unigram", "bpe"]
) -> None:
    config = TokenizerConfig(kind=kind, vocab_size=30_000)

    tokenizer = train_tokenizers(config, lambda: corpus, tmp_path).source

    assert 260 < tokenizer.vocab_size < 1000


def test_one_short_sentence_is_enough(tmp_path: Path) -> None:
    pair = train_tokenizers(TokenizerConfig(), lambda: [("a", "è")], tmp_path)

    assert pair.source.decode(pair.source.encode("another text")) == "another text"


def test_a_vocabulary_that_cannot_hold_the_characters_is_refused(
    corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(TokenizerError, match=r"vocab_size=100 is too small: .* need 2\d\d"):
        train_tokenizers(TokenizerConfig(vocab_size=100), lambda: corpus, tmp_path)


def test_the_automatic_vocabulary_makes_room_for_many_characters(
    corpus: Corpus, tmp_path: Path
) -> None:
    ideographs = "".join(chr(0x4E00 + i) for i in range(2000))
    text = [*corpus * 2, (ideographs, "a")]

    tokenizer = train_tokenizers(TokenizerConfig(kind="bpe"), lambda: text, tmp_path).source

    assert len(tokenizer.encode(ideographs)) < 2100
    assert len(tokenizer.encode("My sister remembers")) < 5


@pytest.mark.parametrize("nothing", [[], [("\n", " ")]])
def test_no_text_is_refused(tmp_path: Path, nothing: Corpus) -> None:
    with pytest.raises(TokenizerError, match="there is no text"):
        train_tokenizers(TokenizerConfig(), lambda: nothing, tmp_path)


def test_separate_vocabularies_each_know_their_own_language(corpus: Corpus, tmp_path: Path) -> None:
    pair = train_tokenizers(TokenizerConfig(kind="words", joint=False), lambda: corpus, tmp_path)

    assert 1 not in pair.source.encode("My sister sees the house")
    assert set(pair.target.encode("sister sees the cat")) == {1}
    assert 1 not in pair.target.encode("Mia sorella vede la casa")


def test_a_joint_vocabulary_knows_both_languages(corpus: Corpus, tmp_path: Path) -> None:
    pair = train_tokenizers(TokenizerConfig(kind="words"), lambda: corpus, tmp_path)

    assert 1 not in pair.source.encode("sister sorella house casa")


def test_a_rare_word_is_unknown(tmp_path: Path) -> None:
    text = [("cat cat dog", "gatto"), ("bird", "gatto dog")]
    config = TokenizerConfig(kind="words", min_frequency=2)

    words = train_tokenizers(config, lambda: text, tmp_path).source

    assert words.pieces(range(4, words.vocab_size)) == ["cat", "dog", "gatto"]


@pytest.mark.parametrize("size", [7, None])
def test_the_most_frequent_words_are_kept(
    size: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "LARGEST_WORD_LIST", 7)
    config = TokenizerConfig(kind="words", vocab_size=size, min_frequency=1)

    words = train_tokenizers(config, lambda: [("d b c c", "b c a")], tmp_path).source

    assert words.pieces(range(4, words.vocab_size)) == ["c", "b", "a"]  # a before d, once each


def test_a_word_list_that_folds_case_knows_capitals(tmp_path: Path) -> None:
    config = TokenizerConfig(kind="words", lowercase=True, min_frequency=2)

    train_tokenizers(config, lambda: [("The cat", "the Cat")], tmp_path)

    words = TokenizerPair.load(tmp_path, "words").source
    assert words.pieces(words.encode("THE CAT")) == ["the", "cat"]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_lower_casing_stays_in_the_file(
    corpus: Corpus, tmp_path: Path, kind: Literal["unigram", "bpe"]
) -> None:
    config = TokenizerConfig(kind=kind, lowercase=True)

    tokenizer = train_tokenizers(config, lambda: corpus, tmp_path).source

    assert tokenizer.encode("THE CAT È ▁ LÀ İ") == tokenizer.encode("the cat è ▁ là i\u0307")
    assert tokenizer.decode(tokenizer.encode("THE CAT È ▁ ½ Ａ")) == "the cat è ▁ ½ ａ"


def test_without_byte_fallback_a_new_character_is_unknown(corpus: Corpus, tmp_path: Path) -> None:
    config = TokenizerConfig(byte_fallback=False)

    tokenizer = train_tokenizers(config, lambda: corpus, tmp_path).source

    assert tokenizer.vocab_size < 256
    assert tokenizer.encode("日")[-1] == tokenizer.encode("▁")[-1] == 1
    assert tokenizer.decode(tokenizer.encode("the cat")) == "the cat"


STRANGE = {
    "C0": "".join(map(chr, range(1, 0x20))),
    "C1": "".join(map(chr, range(0x7F, 0xA0))),
    "direction": "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    "no width": "\u00ad\u200b\u200c\u200d\u2060\ufeff",
    "tags": "".join(map(chr, range(0xE0020, 0xE0080))),
    "replacement": "\ufffd",
    "NUL": "\0",
    "half a pair": "\ud800",
}


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("kind", ["unigram", "bpe", "words"])
def test_a_vocabulary_is_learnt_from_characters_that_nobody_sees(
    kind: Literal["unigram", "bpe", "words"], lowercase: bool, tmp_path: Path
) -> None:
    texts = [f"one{strange}two {' '.join(strange)}" for strange in STRANGE.values()]
    config = TokenizerConfig(kind=kind, lowercase=lowercase, min_frequency=1)

    train_tokenizers(config, lambda: [(text, "tre") for text in texts], tmp_path)

    learnt = TokenizerPair.load(tmp_path, kind).source  # as it was written
    for text in texts:
        ids = learnt.encode(text)
        assert learnt.special_ids.unk not in ids
        assert learnt.decode(ids).replace(" ", "") == normalise(text).replace(" ", "")


def test_one_endless_line_is_learnt_from(tmp_path: Path) -> None:
    line = ("abc " * 249 + "abcß") * 27  # ß ends each piece in which it is learnt from
    config = TokenizerConfig(byte_fallback=False)

    tokenizer = train_tokenizers(config, lambda: [(line, "xyz")], tmp_path).source

    assert len(tokenizer.encode("abc abc")) < 5
    assert tokenizer.special_ids.unk not in tokenizer.encode("ß")
    assert tokenizer.decode(tokenizer.encode(line)) == normalise(line)


@pytest.mark.parametrize("joint", [True, False])
def test_a_huge_text_is_thinned_out_evenly_on_both_sides(
    joint: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "MAX_CHARACTERS", 21)  # of which there are nearly twice as many

    def pairs() -> Iterator[tuple[str, str]]:
        return ((f"s{i}", f"t{i}") for i in range(10))

    config = TokenizerConfig(kind="words", min_frequency=1, joint=joint)
    pair = train_tokenizers(config, pairs, tmp_path)

    learnt = [set(words.pieces(range(4, words.vocab_size))) for words in (pair.source, pair.target)]
    source, target = ({f"{side}{i}" for i in range(0, 10, 2)} for side in "st")
    assert learnt == ([source | target] * 2 if joint else [source, target])


def test_the_vocabulary_grows_with_the_text_and_is_bounded() -> None:
    sizes = [automatic_vocab_size(10**exponent) for exponent in range(13)]

    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[6], sizes[-1]) == (500, 4000, 32_000)


def test_text_that_nobody_chose_a_size_for_gets_the_automatic_one(tmp_path: Path) -> None:
    syllables = [a + b + c for a in "bcdfg" for b in "aeiou" for c in "lmnrst"]
    words = [a + b for a in syllables for b in syllables[::7]]
    text = [(" ".join(words[i::50]), " ".join(words[i::150])) for i in range(50)]
    characters = [sum(map(len, side)) for side in zip(*text, strict=True)]

    joint = train_tokenizers(TokenizerConfig(kind="bpe"), lambda: text, tmp_path)
    separate = train_tokenizers(TokenizerConfig(kind="bpe", joint=False), lambda: text, tmp_path)

    assert joint.source.vocab_size == automatic_vocab_size(sum(characters))
    sizes = [separate.source.vocab_size, separate.target.vocab_size]
    assert sizes == list(map(automatic_vocab_size, characters))
    assert len(set(sizes)) == 2
