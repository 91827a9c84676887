"""Subwords lose nothing, take no special piece from users, and are drawn reproducibly."""

import hashlib
import io
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer
from dragoman.tokenizers.tokenizer import TokenizerError

LONG = "The old teacher remembers the house, the city and a dog that nobody draws."
SPECIAL_LOOKING = ["</s>", "<s>", "<pad>", "<unk>", "<0x41>", "▁", "▁▁ a▁b ▁", "￭ @@ \u2585"]


@given(text=st.text(st.characters()))
@example(text="日本語のテキスト、中文，한국어 العربية हिन्दी ไทย עברית")
@example(text="👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🇮🇹")
@example(text="a\ud800b\udfff")
@example(text="▁\uffff▁ \u2581\u0301")
@example(text="e\u0301 \u00e9 Å")
@example(text="\u2585 \u200b \u202e \x07")
def test_every_text_comes_back_in_its_normal_form(unigram_pair: TokenizerPair, text: str) -> None:
    tokenizer = unigram_pair.source

    ids = tokenizer.encode(text)

    assert tokenizer.decode(ids) == normalise(text)
    assert tokenizer.encode_batch([text]) == [ids]


@pytest.mark.parametrize("text", [*SPECIAL_LOOKING, LONG, "", " "])
def test_bpe_and_unigram_both_give_the_text_back(
    subwords: SentencePieceTokenizer, text: str
) -> None:
    assert subwords.decode(subwords.encode(text)) == normalise(text)


@given(text=st.text(st.characters()))
@example(text="猫 🐈 e\u0301 ▁ \uffff x")
def test_tokens_stand_one_behind_the_other_and_cover_the_text(
    unigram_pair: TokenizerPair, text: str
) -> None:
    tokenizer, normal = unigram_pair.source, normalise(text)

    offsets = tokenizer.offsets(text)

    assert len(offsets) == len(tokenizer.encode(text))
    assert "".join(normal[start:end] for start, end in offsets) == normal
    assert offsets == sorted(offsets)


@pytest.mark.parametrize("text", [LONG, "  the\tcitta\u0300  "])
def test_a_token_stands_where_its_piece_does(subwords: SentencePieceTokenizer, text: str) -> None:
    pieces = subwords.pieces(subwords.encode(text))

    found = [normalise(text)[start:end] for start, end in subwords.offsets(text)]

    for piece, covered in zip(pieces, found, strict=True):
        if not piece.startswith("<0x"):
            assert covered.strip() == piece.strip("▁")


def test_composed_and_decomposed_letters_have_the_same_ids(
    subwords: SentencePieceTokenizer,
) -> None:
    assert subwords.encode("citta\u0300") == subwords.encode("citt\u00e0")


@pytest.mark.parametrize("text", SPECIAL_LOOKING)
def test_no_text_encodes_to_a_special_id(subwords: SentencePieceTokenizer, text: str) -> None:
    for words in (text, f"the {text} cat", f"cat{text}"):
        drawn = subwords.sample([words], seed=7, strength=0.3)
        for ids in (subwords.encode(words), *subwords.encode_batch([words]), *drawn):
            assert not {0, 1, 2, 3} & set(ids)
            assert subwords.decode(ids) == words


def test_padding_beginning_and_end_are_not_decoded(subwords: SentencePieceTokenizer) -> None:
    ids = subwords.encode("the cat")

    assert subwords.decode([2, *ids, 3, 0, 0]) == "the cat"


def test_what_a_model_generates_decodes_to_one_line(unigram_pair: TokenizerPair) -> None:
    ids = range(unigram_pair.source.vocab_size)  # all bytes, line feeds and cut characters too

    text = unigram_pair.source.decode(list(ids))

    assert text == normalise(text)
    assert len(text.splitlines()) == 1


def test_pieces_are_written_as_the_vocabulary_does(subwords: SentencePieceTokenizer) -> None:
    pieces = subwords.pieces(subwords.encode("the cat ß"))

    assert "".join(pieces) == "▁the▁cat▁<0xC3><0x9F>"
    assert subwords.pieces([0, 1, 2, 3]) == ["<pad>", "<unk>", "<s>", "</s>"]


def test_equal_seeds_draw_equal_segmentations_whatever_was_drawn_before(
    subwords: SentencePieceTokenizer,
) -> None:
    texts = [LONG, "the cat sees a dog"]
    first = subwords.sample(texts, seed=5, strength=0.4)
    other = subwords.sample(texts, seed=6, strength=0.4)
    subwords.sample([LONG], seed=99, strength=0.2)

    assert subwords.sample(texts, seed=5, strength=0.4) == first
    assert subwords.sample(texts, seed=6, strength=0.4) == other
    assert first != other


def test_the_largest_seeds_are_seeds_too(subwords: SentencePieceTokenizer) -> None:
    draws = [subwords.sample([LONG], seed=2**32 - 1, strength=0.4) for _ in range(3)]

    assert draws[0] == draws[1] == draws[2]
    assert subwords.sample([LONG], seed=2**63, strength=0.4)


def test_strength_zero_draws_the_best_segmentation(subwords: SentencePieceTokenizer) -> None:
    assert subwords.sample([LONG], seed=5, strength=0.0) == [subwords.encode(LONG)]


def test_a_saved_tokenizer_comes_back_with_its_fingerprint(
    subwords: SentencePieceTokenizer, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.model"
    subwords.save(path)

    loaded = SentencePieceTokenizer.load(path)

    assert loaded.encode(LONG) == subwords.encode(LONG)
    assert loaded.vocab_size == subwords.vocab_size
    assert loaded.fingerprint == subwords.fingerprint
    assert loaded.fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"nothing\.model: cannot be read: No such file"):
        SentencePieceTokenizer.load(tmp_path / "nothing.model")


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"\x80\x04\x95", bytes(999)])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(content)

    with pytest.raises(TokenizerError, match=r"tokenizer\.model: not a SentencePiece model"):
        SentencePieceTokenizer.load(path)


def test_a_model_with_other_special_ids_is_refused(
    corpus: list[tuple[str, str]], tmp_path: Path
) -> None:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([source for source, _ in corpus]),
        model_writer=model,
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    path = tmp_path / "foreign.model"
    path.write_bytes(model.getvalue())

    with pytest.raises(TokenizerError, match=r"foreign\.model: its special ids are .*pad=-1"):
        SentencePieceTokenizer.load(path)
