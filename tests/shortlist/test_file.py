"""The shortlist beside a model: it comes back as it was, or is refused with a reason."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as safetensors
from tests.untrained import save_transformer, untrained
from tests.visualisation.small_model import WORDS, save_small_model

from dragoman.durable import checksum
from dragoman.model_directory import ModelDirectory, ModelError
from dragoman.model_directory.description import DESCRIPTION_NAME
from dragoman.shortlist.coverage import Coverage
from dragoman.shortlist.file import SHORTLIST_NAME, load_shortlist, save_shortlist
from dragoman.shortlist.shortlist import Shortlist
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.words import WordTokenizer

COVERAGE = Coverage(pairs=9, tokens=0.98765, sentences=0.5, mean_length=123.456)
VOCAB = 4 + len(WORDS)


def made_up(**changes: Any) -> Shortlist:
    shortlist = Shortlist(
        frequent=np.array([3, 4, 9], dtype=np.int32),
        translations=np.arange(2 * VOCAB, dtype=np.int32).reshape(VOCAB, 2) % VOCAB,
    )
    return replace(shortlist, **changes)


def save(directory: ModelDirectory, shortlist: Shortlist) -> ModelDirectory:
    save_shortlist(directory, shortlist, text="train", pairs=1000, coverage=COVERAGE)
    return ModelDirectory(directory.path)


def tensors(*names: str) -> bytes:
    whole = {"rare": made_up().frequent, **vars(made_up())}
    return safetensors({name: whole[name] for name in names})


@pytest.fixture
def model(tmp_path: Path) -> ModelDirectory:
    return save_small_model(tmp_path / "model")


def test_it_comes_back_as_it_was_and_the_rest_of_the_model_stays(model: ModelDirectory) -> None:
    before = {path.name: path.read_bytes() for path in model.path.iterdir()}
    description = before.pop(DESCRIPTION_NAME)

    loaded = load_shortlist(save(model, made_up()))

    for name, tokens in vars(made_up()).items():
        assert vars(loaded)[name].tolist() == tokens.tolist()
    after = {path.name: path.read_bytes() for path in model.path.iterdir()}
    written = tomllib.loads(after.pop(DESCRIPTION_NAME).decode())
    assert written.pop("shortlist") == {
        "sha256": checksum(model.path / SHORTLIST_NAME),
        "text": "train",
        "pairs": 1000,
        "coverage": 0.9877,
        "mean_length": 123.5,
    }
    assert written == tomllib.loads(description.decode())
    assert after.keys() - before.keys() == {SHORTLIST_NAME}
    assert all(after[name] == content for name, content in before.items())


def test_a_model_without_one_says_how_to_learn_it(model: ModelDirectory) -> None:
    with pytest.raises(ModelError, match=r'has no shortlist; "dragoman shortlist .*" learns one'):
        load_shortlist(model)


def test_a_flipped_bit_is_refused(model: ModelDirectory) -> None:
    directory, path = save(model, made_up()), model.path / SHORTLIST_NAME
    content = bytearray(path.read_bytes())
    content[-3] ^= 4
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"not the shortlist that model\.toml describes"):
        load_shortlist(directory)


def test_a_lost_file_is_named(model: ModelDirectory) -> None:
    directory = save(model, made_up())
    (model.path / SHORTLIST_NAME).unlink()
    with pytest.raises(ModelError, match=r"shortlist\.safetensors: it is missing"):
        load_shortlist(directory)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not tensors at all", "not a safetensors file, or a damaged one"),
        (tensors("frequent"), "not a shortlist for the vocabularies of this model"),
        (tensors("frequent", "translations", "rare"), "not a shortlist for the vocabularies"),
    ],
    ids=["no tensors", "too few", "too many"],
)
def test_what_is_no_shortlist_is_refused_though_its_checksum_is_right(
    model: ModelDirectory, content: bytes, message: str
) -> None:
    save(model, made_up())
    path, description = model.path / SHORTLIST_NAME, model.path / DESCRIPTION_NAME
    before = checksum(path)
    path.write_bytes(content)
    description.write_text(description.read_text().replace(before, checksum(path)))
    with pytest.raises(ModelError, match=message):
        load_shortlist(ModelDirectory(model.path))


def test_a_row_is_for_a_token_of_the_source_and_holds_tokens_of_the_target(tmp_path: Path) -> None:
    tokenizers = TokenizerPair(WordTokenizer(["cat"]), WordTokenizer(["un", "gatto", "nero"]))
    directory = save_transformer(
        tmp_path,
        untrained(tokenizers, tied_embeddings="target"),
        tokenizers,
        TokenizerConfig(kind="words", joint=False),
    )
    rows = np.full((5, 2), 6, dtype=np.int32)
    shortlist = Shortlist(frequent=np.array([3, 6], dtype=np.int32), translations=rows)

    loaded = load_shortlist(save(directory, shortlist))

    assert loaded.translations.tolist() == rows.tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {"translations": np.zeros((VOCAB - 1, 2), dtype=np.int32)},
        {"translations": np.zeros(VOCAB, dtype=np.int32)},
        {"translations": np.full((VOCAB, 2), VOCAB, dtype=np.int32)},
        {"frequent": np.array([-1], dtype=np.int32)},
        {"frequent": np.array([3.0], dtype=np.float32)},
    ],
    ids=["other vocabulary", "no rows", "too high", "below zero", "no integers"],
)
def test_one_for_another_model_is_refused(
    model: ModelDirectory, changes: dict[str, object]
) -> None:
    directory = save(model, made_up(**changes))
    with pytest.raises(ModelError, match="not a shortlist for the vocabularies of this model"):
        load_shortlist(directory)
