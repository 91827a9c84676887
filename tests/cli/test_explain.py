"""`dragoman explain`: a page, or everything as JSON."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.visualisation.small_model import save_small_model

from dragoman.cli import main

SENTENCE = "the cat sees a dog ."


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_small_model(tmp_path / "model").path


def test_it_writes_a_page(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "cat.html"

    assert main(["explain", str(model), SENTENCE, "-o", str(page)]) == 0

    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert capsys.readouterr().out == f"wrote {page}\n"


def test_the_beam_can_be_chosen_and_the_trace_is_there_for_programs(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    description = model / "model.toml"
    wide = description.read_text(encoding="utf-8").replace(
        "[search]\nbeam_size = 2", "[search]\nbeam_size = 4\nn_best = 4"
    )
    assert "n_best" in wide
    description.write_text(wide, encoding="utf-8")

    assert main(["explain", str(model), SENTENCE, "--beam-size", "2", "--json"]) == 0

    trace = json.loads(capsys.readouterr().out)
    assert trace["search"]["config"]["beam_size"] == 2
    assert len(trace["search"]["steps"][0]["candidates"]) == 4
    assert trace["source"]["pieces"] == [*SENTENCE.split(), "</s>"]
    first, *_ = trace["streams"]["encoder"]["layers"]
    entering = np.add(
        trace["streams"]["encoder"]["embedded"], trace["streams"]["encoder"]["positions"]
    )
    np.testing.assert_allclose(first[0]["stream"], entering, atol=2e-6)
    assert [each["kind"] for each in first] == ["self_attention", "feed_forward"]
    np.testing.assert_allclose(np.sum(first[0]["weights"], axis=-1), 1.0, atol=1e-5)
    assert first[1]["weights"] is None


def test_several_sentences_are_pointed_out(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(model), "The cat sees. A dog sees.", "--json"]) == 0

    printed = capsys.readouterr()
    assert "shows the model “The cat sees.”, “A dog sees.” one by one" in printed.err
    assert json.loads(printed.out)["source"]["text"] == "The cat sees. A dog sees."


def test_what_translate_does_besides_is_pointed_out(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(model), "Hello. THE CAT SEES {dog}.", "--json"]) == 0

    warnings = capsys.readouterr().err
    assert "“Hello.”, “The cat sees {dog}.” one by one" in warnings
    assert "must keep {dog}, if need be by another search" in warnings


@pytest.mark.parametrize("command", [("explain",), ("plot", "attention")])
def test_a_page_itself_says_what_translate_does_besides(
    command: tuple[str, ...], model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"

    for text, said in (
        (SENTENCE, []),
        ("The <b>cat</b> sees.", ["reads “The cat sees.”, as it does", "what is between tags"]),
        ("THE <b>CAT</b> SEES.", ["reads “The cat sees.”, as it does", "what is between tags"]),
        ("The cat sees.<br>the cat", ["model “The cat sees.”, “the cat” one by one"]),
        (
            "A cat. A <b>cat</b>",
            ["model “A cat.”, “A cat” one by one", "what is between tags"],
        ),
        ("Hello.<br/>A {dog}.", ["model “Hello.”, “A {dog}.” one by one", "keep {dog}"]),
        ("THE CAT SEES {dog}.", ["reads “The cat sees {dog}.”", "keep {dog}, if need be"]),
        ("- The c\u00adat sees \u2067a\u2069 dog. 🎉", ["the model reads “The cat sees a dog.”"]),
        ("42", ["shows the model nothing of this"]),
    ):
        assert main([*command, str(model), "-o", str(page), "--", text]) == 0
        written, told = page.read_text(encoding="utf-8"), capsys.readouterr().err
        assert ("This may not be what dragoman translate gives" in written) is bool(said), text
        assert told.count("warning") == len(said), text
        for each in said:
            assert each in written, text
            assert each in told, text


@pytest.mark.parametrize("command", [("explain",), ("plot", "attention")])
@pytest.mark.parametrize("sentence", ["- The cat sees.", "-5 degrees", "--well, a dog"])
def test_how_a_sentence_that_begins_with_a_dash_is_given_is_said(
    command: tuple[str, ...],
    sentence: str,
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = tmp_path / "page.html"

    assert main([*command, str(model), sentence, "-o", str(page)]) == 2
    assert capsys.readouterr().err == (
        f'dragoman: "{sentence}" begins like an option; if it is not one, put it last, after --\n'
    )

    assert main([*command, str(model), "-o", str(page), "--", sentence]) == 0


@pytest.mark.parametrize("option", ["--json", "-o"])
def test_an_argument_that_is_not_utf_8_is_explained(
    option: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    place = [str(page)] if option == "-o" else []

    assert main(["explain", str(model), os.fsdecode(b"cat \xe9"), option, *place]) == 0

    assert "the model reads “cat”" in capsys.readouterr().err


def test_a_model_that_draws_its_translations_is_shown_with_a_beam_and_it_is_said(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    description, page = model / "model.toml", tmp_path / "cat.html"
    drawing = description.read_text(encoding="utf-8").replace(
        "[search]\n", "[search]\nsampling_temperature = 0.7\n"
    )
    assert "sampling_temperature = 0.7" in drawing
    description.write_text(drawing, encoding="utf-8")

    assert main(["explain", str(model), SENTENCE, "-o", str(page)]) == 0
    assert "dragoman translate draws the tokens" in capsys.readouterr().err
    assert "dragoman translate draws the tokens" in page.read_text(encoding="utf-8")

    assert main(["plot", "attention", str(model), SENTENCE, "-o", str(page)]) == 0
    assert "dragoman translate draws the tokens" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        ([SENTENCE], 2, "name the page with -o FILE.html, or ask for --json"),
        ([SENTENCE, "-o", "cat.txt"], 2, "cat.txt: its name should end in .html"),
        ([" ", "--json"], 1, "the sentence is blank"),
        ([SENTENCE, "--json", "--beam-size", "0"], 2, "--beam-size 0 is not between 1 and 1024"),
        (["cat " * 13, "--json"], 1, "has 13 tokens and the model has seen at most 12"),
    ],
)
def test_wrong_use_gets_one_sentence(
    arguments: list[str],
    code: int,
    complaint: str,
    model: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", str(model), *arguments]) == code
    assert complaint in capsys.readouterr().err
