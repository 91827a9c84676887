"""A vocabulary is learnt from the text, or taken from a model as it is."""

from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.preparation import TextPreparation
from dragoman.corpora.prepared_text import PreparedText
from dragoman.corpora.text_file import CorpusError
from dragoman.corpora.vocabulary import learn_or_take
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.tokenizer import TokenizerError
from dragoman.tokenizers.training import train_tokenizers

PAIRS = [("the cat", "il gatto"), ("the dog", "il cane"), ("a dog", "un cane")]
LEARN = TokenizerConfig(kind="words", min_frequency=1)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    train_tokenizers(LEARN, lambda: PAIRS, tmp_path / "model")
    return tmp_path / "model"


def prepare(directory: Path, model: Path) -> PreparedText:
    """Prepare pairs of which the model knows some words."""
    text, held_out = directory / "train.tsv", directory / "held_out.tsv"
    text.write_text("the dog\til cane\nthe fish\til pesce\n", encoding="utf-8")
    held_out.write_text("a cat\tun gatto\n", encoding="utf-8")
    preparation = TextPreparation(
        directory / "data",
        languages=("en", "it"),
        corpora=CorporaConfig(
            train=(CorpusConfig(path=str(text)),), validation=(CorpusConfig(path=str(held_out)),)
        ),
        cleaning=CleaningConfig(),
        tokenizer=TokenizerConfig(kind="words", from_model=str(model)),
        max_length=8,
    )
    return preparation.prepare(lambda message: None, replace_other=True)


def test_what_is_taken_is_the_same_to_the_byte(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELS", str(tmp_path))
    config = TokenizerConfig(kind="words", from_model="$MODELS/model")

    pair = learn_or_take(config, lambda: [("unseen", "mai visto")], tmp_path / "data")

    taken, original = (next(path.iterdir()) for path in (tmp_path / "data", model))
    assert taken.name == original.name
    assert taken.read_bytes() == original.read_bytes()
    assert pair.joint


def test_text_is_cut_by_the_vocabulary_that_is_taken(model: Path, tmp_path: Path) -> None:
    text = prepare(tmp_path, model)

    sources = [text.tokenizers.source.decode(text.store.sources[i].tolist()) for i in range(2)]
    assert sources[0] == "the dog"
    assert "fish" not in sources[1]


def test_text_is_prepared_again_for_another_vocabulary_at_the_same_place(
    model: Path, tmp_path: Path
) -> None:
    first = prepare(tmp_path, model)
    train_tokenizers(LEARN, lambda: [*PAIRS, ("fish", "pesce")], model)

    second = prepare(tmp_path, model)

    assert second.tokenizers.source.vocab_size > first.tokenizers.source.vocab_size
    assert second.summary.files.keys() > {f"{model}/tokenizer.words"}


def test_two_vocabularies_are_not_taken_for_one(model: Path, tmp_path: Path) -> None:
    config = TokenizerConfig(kind="words", joint=False, from_model=str(model))

    with pytest.raises(TokenizerError, match=r"one vocabulary; set tokenizer\.joint = true"):
        learn_or_take(config, lambda: PAIRS, tmp_path / "data")


@pytest.mark.parametrize("joint", [True, False])
def test_sampling_needs_bytes_in_the_vocabulary_that_is_taken(tmp_path: Path, joint: bool) -> None:
    text = [(f"the cat {i}", f"il gatto {i}") for i in range(50)]
    for name, size, has_bytes in (("with", 300, True), ("without", 30, False)):
        learnt = TokenizerConfig(kind="bpe", vocab_size=size, joint=joint, byte_fallback=has_bytes)
        train_tokenizers(learnt, lambda: iter(text), tmp_path / name)
    taken = {
        name: TokenizerConfig(
            kind="bpe", joint=joint, from_model=str(tmp_path / name), sampling=0.1
        )
        for name in ("with", "without")
    }

    learn_or_take(taken["with"], lambda: PAIRS, tmp_path / "data")

    with pytest.raises(TokenizerError, match=r"no bytes .* tokenizer\.sampling = 0\.1"):
        learn_or_take(taken["without"], lambda: PAIRS, tmp_path / "data")
    learn_or_take(replace(taken["without"], sampling=0.0), lambda: PAIRS, tmp_path / "data")


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    config = TokenizerConfig(kind="words", from_model=str(tmp_path / "none"))

    with pytest.raises(TokenizerError, match="none"):
        learn_or_take(config, lambda: PAIRS, tmp_path / "data")
    with pytest.raises(CorpusError, match="NOWHERE is not defined"):
        learn_or_take(
            TokenizerConfig(from_model="$NOWHERE/model"), lambda: PAIRS, tmp_path / "data"
        )
