"""A finished run has a page that shows it, and is finished without the page, too."""

import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dragoman.corpora.token_store_writer import TokenStoreWriter
from dragoman.errors import DragomanError
from dragoman.model_directory import ModelDirectory, count_parameters
from dragoman.pipeline import run
from dragoman.pipeline.report import MOST_STAGES, _data, _samples, write_report
from dragoman.pipeline.run import train_model
from dragoman.recipe import recipe_from_table
from dragoman.training.journal import read_journal

from .conftest import SMALL, Listener, MakeRecipe, sentences, write_lines

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def display() -> Listener:
    return Listener()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, display: Listener) -> Path:
    """Train once for all tests that only read."""
    place = tmp_path_factory.mktemp("report")
    lines = {
        "<books>": [*sentences(100, 150), *sentences(100, 103), f"{'one ' * 13}\tuno"],
        "held": sentences(200, 207),
        "test": sentences(300, 306),
    }
    paths = [write_lines(place / f"{name}.tsv", text) for name, text in lines.items()]
    parts = zip(("train", "validation", "test"), paths, strict=True)
    corpora = {part: [{"path": path}] for part, path in parts}
    changes = {"corpora": corpora, "evaluation": {"bootstrap_samples": 50}}
    train_model(recipe_from_table({**SMALL, **changes}), place / "run", display)
    return place / "run"


def read(run: Path) -> ElementTree.Element:
    return ElementTree.fromstring((run / "report.html").read_text(encoding="utf-8"))


def cells(root: ElementTree.Element) -> list[list[str]]:
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def test_the_report_has_what_the_directory_has(trained: Path, display: Listener) -> None:
    rows = cells(read(trained))

    description = ModelDirectory(trained).description
    training = description.training
    assert ["parameters", f"{sum(count_parameters(trained).values()):,}"] in rows
    assert ["updates", "3"] in rows
    bleu = training["scores"]["test"]["BLEU"]
    interval = f"{bleu['low']:.1f} to {bleu['high']:.1f}"
    assert ["test", "BLEU", f"{bleu['score']:.2f}", interval, bleu["signature"]] in rows
    (corpus,) = training["corpora"]
    assert corpus["dropped"] == {"duplicate": 3, "length ratio": 1}
    assert ["<books>", "1", "54", "50", "1 length ratio; 3 duplicate"] in rows
    assert ["device", description.software["device"]] in rows
    assert any("report.html" in message for message in display.messages)


def test_the_report_shows_the_same_sentences_at_each_stage(trained: Path) -> None:
    rows = cells(read(trained))

    validations = [e for e in read_journal(trained / "journal.jsonl") if e["event"] == "validation"]
    second = validations[0]["samples"][1]
    assert second["reference"] != validations[0]["samples"][0]["reference"]
    start = rows.index(["source", second["source"]])
    assert rows[start + 1 : start + 4] == [
        ["reference", second["reference"]],
        *([f"update {e['update']}", e["samples"][1]["translation"]] for e in validations),
    ]


def test_the_report_draws_the_curves_and_the_cross_attention(trained: Path) -> None:
    drawn = [svg.get("aria-label") or "" for svg in read(trained).iter(f"{SVG}svg")]

    assert [name for name in drawn if name.endswith("against updates")] == [
        "Loss (nats a token): training, and validation (dots), against updates",
        "BLEU of validation, against updates",
        "chrF of validation, against updates",
        "Learning rate, against updates",
        "Speed (target tokens a second), against updates",
    ]
    assert drawn[-2:] == [f"Cross-attention, layer 1, head {head}" for head in (1, 2)]


def test_the_recipe_on_the_page_is_that_of_the_run(trained: Path) -> None:
    recipe = read(trained).findtext(".//pre") or ""

    assert "tokens_per_update = 64" in recipe
    assert "<books>.tsv" in recipe


def test_a_model_that_was_given_away_without_its_text_still_has_a_report(
    trained: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy, ignore=shutil.ignore_patterns("data", "report.html"))

    assert write_report(copy) == copy / "report.html"

    assert ["updates", "3"] in cells(read(copy))


def test_a_report_that_cannot_be_made_leaves_the_run_finished(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(directory: Path) -> Path:
        raise KeyError(str(directory))

    monkeypatch.setattr(run, "write_report", fail)

    assert train_model(make_recipe(), tmp_path / "run", display) is None

    assert (tmp_path / "run" / "finished").exists()
    (said,) = (message for message in display.messages if "dragoman plot report" in message)
    assert said.startswith("warning: ")
    assert said.endswith(f"dragoman plot report {tmp_path / 'run'} tries again")


def test_a_run_does_not_write_over_the_report_of_another_program(
    make_recipe: MakeRecipe, tmp_path: Path, display: Listener
) -> None:
    write_lines(tmp_path / "run" / "report.html", ["mine"])

    with pytest.raises(DragomanError, match=r"report\.html was not made by a run"):
        train_model(make_recipe(), tmp_path / "run", display)


def test_of_many_validations_some_are_shown_from_the_first_to_the_last() -> None:
    sample = {"source": "one", "reference": "uno"}
    events = [
        {"update": n, "samples": [{**sample, "translation": f"uno {n}"}]} for n in range(1, 31)
    ]

    shown = _samples(events)

    updates = [int(number) for number in re.findall(r"update (\d+)", shown)]
    assert (len(updates), updates[0], updates[-1]) == (MOST_STAGES, 1, 30)
    assert sorted(updates) == updates
    assert "at 8 of 30 validations" in shown


def test_the_tokens_of_each_side_are_counted(tmp_path: Path) -> None:
    store = tmp_path / "data" / "train"
    with TokenStoreWriter(store, vocab_size=30, fingerprint="ours", max_length=9) as writer:
        writer.start_corpus("books", weight=1.0)
        writer.add([[5, 6], [7]], [[8, 9, 10], [11, 12]])

    written = _data(tmp_path, {"recipe": {"corpora": {"overlap": "drop"}}, "corpora": []})

    assert "2 pairs of 3 source and 5 target tokens." in written
