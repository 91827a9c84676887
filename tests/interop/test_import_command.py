"""`dragoman import marian`: what it prints and returns."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.cli.import_model import app
from dragoman.errors import UsageError
from dragoman.interop.marian_config import MarianError
from dragoman.interop.staging import OutputError
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.marian import MarianTokenizer
from dragoman.translator import Translator


def run(*arguments: object) -> Any:
    return app(["marian", *map(str, arguments)], exit_on_error=False, result_action="return_value")


@pytest.mark.parametrize("pickled", [False, True])
def test_it_imports_proves_and_says_so(
    save_marian: Callable[..., Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    pickled: bool,
) -> None:
    saved = save_marian()
    if pickled:  # as OPUS-MT has published them, with the table of positions
        (tmp_path / "model.safetensors").unlink()
        torch.save(saved.state_dict(), tmp_path / "pytorch_model.bin")
    monkeypatch.setattr("dragoman.interop.proof.NUM_SENTENCES", 3)

    monkeypatch.chdir(tmp_path)
    run(tmp_path, "--languages", "en-it", "--json")
    told = json.loads(capsys.readouterr().out)
    run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it")

    assert told["output"] == f"models/{tmp_path.name}"
    assert told["proof"]["num_equal"] == 3
    assert told["texts_cut_otherwise"] == []
    assert Translator(told["output"], device="cpu")("the cat")
    said = capsys.readouterr()
    assert "proved: 3 of 3 translations equal those of transformers" in said.out
    assert "warning" not in said.err
    translations = Translator(tmp_path / "imported", device="cpu")(["the cat", "", "the old dog"])
    assert len(translations) == 3
    assert translations[1] == ""


@pytest.mark.parametrize("languages", ["italian", "en-", "pt-BR-en", "e!-?"])
def test_languages_are_two_codes(languages: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="write two language codes with a hyphen between"):
        run(tmp_path, "-o", tmp_path / "imported", "--languages", languages)


@pytest.mark.parametrize(
    ("name", "message"), [("nowhere", "there is no such directory"), ("", "has no config.json")]
)
def test_what_is_no_model_is_named(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(MarianError, match=message):
        run(tmp_path / name, "-o", tmp_path / "imported")


def test_nothing_is_written_over_the_original_or_another_model(
    save_marian: Callable[..., Any], tmp_path: Path
) -> None:
    save_marian()
    before = (tmp_path / "model.safetensors").read_bytes()

    with pytest.raises(OutputError, match="it exists already"):
        run(tmp_path, "-o", tmp_path, "--languages", "en-it")

    assert (tmp_path / "model.safetensors").read_bytes() == before


def test_what_cannot_be_proved_is_not_written(
    save_marian: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_marian()
    monkeypatch.setattr("dragoman.interop.proof.TOLERANCE", 0.0)

    with pytest.raises(MarianError, match=r"computes something else: .* nothing was written"):
        run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it")

    assert not [path for path in tmp_path.iterdir() if "imported" in path.name]


def test_a_tokenizer_that_cuts_otherwise_is_told(
    save_marian: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    save_marian()
    number = MarianTokenizer._number
    monkeypatch.setattr(MarianTokenizer, "_number", lambda self, pieces: number(self, pieces)[:5])

    run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it")

    assert "warning: MarianTokenizer cuts or joins" in capsys.readouterr().err


def test_how_the_original_likes_to_search_does_not_matter(
    save_marian: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_marian()
    path = tmp_path / "generation_config.json"
    habits = {
        "num_beams": 4,
        "num_return_sequences": 4,
        "no_repeat_ngram_size": 1,
        "repetition_penalty": 1.5,
        "return_dict_in_generate": True,
        "forced_eos_token_id": 0,
    }
    path.write_text(json.dumps(json.loads(path.read_text()) | habits))

    run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it")

    assert "proved: 20 of 20" in capsys.readouterr().out


@pytest.mark.parametrize("file", ["config.json", "generation_config.json"])
def test_words_that_only_transformers_keeps_out_are_told(
    save_marian: Callable[..., Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
) -> None:
    pad = save_marian().config.pad_token_id
    if file == "config.json":
        (tmp_path / "generation_config.json").unlink()
    path = tmp_path / file
    before = json.loads(path.read_text())

    path.write_text(json.dumps(before | {"bad_words_ids": [[pad], [5], [6, 7]]}))
    run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it")
    assert "bad_words_ids keep 2 sequences of tokens out" in capsys.readouterr().err

    path.write_text(json.dumps(before | {"bad_words_ids": [[pad]]}))
    run(tmp_path, "-o", tmp_path / "again", "--languages", "en-it")
    assert "warning" not in capsys.readouterr().err


def test_one_of_several_languages_must_be_chosen(
    save_marian: Callable[..., Any], tmp_path: Path
) -> None:
    save_marian()
    vocabulary = json.loads((tmp_path / "vocab.json").read_text())
    renamed = {(">>deu<<" if i == 7 else piece): i for piece, i in vocabulary.items()}
    (tmp_path / "vocab.json").write_text(json.dumps(renamed))

    with pytest.raises(MarianError, match=r"choose one with --language-token: .*>>deu<<"):
        run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it")

    run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it", "--language-token", "")
    source = ModelDirectory(tmp_path / "imported").load_tokenizers().source
    assert not source.pieces(source.encode("the cat"))[0].startswith(">>")


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("config.json", {"pad_token_id": None}, "pad_token_id is None, not a whole number"),
        ("config.json", {"eos_token_id": False}, "eos_token_id is False, not a whole number"),
        ("config.json", {"eos_token_id": [0]}, r"eos_token_id is \[0\], not a whole number"),
        ("generation_config.json", {"decoder_start_token_id": -1}, "start_token_id is -1, not a"),
        ("config.json", {"activation_function": ["swish"]}, r"activation_function is \['swish'\]"),
        ("config.json", {"d_model": 12.0}, "d_model is not a whole number"),
        ("config.json", {"encoder_layers": True}, "encoder_layers is not a whole number"),
        ("config.json", {"dropout": None}, "config.json: dropout is None, not a number"),
        ("config.json", {"activation_dropout": "0"}, "activation_dropout is '0', not a number"),
        ("vocab.json", {"<unk>": "1"}, "<unk> is '1', not a whole number"),
        ("vocab.json", {"an extra one": "5"}, r"ids of its .* pieces are not 0, 1, 2"),
    ],
)
def test_values_of_another_type_are_named(
    save_marian: Callable[..., Any],
    tmp_path: Path,
    file: str,
    change: dict[str, Any],
    message: str,
) -> None:
    save_marian()
    path = tmp_path / file
    path.write_text(json.dumps(json.loads(path.read_text()) | change))

    with pytest.raises(MarianError, match=message):
        run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_weights_that_are_not_numbers_are_named(
    save_marian: Callable[..., Any], tmp_path: Path, value: float
) -> None:
    model = save_marian()
    with torch.no_grad():
        model.model.encoder.layers[0].fc1.bias[0] = value
    model.save_pretrained(tmp_path)

    with pytest.raises(MarianError, match=r"widen\.bias holds values that are not numbers"):
        run(tmp_path, "-o", tmp_path / "imported", "--languages", "en-it")

    assert not (tmp_path / "imported").exists()
