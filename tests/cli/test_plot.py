"""`dragoman plot`: files of the right format, and one sentence where something is wrong."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.visualisation.small_model import save_small_model

from dragoman.cli import main, picture_output

from . import test_model_commands
from .test_model_commands import build_model

BEGINNINGS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!DOCTYPE html>"}
RECIPE = """
source_language = "en"
target_language = "it"
[corpora]
train = [{ path = "x.tsv" }]
[model]
preset = "tiny"
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return build_model(tmp_path)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    update = {"event": "update", "loss": 2.5, "learning_rate": 0.1, "tokens_per_second": 10}
    events = [{**update, "update": i, "tokens": 100 * i} for i in (1, 2)]
    (tmp_path / "run").mkdir()
    lines = "".join(f"{json.dumps(event)}\n" for event in events)
    (tmp_path / "run" / "journal.jsonl").write_text(lines)
    return tmp_path / "run"


def outcome(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.err + captured.out


def test_a_large_page_and_what_translate_does_besides_are_told(
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(picture_output, "LARGE_PAGE", 1000)

    code, printed = outcome(
        capsys, "plot", "attention", model, "THE CAT SEES", "-o", tmp_path / "a.html"
    )

    assert code == 0
    assert "the model reads “The cat sees”, as it does in dragoman translate" in printed
    assert "--kind, --layer and --head choose some of its maps" in printed

    monkeypatch.setattr(picture_output, "LARGE_PAGE", len((tmp_path / "a.html").read_text()))
    again = outcome(capsys, "plot", "attention", model, "THE CAT SEES", "-o", tmp_path / "a.html")
    explained = outcome(capsys, "explain", model, "the cat", "-o", tmp_path / "e.html")

    assert "which takes a browser long to show" in again[1]  # an arrow has three bytes
    assert "which takes a browser long to show; a shorter sentence" in explained[1]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "html"])
