"""`dragoman shortlist` learns, and `dragoman translate --shortlist` goes by it."""

import json
from pathlib import Path

import pytest
from tests.visualisation.small_model import save_small_model

from dragoman.cli import main
from dragoman.engines.protocol import EngineKind
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.model_directory import ModelDirectory
from dragoman.shortlist.file import load_shortlist
from dragoman.translator import Translator

LINES = ["the cat", "a dog sees", "", "the dog sees a cat", "table", "& because"]
ENGINES: tuple[EngineKind, ...] = ("pytorch", "ctranslate2")
PAIRS = [
    ("the cat", "because cat"),
    ("the dog", "because dog"),
    ("a cat sees", "table cat &"),
    ("a dog sees", "table dog &"),
    ("", "empty"),
    ("the " * 13, "too long for the model"),
]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_small_model(tmp_path / "model").path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    return path


def test_what_is_learnt_is_kept_and_said(
    model: Path, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["shortlist", str(model), str(pairs), str(pairs), "--frequent", "1"]
    assert main([*command, "--translations", "2", "--json"]) == 0
    learnt = json.loads(capsys.readouterr().out)
    assert (learnt["pairs"], learnt["left_out"], learnt["coverage"]["pairs"]) == (6, 4, 2)
    directory = ModelDirectory(model)
    assert directory.description.shortlist is not None
    assert directory.description.shortlist.pairs == 6
    assert directory.description.shortlist.text == "pairs, pairs"
    shortlist = load_shortlist(directory)
    assert len(shortlist.frequent) == 1 + 1
    assert shortlist.translations.shape[1] == 2 + 1

    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "learnt from 6 pairs, measured on 2 others; 4 too long or empty ones" in shown
    assert f'"dragoman translate {model} --shortlist" uses it' in shown


def test_one_pair_is_not_several(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "two.tsv"
    pairs.write_text("the cat\tbecause cat\nthe dog\tbecause dog\n")

    assert main(["shortlist", str(model), str(pairs)]) == 0

    assert "learnt from 1 pair, measured on 1 other\n" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ENGINES)
def test_translations_have_tokens_of_the_lists_only_and_do_not_depend_on_other_lines(
    model: Path, pairs: Path, engine: EngineKind, tmp_path: Path
) -> None:
    export_ctranslate2(model, quantization="float32")
    main(["shortlist", str(model), str(pairs), "--frequent", "1", "--translations", "1"])
    lines = LINES
    text, output = tmp_path / "text", tmp_path / "translations"
    text.write_text("".join(f"{line}\n" for line in lines))

    command = ["translate", str(model), str(text), "-o", str(output), "--engine", engine]
    assert main([*command, "--shortlist"]) == 0

    together = output.read_text().splitlines()
    plain = Translator(model, device="cpu", engine=engine)
    assert together != plain(lines)
    translator = Translator(model, device="cpu", engine=engine, shortlist=True)
    tokenizer = ModelDirectory(model).load_tokenizers().source
    shortlist = load_shortlist(ModelDirectory(model))
    for line, translated in zip(lines, together, strict=True):
        assert translator(line) == translated
        words = set(tokenizer.encode(translated.replace("<unk>", "")))
        assert words <= set(shortlist.tokens(tokenizer.encode(line)))


def test_with_either_engine_a_model_of_words_may_not_know_one(model: Path, pairs: Path) -> None:
    """Though no list has the unknown word."""
    export_ctranslate2(model, quantization="float32")
    main(["shortlist", str(model), str(pairs), "--frequent", "1", "--translations", "1"])

    found = Translator(model, engine="ctranslate2", shortlist=True, protect=False)(LINES)
    exact = Translator(model, engine="pytorch", precision="fp32", shortlist=True, protect=False)

    assert found == exact(LINES)
    assert any("<unk>" in translated for translated in found)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_without_a_shortlist_says_how_to_learn_one(
    model: Path, engine: EngineKind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export_ctranslate2(model)
    text = tmp_path / "text"
    text.write_text("the cat\n")
    assert main(["translate", str(model), str(text), "--shortlist", "--engine", engine]) == 1
    assert "it has no shortlist" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["a\tb\na\tc\n", "\tb\n"], ids=["one source", "no source"])
def test_too_little_text_is_refused(
    model: Path, tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "few.tsv"
    pairs.write_text(content)
    assert main(["shortlist", str(model), str(pairs)]) == 1
    message = capsys.readouterr().err
    assert "few.tsv: too few different sentences to learn from and to measure by" in message
    assert ModelDirectory(model).description.shortlist is None


def test_a_length_below_zero_is_wrong_use(
    model: Path, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["shortlist", str(model), str(pairs), "--frequent", "-1"]) == 2
    assert "--frequent -1 and" in capsys.readouterr().err
