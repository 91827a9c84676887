"""`dragoman judge`: how sure a model is of translations that are given."""

import json
import math
from pathlib import Path

import pytest
import torch
from tests.visualisation.small_model import save_small_model

from dragoman.cli import main
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.model_directory import ModelDirectory, save_model
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.translator import Translator

TEXTS = ["the cat sees", "a dog", "the dog sees a cat", "a cat sees the dog"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Save a model that ends, and whose translations can be read back: no word is unknown."""
    directory = save_small_model(tmp_path / "model", end_bias=2.0)
    transformer = directory.load_transformer("cpu")
    with torch.no_grad():
        transformer.projection.linear.bias[SpecialIds().unk] = -50.0
    parameters = dict(transformer.named_parameters())
    save_model(directory.path, directory.description, directory.load_tokenizers(), parameters)
    return directory.path


def write_pairs(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    return path


def test_a_model_whose_training_has_not_ended_says_so(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (model / "journal.jsonl").touch()
    pairs = write_pairs(tmp_path / "pairs.tsv", [("a dog", "un cane")])

    assert main(["judge", str(model), str(pairs)]) == 0

    assert f"warning: {model}: its training has not ended" in capsys.readouterr().err


def test_a_model_that_draws_its_translations_is_judged_by_its_copy(
    model: Path, tmp_path: Path
) -> None:
    export_ctranslate2(model, quantization="float32")
    description = model / "model.toml"
    drawing = description.read_text().replace(
        "[search]\n", "[search]\nsampling_temperature = 0.7\n"
    )
    description.write_text(drawing)
    pairs = write_pairs(tmp_path / "pairs.tsv", [("a dog", "un cane")])

    assert ModelDirectory(model).search.samples
    assert main(["judge", str(model), str(pairs), "--engine", "ctranslate2"]) == 0


def test_what_a_search_has_found_is_judged_as_the_search_did(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(PyTorchEngine, "texts_at_once", 3)  # so that four pairs are more than one
    translator = Translator(model, device="cpu", precision="fp32")
    found = [each.alternatives[0] for each in translator.translate(TEXTS)]
    ended = [alternative.finished for alternative in found]
    assert any(ended)
    pairs = write_pairs(
        tmp_path / "pairs.tsv", [(text, each.text) for text, each in zip(TEXTS, found, strict=True)]
    )

    assert main(["judge", str(model), str(pairs), "--json", "--precision", "fp32"]) == 0

    judged = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["source"] for each in judged] == TEXTS
    assert [each["pair"] for each in judged] == [1, 2, 3, 4]
    for each, alternative, has_ended in zip(judged, found, ended, strict=True):
        assert " ".join(word["text"] for word in each["words"]) == alternative.text
        product = math.prod(word["confidence"] for word in each["words"])
        assert math.exp(each["log_probability"]) < product <= 1  # the end is no word
        if has_ended:
            assert each["log_probability"] == pytest.approx(alternative.log_probability, abs=1e-4)
            assert each["num_tokens"] == alternative.num_tokens
            assert each["confidence"] == pytest.approx(alternative.confidence, abs=1e-4)


def test_a_heading_is_judged_and_told(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = write_pairs(tmp_path / "pairs.tsv", [("source", "target"), ("the cat", "because cat")])

    assert main(["judge", str(model), str(pairs)]) == 0

    printed = capsys.readouterr()
    assert printed.out.count("\n") == 2
    assert printed.err == (
        f"warning: {pairs}: line 1 (source, target) looks like a heading; remove it\n"
    )


def test_a_line_for_each_pair_and_a_warning_for_one_that_is_too_long(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(PyTorchEngine, "texts_at_once", 2)
    long = "the " * 99
    pairs = [
        ("the cat", "because cat"),
        (long, "because"),
        ("a dog", "non che una " * 33),
        ("a dog", ""),
    ]
    file = write_pairs(tmp_path / "pairs.tsv", [*pairs, ("", "because")])
    output = tmp_path / "judged.tsv"

    assert main(["judge", str(model), str(file), "-o", str(output), "--precision", "fp32"]) == 3

    warnings = capsys.readouterr().err.splitlines()
    assert [warning.partition(": it has")[0] for warning in warnings] == [
        f"warning: {file}:{line}: not judged" for line in (2, 3)
    ]
    lines = [line.split("\t") for line in output.read_text().splitlines()]
    assert len(lines) == 5
    assert lines[1] == lines[2] == ["0.0000", "-inf"]
    monkeypatch.undo()
    kept = [pairs[0], pairs[3], ("", "because")]
    expected = list(Translator(model, device="cpu", precision="fp32").judge_pairs(kept))
    assert [len(each.words) for each in expected if each] == [2, 0, 1]
    assert [lines[i] for i in (0, 3, 4)] == [
        [f"{each.confidence:.4f}", f"{each.log_probability:.4f}"] for each in expected if each
    ]


def test_records_keep_what_no_file_of_text_can_hold(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.jsonl"
    records = [{"en": "the \ud800 cat", "it": "because"}, {"en": "the", "it": "a " * 99}]
    pairs.write_text("".join(f"{json.dumps(record)}\n" for record in records))

    assert main(["judge", str(model), str(pairs), "--json"]) == 3

    found = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [each["source"] for each in found] == [record["en"] for record in records]
    assert [word["text"] for word in found[0]["words"]] == ["because"]
    assert (found[1]["confidence"], found[1]["words"]) == (0.0, [])
    assert "more tokens" in found[1]["rejected"]


def test_neither_the_pairs_nor_the_model_are_written_over(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = write_pairs(tmp_path / "pairs.tsv", [("the cat", "because cat")])
    for place in (pairs, model / "model.safetensors"):
        before = place.read_bytes()
        assert main(["judge", str(model), str(pairs), "-o", str(place)]) == 2
        assert "name another file to write" in capsys.readouterr().err
        assert place.read_bytes() == before
