"""`report.html`: a training run on one page, made from what its directory holds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from dragoman.corpora.prepared_text import TRAIN_STORE
from dragoman.corpora.store_description import STORE_DESCRIPTION_NAME, read_description
from dragoman.counting import counted
from dragoman.durable import write_atomically
from dragoman.errors import DragomanError
from dragoman.model_directory import ModelDirectory, count_parameters
from dragoman.pipeline.model_card import CORPUS_HEAD, SCORE_HEAD, corpus_rows, score_rows
from dragoman.training.journal import JOURNAL, read_journal
from dragoman.visualisation import attention_page, line_chart
from dragoman.visualisation.attended_sentence import attend, choose
from dragoman.visualisation.markup import element, escape
from dragoman.visualisation.page import preformatted, table, write_page
from dragoman.visualisation.training_curves import training_curves, training_panels

REPORT = "report.html"

RECORDED = {"updates", "target_tokens", "minutes", "recipe", "corpora", "scores"}
"""What a training run writes into `model.toml`, and an import does not."""

MOST_STAGES = 8
"""Maximum number of validations whose translations are shown."""

MOST_TOKENS = 30
"""Maximum number of tokens of a sentence whose attention is shown."""

STYLE = """
.stages { margin: 0 0 1.25rem; }
.stages td:first-child { color: var(--muted); white-space: nowrap; }
"""


def write_report(directory: Path) -> Path:
    """Write the report of a run into its directory, and return its path.

    All of it is read from there, so it can be written again at any time.

    Raises:
        DragomanError: the directory holds no model that was trained there.
    """
    model = ModelDirectory(directory)
    model.refuse_ensemble()
    training = model.description.training
    if not training.keys() >= RECORDED:
        raise DragomanError(f"{directory}: this model was not trained here, so there is no report")
    events = read_journal(directory / JOURNAL)
    description = model.description
    title = f"{description.source_language} to {description.target_language}"
    sections = [
        element("h1", {}, escape(title)) + _overview(model),
        _section("Scores", _scores(training)),
        _section("Curves", _curves(directory, events)),
        _section("Translations of validation sentences", _samples(events)),
        _section("Cross-attention", _attention(model, events)),
        _section("Training text", _data(directory, training)),
        _section("Software and hardware", _software(description.software)),
        _section("Recipe", preformatted(tomli_w.dumps(training["recipe"]))),
    ]
    style = line_chart.STYLE + attention_page.STYLE + STYLE
    path = directory / REPORT
    write_atomically(path, write_page(title, "\n".join(sections), style=style))
    return path


def _section(title: str, body: str) -> str:
    return element("section", {}, element("h2", {}, title), body) if body else ""


def _overview(model: ModelDirectory) -> str:
    training, config = model.description.training, model.description.model
    rows = [
        ["parameters", f"{sum(count_parameters(model.path).values()):,}"],
        ["layers", f"{config.num_encoder_layers} and {config.num_decoder_layers}"],
        ["d_model, d_ff, heads", f"{config.d_model}, {config.d_ff}, {config.num_heads}"],
        ["updates", f"{training['updates']:,}"],
        ["target tokens", f"{training['target_tokens']:,}"],
        ["minutes of training", f"{training['minutes']:g}"],
        ["weights", training.get("weights", "not recorded")],  # by the first releases
    ]
    return table((), rows)


def _scores(training: dict[str, Any]) -> str:
    rows = score_rows(training)
    return table(SCORE_HEAD, rows, numbers=frozenset({2, 3})) if rows else ""


def _curves(directory: Path, events: Sequence[dict[str, Any]]) -> str:
    panels = training_panels([training_curves(str(directory), events)])
    note = element("p", {"class": "note"}, line_chart.LOSSES)
    return note + line_chart.charts(panels, [str(directory)], ["updates"])


def _samples(events: Sequence[dict[str, Any]]) -> str:
    """Show how the translations of the same sentences changed."""
    stages = [event for event in events if event.get("samples")]
    if not stages:
        return ""
    chosen = np.linspace(0, len(stages) - 1, min(len(stages), MOST_STAGES)).round().astype(int)
    shown = [stages[i] for i in chosen]
    tables = []
    for number, sample in enumerate(shown[-1]["samples"]):
        rows = [["source", sample["source"]], ["reference", sample["reference"]]]
        rows += [
            [f"update {stage['update']:,}", stage["samples"][number]["translation"]]
            for stage in shown
        ]
        tables.append(element("div", {"class": "stages"}, table((), rows)))
    note = (
        "The same sentences, chosen by their place in the text, at "
        f"{len(shown)} of {len(stages)} validations that translated."
    )
    return element("p", {"class": "note"}, note) + "".join(tables)


def _attention(model: ModelDirectory, events: Sequence[dict[str, Any]]) -> str:
    """Draw the cross-attention of the first of these sentences that fits on a screen."""
    stages = [event["samples"] for event in events if event.get("samples")]
    encode = model.load_tokenizers().source.encode
    limit = min(MOST_TOKENS, model.description.max_length)
    for sample in stages[-1] if stages else ():
        if 0 < len(encode(sample["source"])) <= limit:
            maps = choose(attend(model, sample["source"]), kinds=["cross"])
            note = element("p", {"class": "note"}, attention_page.NOTE)
            return note + attention_page.attention_chooser(maps)
    return ""


def _data(directory: Path, training: dict[str, Any]) -> str:
    """Say what was learnt from, and what was left out and why."""
    rows = corpus_rows(training)
    shown = table(CORPUS_HEAD, rows, numbers=frozenset({1, 2, 3}))
    store = directory / "data" / TRAIN_STORE
    if not (store / STORE_DESCRIPTION_NAME).exists():  # left out when a model is given away
        return shown
    description = read_description(store)
    tokens = {file.name: file.count for file in description.files}
    return shown + element(
        "p",
        {},
        f"{counted(description.pairs, 'pair')} of {tokens['source.tokens']:,} source and "
        f"{tokens['target.tokens']:,} target tokens.",
    )


def _software(software: dict[str, Any]) -> str:
    return table((), [[name, str(value)] for name, value in software.items()])
