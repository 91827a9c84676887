"""The README of a trained model, written so that nobody has to."""

from typing import Any

from dragoman.model_directory import ModelDescription


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
        _data(training, licence),
        _scores(training),
        _model(description),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _front_matter(description: ModelDescription, licence: str) -> str:
    """Write what model hubs read."""
    lines = [
        "---",
        "language:",
        f"- {description.source_language}",
        f"- {description.target_language}",
        *([f"license: {licence}"] if licence else []),
        "library_name: dragoman",
        "pipeline_tag: translation",
        "tags:",
        "- translation",
        "---",
    ]
    return "\n".join(lines)


def _data(training: dict[str, Any], licence: str) -> str:
    """Say what the model has learnt from."""
    rows = ["## Training text", "", "| corpus | weight | pairs read | pairs kept | left out |"]
    rows.append("|---|---|---|---|---|")
    for corpus in training["corpora"]:
        dropped = ", ".join(f"{count} {reason}" for reason, count in corpus["dropped"].items())
        overlap = corpus["overlap"]
        notes = [dropped, f"{overlap} evaluation sentences seen" if overlap else ""]
        rows.append(
            f"| {corpus['name']} | {corpus['weight']:g} | {corpus['read']} | {corpus['kept']} | "
            f"{'; '.join(note for note in notes if note) or '-'} |"
        )
    rows += ["", f"Licence of the text: {licence or 'not stated in the recipe'}."]
    return "\n".join(rows)


def _scores(training: dict[str, Any]) -> str:
    """Write the scores, each with its interval and signature."""
    if not training["scores"]:
        return ""
    rows = ["## Scores", "", "| test set | metric | score | 95 % interval | signature |"]
    rows.append("|---|---|---|---|---|")
    for name, table in training["scores"].items():
        for metric, result in table.items():
            interval = f"{result['low']:.1f} to {result['high']:.1f}" if "low" in result else "-"
            rows.append(
                f"| {name} | {metric} | {result['score']:.2f} | {interval} | "
                f"`{result['signature']}` |"
            )
    return "\n".join(rows)


def _model(description: ModelDescription) -> str:
    """Say what the model is made of and how long it was trained."""
    model, training = description.model, description.training
    return (
        "## Model\n\n"
        f"{model.num_encoder_layers} encoder and {model.num_decoder_layers} decoder layers, "
        f"d_model {model.d_model}, d_ff {model.d_ff}, {model.num_heads} heads, "
        f"norm {model.norm} each sublayer; {description.tokenizer.kind} vocabulary of "
        f"{description.tokenizer.target_vocab_size}. Trained for {training['updates']} updates on "
        f"{training['target_tokens']} target tokens in {training['minutes']} minutes. "
        "`model.toml` holds the whole recipe and the checksums of the text."
    )
