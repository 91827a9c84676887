"""`dragoman inspect`: what a model directory holds."""

from pathlib import Path
from typing import Any

from dragoman.cli.options import Flag
from dragoman.cli.text_output import print_json
from dragoman.counting import counted
from dragoman.durable import naming

PARTS = ("source_embeddings", "target_embeddings", "encoder", "decoder", "projection")


def inspect(model: Path, /, *, json: Flag = False) -> None:
    """Show a model: parameters by part, training text, scores, fingerprints.

    Parameters
    ----------
    model
        A model directory.
    json
        Print one JSON object, for programs.
    """
    from dragoman.config import to_table
    from dragoman.model_directory import ModelDirectory, count_parameters

    directory = ModelDirectory(model)
    parameters = count_parameters(directory.path)
    table = to_table(directory.description)
    with naming("standard output"):
        if json:
            print_json({**table, "parameters": parameters})
        else:
            _print_sections(table, parameters)


def _print_sections(table: dict[str, Any], parameters: dict[str, int]) -> None:
    """Print what people want to know first, then the rest in order."""
    print(_plain(f"{table['source_language']} to {table['target_language']}"))
    print(f"\nparameters  {sum(parameters.values()):,}")
    for part in PARTS:
        if count := parameters.get(part):
            print(f"  {part:<20} {count:>12,}")
    for section in ("model", "tokenizer", "search", "alignment", "shortlist", "software"):
        if section not in table:  # no alignment was chosen, or no shortlist learnt
            continue
        print(f"\n{section}")
        for key, value in table[section].items():
            print(_plain(f"  {key:<20} {value}"))
    if members := table.get("ensemble_of"):
        print(f"\nensemble  {members} models of these sizes, which decide together")
    _print_training(table["training"])
    print(f"\nweights  sha256 {table['weights_sha256']}")


def _print_training(training: dict[str, Any]) -> None:
    """Print where a model comes from; an imported one has nothing here."""
    if {"updates", "target_tokens", "minutes"} <= training.keys():
        print(
            f"\ntraining  {counted(training['updates'], 'update')}, "
            f"{counted(training['target_tokens'], 'target token')}, {training['minutes']} minutes, "
            "not counting validations"
        )
    if models := training.get("models"):
        print("\ntraining  made of several models")
        for part in models:
            print(
                _plain(f"  {100 * part['share']:5.3g}%  {part['weights_sha256']}  {part['model']}")
            )
    for corpus in training.get("corpora", []):
        kept = f"{corpus['kept']:,} of {counted(corpus['read'], 'pair')}"
        print(_plain(f"  {corpus['name']}:"), kept)
    for path, checksum in training.get("sha256", {}).items():
        print(_plain(f"  {checksum}  {path}"))
    for name, scores in training.get("scores", {}).items():
        print("\n" + _plain(name))
        for metric, result in scores.items():
            print(_plain(f"  {metric:<5} {result['score']:6.2f}  {result['signature']}"))


def _plain(line: str) -> str:
    """Remove what would control the terminal: the text comes from whoever made the model."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