def test_attention_is_written_in_the_format_of_its_ending(
    ending: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"a.{ending.upper()}"

    code, printed = outcome(
        capsys, "plot", "attention", model, "the cat", "--translation", "il gatto", "-o", path
    )

    assert (code, printed) == (0, f"wrote {path}\n")
    assert path.read_bytes().startswith(BEGINNINGS[ending])


def test_a_kind_a_layer_and_a_head_can_be_chosen(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.html"
    choice = ("--kind", "cross", "--layer", 2, "--head", 1)

    outcome(capsys, "plot", "attention", model, "the cat", *choice, "-o", path)

    drawn = ElementTree.fromstring(path.read_bytes()).iter("{http://www.w3.org/2000/svg}svg")
    assert [each.get("aria-label") for each in drawn] == ["Cross-attention, layer 2, head 1"]


def test_characters_without_a_font_are_told_where_boxes_stand_for_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_nobody = "\U000f1234"  # for private use
    monkeypatch.setattr(test_model_commands, "PAIRS", [(f"the {of_nobody}", "il")])
    model = build_model(tmp_path)
    command = ("plot", "attention", model, f"the {of_nobody}", "-o")

    assert "warning" not in outcome(capsys, *command, tmp_path / "a.svg")[1]
    printed = outcome(capsys, *command, tmp_path / "a.png")[1]

    assert f"warning: no font here has {of_nobody}, so boxes are drawn instead" in printed


@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "html"])
def test_training_is_drawn_from_the_journal(
    ending: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"t.{ending}"

    assert outcome(capsys, "plot", "training", run, run, "-o", path)[0] == 0

    assert path.read_bytes().startswith(BEGINNINGS[ending])


def test_positions_of_a_model_have_its_width(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.svg"

    outcome(capsys, "plot", "positions", model, "--length", 5, "-o", path)

    assert "interleaved, d_model = 8" in path.read_text(encoding="utf-8")


def test_rotary_positions_have_the_width_of_a_head(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = save_small_model(tmp_path / "model", positional_encoding="rotary")
    path = tmp_path / "p.svg"

    outcome(capsys, "plot", "positions", directory.path, "--length", 5, "-o", path)

    assert "rotary, d_k = 4" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_masks_are_drawn(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"m.{ending}"

    assert outcome(capsys, "plot", "masks", "-o", path)[0] == 0

    assert "gatto" in path.read_text(encoding="utf-8")


def test_the_architecture_of_a_recipe_needs_a_vocabulary_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, path = tmp_path / "r.toml", tmp_path / "a.svg"
    recipe.write_text(RECIPE)
    command = ("plot", "architecture", recipe, "-o", path)

    code, printed = outcome(capsys, *command)
    assert code == 2
    assert (
        f"{recipe}: it leaves the size of the vocabulary to the text; give --vocab-size" in printed
    )

    recipe.write_text(RECIPE.partition("[model]")[0])
    for size in ((), ("--vocab-size", 500)):
        code, printed = outcome(capsys, *command, *size)
        assert code == 2
        assert f"{recipe}: its sizes are chosen when it is trained" in printed
    assert not path.exists()

    recipe.write_text(RECIPE)
    assert outcome(capsys, *command, "--vocab-size", 500)[0] == 0
    assert "500 × 128 · 64,000" in path.read_text(encoding="utf-8")

    recipe.write_text(f"{RECIPE}[tokenizer]\nvocab_size = 500\n")
    assert outcome(capsys, *command)[0] == 0
    code, printed = outcome(capsys, *command, "--vocab-size", 600)
    assert code == 2
    assert f"{recipe}: it sets tokenizer.vocab_size = 500; leave out --vocab-size" in printed


def test_the_architecture_of_a_model_is_that_of_its_weights(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["inspect", str(model), "--json"])
    total = sum(json.loads(capsys.readouterr().out)["parameters"].values())

    outcome(capsys, "plot", "architecture", model, "-o", tmp_path / "a.html")

    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert f"in all: {total:,} parameters" in page


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["attention", "m", "x", "-o", "a.gif"], 2, "a.gif: its name should end in .svg, .png,"),
        (["attention", "m", "x", "-o", "a"], 2, "a: its name should end in .svg, .png, .pdf or"),
        (["architecture", "m", "-o", "a.png"], 2, "a.png: its name should end in .svg or .html"),
        (["positions", "-o", "a.html"], 2, "a.html: its name should end in .svg, .png or .pdf"),
        (["attention", "nowhere", "x", "-o", "a.svg"], 1, "nowhere: there is no model here"),
        (["attention", "m", "x", "--kind", "self", "-o", "a.svg"], 2, "--kind"),
        (["training", "-o", "a.svg"], 2, "RUNS"),
        (["training", "nowhere", "-o", "a.svg"], 1, "journal.jsonl: there is no such journal"),
        (["positions", "--d-model", "5", "-o", "a.svg"], 2, "d_model=5 is odd"),
        (["positions", "m", "--d-model", "4", "-o", "a.svg"], 2, "a model has a --d-model"),
        (["architecture", "m", "--vocab-size", "0", "-o", "a.svg"], 2, "--vocab-size"),
        (["architecture", ".", "--vocab-size", "9", "-o", "a.svg"], 2, ".: a model has a vocab"),
        (["architecture", "nowhere.toml", "-o", "a.svg"], 1, "there is no such file"),
        (["report", "nowhere"], 1, "nowhere: there is no model here"),
        (["masks", "-o", "nowhere/a.svg"], 1, "nowhere/a.svg: cannot be written"),
    ],
)
def test_a_mistake_gives_a_sentence_and_leaves_no_file(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    result, printed = outcome(capsys, "plot", *arguments)

    assert result == code
    assert message in printed
    assert "Traceback" not in printed
    assert not list(tmp_path.iterdir())


def test_of_a_blank_sentence_it_is_not_said_that_the_model_reads_it(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.svg"

    code, printed = outcome(capsys, "plot", "attention", model, " ", "-o", path)

    assert (code, printed) == (1, "dragoman: the sentence is blank; give some words\n")


def test_a_model_that_was_not_trained_here_has_no_report(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(capsys, "plot", "report", model) == (
        1,
        f"dragoman: {model}: this model was not trained here, so there is no report\n",
    )


def test_without_matplotlib_the_way_to_install_it_is_said_and_pages_do_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("picture_file", "position_figure", "training_figure", "attention_figure"):
        monkeypatch.delitem(sys.modules, f"dragoman.visualisation.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    assert outcome(capsys, "plot", "positions", "-o", tmp_path / "p.svg") == (
        1,
        'dragoman: this command needs matplotlib: pip install --editable ".[plot]" where Dragoman '
        "was cloned installs it\n",
    )
    assert not list(tmp_path.iterdir())
    assert outcome(capsys, "plot", "masks", "-o", tmp_path / "m.html")[0] == 0
