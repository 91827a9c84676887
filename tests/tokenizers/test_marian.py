"""Marian tokenizers give the ids that Hugging Face's give, and survive being saved."""

import io
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from dragoman.alignment.words import words_of_tokens
from dragoman.tokenizers.marian import MarianTokenizer, language_tokens
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.tokenizer import SpecialIds, TokenizerError

ENGLISH = [
    "The cat is on the table.",
    "A dog runs after the old cat.",
    "Where is the station, please?",
    "We have never seen such a table!",
    "She reads the letter that he wrote.",
]
ITALIAN = [
    "Il gatto è sul tavolo.",
    "Un cane corre dietro al vecchio gatto.",
    "Dov'è la stazione, per favore?",
    "Non abbiamo mai visto un tavolo simile!",
    "Lei legge la lettera che lui ha scritto.",
]
TEXTS = [
    *ENGLISH,
    "cats and dogs",
    "  two   spaces ",
    "ﬁne ½ Ａ",
    "unknown: 漢字 ☃",
    "literally <pad> and <s>",
    "",
]


def train(texts: list[str]) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def pieces_of(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]


def longest_piece(model: bytes) -> str:
    return max(pieces_of(model), key=len)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay the files out as OPUS-MT does, with a vocabulary that lacks one piece of the source."""
    directory = tmp_path_factory.mktemp("marian")
    source, target = train(ENGLISH), train(ITALIAN)
    (directory / "source.spm").write_bytes(source)
    (directory / "target.spm").write_bytes(target)
    known = [*reversed(pieces_of(source)), *pieces_of(target)]
    pieces = dict.fromkeys(["</s>", "<unk>", *known, ">>ita<<", ">>fra<<", "<pad>"])
    del pieces[longest_piece(source)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    (directory / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    return directory


@pytest.fixture(scope="module")
def reference(files: Path) -> Iterator[Any]:
    transformers = pytest.importorskip("transformers")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Recommended: pip install sacremoses", UserWarning)
        yield transformers.MarianTokenizer(
            str(files / "source.spm"), str(files / "target.spm"), str(files / "vocab.json")
        )


def side(files: Path, name: str, prefix: str | None = None) -> MarianTokenizer:
    vocabulary = json.loads((files / "vocab.json").read_text(encoding="utf-8"))
    pad = vocabulary["<pad>"]
    special_ids = SpecialIds(pad=pad, unk=1, bos=pad, eos=0)
    model = (files / f"{name}.spm").read_bytes()
    return MarianTokenizer(model, vocabulary, special_ids, prefix=prefix)


@pytest.fixture
def source(files: Path) -> MarianTokenizer:
    return side(files, "source")


@pytest.fixture
def target(files: Path) -> MarianTokenizer:
    return side(files, "target")


@pytest.mark.parametrize("text", [text for text in TEXTS if "<" not in text])
def test_source_ids_and_pieces_equal_those_of_hugging_face(
    source: MarianTokenizer, reference: Any, text: str
) -> None:
    ids = source.encode(text)

    assert [*ids, source.special_ids.eos] == reference(text).input_ids
    known = [piece if piece in reference.encoder else "<unk>" for piece in reference.tokenize(text)]
    assert source.pieces(ids) == known


@pytest.mark.parametrize("text", ITALIAN)
def test_target_ids_and_text_equal_those_of_hugging_face(
    target: MarianTokenizer, reference: Any, text: str
) -> None:
    ids = target.encode(text)

    expected = reference(text_target=text).input_ids
    assert [*ids, target.special_ids.eos] == expected
    assert target.decode(ids) == text
    assert target.decode(ids) == reference.decode(expected, skip_special_tokens=True)


def test_pieces_of_the_other_language_can_be_decoded(
    source: MarianTokenizer, target: MarianTokenizer
) -> None:
    assert target.decode(source.encode("Where is the station, please?")) == (
        "Where is the station, please?"
    )


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_stand_where_the_text_has_them_however_sentencepiece_writes_it(
    files: Path, text: str
) -> None:
    plain, prefixed = side(files, "source"), side(files, "source", ">>ita<<")
    normal = normalise(text)

    offsets = plain.offsets(text)

    assert len(offsets) == len(plain.encode(text))
    assert "".join(normal[start:end] for start, end in offsets) == normal
    assert prefixed.offsets(text) == ([(0, 0), *offsets] if text else [])
    words = words_of_tokens(text, plain)
    assert words_of_tokens(text, prefixed) == ([-1, *words] if text else [])
    assert sorted(set(words)) == list(range(len(text.split())))


def test_a_word_that_is_read_as_a_space_has_no_token(source: MarianTokenizer) -> None:
    tokens = source.encode("The cat")

    assert source.encode("The \u200f cat") == tokens
    assert words_of_tokens("The cat", source) == [0] * (len(tokens) - 1) + [1]
    assert words_of_tokens("The \u200f cat", source) == [0] * (len(tokens) - 1) + [2]


def test_a_piece_that_the_vocabulary_lacks_is_unknown(source: MarianTokenizer, files: Path) -> None:
    missing = longest_piece((files / "source.spm").read_bytes())

    assert source.encode(missing.replace("▁", " ")) == [source.special_ids.unk]
    assert "☃" not in source.decode(source.encode("☃"))


def test_special_tokens_in_the_text_stay_text(source: MarianTokenizer) -> None:
    for text in ("<pad>", "</s>", ">>ita<< the cat", ">>fra<<"):
        ids = source.encode(text)
        assert source.special_ids.pad not in ids
        assert source.special_ids.eos not in ids
        assert not {">>ita<<", ">>fra<<"} & set(source.pieces(ids))


def test_a_language_token_stands_before_every_text_if_it_is_asked_for(
    files: Path, reference: Any
) -> None:
    tokenizer = side(files, "source", prefix=">>ita<<")

    assert tokenizer.pieces(tokenizer.encode(">>fra<< cat"))[0] == ">>ita<<"
    assert [*tokenizer.encode("The cat."), 0] == reference(">>ita<< The cat.").input_ids
    assert tokenizer.encode(" ") == []


def test_an_unknown_language_token_is_refused(files: Path) -> None:
    with pytest.raises(
        TokenizerError, match="unknown language token >>deu<<; the model has >>ita<<, "
    ):
        side(files, "source", prefix=">>deu<<")
    assert language_tokens([">>ita<<", ">>", "<<", "▁cat"]) == [">>ita<<"]


def test_a_batch_is_encoded_as_its_texts_are(source: MarianTokenizer) -> None:
    assert source.encode_batch(TEXTS) == [source.encode(text) for text in TEXTS]
    assert source.sample(TEXTS, seed=7, strength=0.0) == source.encode_batch(TEXTS)


def test_sampling_is_refused(source: MarianTokenizer) -> None:
    with pytest.raises(TokenizerError, match="does not sample"):
        source.sample(TEXTS, seed=7, strength=0.1)


def test_decoding_leaves_padding_and_the_end_out(target: MarianTokenizer) -> None:
    pad, eos = target.special_ids.pad, target.special_ids.eos

    assert target.decode([pad, *target.encode("Il gatto"), eos, pad]) == "Il gatto"


def test_what_is_saved_is_loaded(files: Path, tmp_path: Path) -> None:
    tokenizer = side(files, "source", prefix=">>fra<<")
    path = tmp_path / "tokenizer.source.marian"

    tokenizer.save(path)
    loaded = MarianTokenizer.load(path)

    assert loaded.encode_batch(TEXTS) == tokenizer.encode_batch(TEXTS)
    assert loaded.special_ids == tokenizer.special_ids
    assert loaded.vocab_size == tokenizer.vocab_size
    assert loaded.fingerprint == tokenizer.fingerprint
    assert loaded.fingerprint != side(files, "source").fingerprint
    assert "▁" in path.read_text(encoding="utf-8")  # as earlier fingerprints were


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b'{"format": "other"}', b"\xff\xfe"])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "tokenizer.source.marian"
    path.write_bytes(damage)

    with pytest.raises(TokenizerError, match=r"tokenizer.source.marian: not a Marian tokenizer"):
        MarianTokenizer.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"absent.marian: cannot be read: No such file"):
        MarianTokenizer.load(tmp_path / "absent.marian")


def test_a_vocabulary_with_gaps_is_refused(files: Path) -> None:
    model = (files / "source.spm").read_bytes()

    with pytest.raises(TokenizerError, match="the ids of its 3 pieces are not 0, 1, 2"):
        MarianTokenizer(model, {"</s>": 0, "<unk>": 1, "<pad>": 3}, SpecialIds())
    for special in (SpecialIds(), SpecialIds(pad=-5, unk=1, bos=2, eos=0)):
        with pytest.raises(TokenizerError, match="are not all in its 3 pieces"):
            MarianTokenizer(model, {"</s>": 0, "<unk>": 1, "<pad>": 2}, special)
    with pytest.raises(TokenizerError, match="not a SentencePiece model"):
        MarianTokenizer(b"nonsense", {"</s>": 0, "<unk>": 1, "<pad>": 2}, SpecialIds(eos=0))
