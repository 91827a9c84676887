"""The README of a trained model, generated so that nobody has to write it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from dragoman.corpora.prepared_text import CorpusSummary
from dragoman.counting import counted
from dragoman.model_directory import ModelDescription

CARD = "README.md"

CORPUS_HEAD = ("corpus", "weight", "pairs read", "pairs kept", "notes")
SCORE_HEAD = ("test set", "metric", "score", "95 % interval", "signature")

PRIVATE = """## What to leave out when you share it

Training keeps `data/`, `checkpoints/`, `journal.jsonl` and `report.html` in this directory. `data/`
holds the text that the model learnt from, `journal.jsonl` and `report.html` quote validation
sentences, and `checkpoints/` serves only to go on with the training. A translator needs none of
them. `distillation/` and `text/`, where they are, hold text, too."""


def model_card(description: ModelDescription, licence: str) -> str:
    """Write a model card in Markdown: what it is, from what, how good, how to use it."""
    training = description.training
    pair = f"{description.source_language} to {description.target_language}"
    sections = [
        _front_matter(description, licence),
        f"# {pair}\n\nA Transformer that translates {pair}, trained with Dragoman "
        f"{description.software.get('dragoman', '')}".rstrip()
        + ".",
        "## Use\n\n```sh\necho 'A sentence.' | dragoman translate THIS_DIRECTORY\n```\n\n"
        "```python\nfrom dragoman import Translator\n\n"
        'Translator("THIS_DIRECTORY")("A sentence.")\n```',
        _data(description, licence),
        _scores(training),
        _model(description),
        "" if "models" in training else PRIVATE,
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _front_matter(description: ModelDescription, licence: str) -> str:
    """Write what model hubs read: YAML, where `no` without quotes is not Norwegian but false."""
    lines = [
        "---",
        "language:",
        f"- {_quoted(description.source_language)}",
        f"- {_quoted(description.target_language)}",
        *([f"license: {_quoted(licence)}"] if licence else []),
        "library_name: dragoman",
        "pipeline_tag: translation",
        "tags:",
        "- translation",
        "---",
    ]
    return "\n".join(lines)


def _data(description: ModelDescription, licence: str) -> str:
    """Say what the model was trained on."""
    table = _table(CORPUS_HEAD, corpus_rows(description.training))
    return (
        f"## Training text\n\n{table}\n\n{_origin(description)}"
        f"Licence of the text: {licence or 'not stated in the recipe'}."
    )


def _origin(description: ModelDescription) -> str:
    """Say which models it was before, if any: it has learnt from their text, too."""
    training = description.training
    if models := training.get("models"):
        unknown = list(map(_name, _without_recipe(models)))
        lacking = f"What {' and '.join(unknown)} learnt from is not known. " * bool(unknown)
        what = "the mean of several models" if description.ensemble_of is None else "an ensemble"
        return (
            f"It is {what}, so it has learnt from the text of all, and from that of the models "
            f"that they began with. {lacking}".rstrip()
            + "\n\n"
        )
    settings = training["recipe"].get("training", {})
    model = settings.get("from_model") or settings.get("layers_from")
    if model is None:
        return ""
    name = PurePath(model).name or "another model"
    return (
        f"It began with the weights of `{name}`, so it has learnt from that model's text, too.\n\n"
    )


def _without_recipe(models: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Find the models of which nobody knows what they learnt from, also within others."""
    for part in models:
        if "models" in part["training"]:
            yield from _without_recipe(part["training"]["models"])
        elif "recipe" not in part["training"]:
            yield part


def corpus_rows(training: dict[str, Any]) -> list[list[str]]:
    """List what became of each corpus, under `CORPUS_HEAD`.

    Each of several models has kept evaluation sentences, or left them out, by a recipe of its own.
    """
    if models := training.get("models"):
        of_each = (row for part in models for row in corpus_rows(part["training"]))
        return [list(row) for row in dict.fromkeys(map(tuple, of_each))]
    if "recipe" not in training:  # imported
        return []
    policy = training["recipe"]["corpora"]["overlap"]
    rows = []
    for table in training["corpora"]:
        corpus = CorpusSummary(**table)
        counts = f"{corpus.weight:g}", f"{corpus.read:,}", f"{corpus.kept:,}"
        rows.append([corpus.name, *counts, corpus.notes(policy) or "-"])
    return rows


def _scores(training: dict[str, Any]) -> str:
    """Write the scores, each with its interval and signature."""
    if not training["scores"]:
        return ""
    rows = [[*row, f"`{signature}`"] for *row, signature in score_rows(training)]
    return f"## Scores\n\n{_table(SCORE_HEAD, rows)}"


def score_rows(training: dict[str, Any]) -> list[list[str]]:
    """List the scores on the test sets, under `SCORE_HEAD`."""
    rows = []
    for name, table in training["scores"].items():
        for metric, result in table.items():
            interval = f"{result['low']:.1f} to {result['high']:.1f}" if "low" in result else "-"
            rows.append([name, metric, f"{result['score']:.2f}", interval, result["signature"]])
    return rows


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([_row(*head), "|---" * len(head) + "|", *(_row(*row) for row in rows)])


def _row(*cells: str) -> str:
    """Write a row of a table, in which a bar would end its cell."""
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _quoted(text: str) -> str:
    """Write a text as YAML does between quotes, which is as JSON does."""
    return json.dumps(text, ensure_ascii=False)


def _model(description: ModelDescription) -> str:
    """Say what the model is made of and how long it was trained."""
    model, members = description.model, description.ensemble_of
    return (
        f"## Model\n\n{f'{members} models, each with ' if members else ''}"
        f"{counted(model.num_encoder_layers, 'encoder layer')} and "
        f"{counted(model.num_decoder_layers, 'decoder layer')}, "
        f"d_model {model.d_model}, d_ff {model.d_ff}, {model.num_heads} heads, "
        f"norm {model.norm} each sublayer; {description.tokenizer.kind} vocabulary of "
        f"{description.tokenizer.target_vocab_size}. {_weights(description)}"
    )


def _name(part: dict[str, Any]) -> str:
    return f"`{PurePath(part['model']).name or 'another model'}`"


def _weights(description: ModelDescription) -> str:
    """Say where the weights come from."""
    training = description.training
    if models := training.get("models"):
        parts = (f"{100 * part['share']:.3g}% of {_name(part)}" for part in models)
        of_all = (
            f"The weights are the mean of those of several models: {', '.join(parts)}."
            if description.ensemble_of is None
            else f"They decide together, which takes PyTorch: {', '.join(map(_name, models))}."
        )
        return f"{of_all} `model.toml` holds their checksums and those of the text."
    return (
        f"Trained for {training['updates']} updates on {training['target_tokens']} target tokens "
        f"in {training['minutes']} minutes, not counting validations; the weights are those of the "
        f"{training['weights']}. `model.toml` holds the whole recipe and the checksums of the text."
    )
