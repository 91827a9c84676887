"""How good JoeyNMT is after so many minutes, beside a run of our own on the same machine.

    python benchmarks/quality_over_time.py RUN --minutes 30 --folder joeynmt [--threads 2]

RUN is a finished run of a recipe with SentencePiece. JoeyNMT learns from the same pairs, with the
same subwords and a model of the same sizes, by its own command; `CONFIGURATION` has the rest. Both
validate by greedy search, and their minutes count from the first update on, validations included.
At the end JoeyNMT's best checkpoint translates the test sets, with the width of the beam and the
metrics of the recipe.

It is an optional install, beside Dragoman in the same environment: see `translation_peers.py`.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import read_pairs
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.metrics import score
from dragoman.evaluation.report import scores_to_text
from dragoman.model.config import TransformerConfig
from dragoman.model_directory import ModelDirectory
from dragoman.recipe import Recipe, load_recipe
from dragoman.tokenizers.tokenizer import Tokenizer

SPECIAL = ("<unk>", "<pad>", "<s>", "</s>")

CONFIGURATION: dict[str, Any] = {
    "optimizer": "adamw",
    "adam_betas": [0.9, 0.98],
    "learning_rate": 3e-3,
    "learning_rate_min": 1e-8,
    "learning_rate_warmup": 500,
    "scheduling": "warmupinversesquareroot",
    "weight_decay": 0.0,
    "label_smoothing": 0.1,
    "clip_grad_norm": 1.0,
    "normalization": "tokens",
    "batch_type": "token",
    "batch_size": 2048,
    "early_stopping_metric": "bleu",
    "keep_best_ckpts": 1,
    "epochs": 10_000,
    "logging_freq": 50,
    "print_valid_sents": [],
}
"""Of its training. The rate and the size of updates are those that were best for AdamW here."""

_TIME = "%Y-%m-%d %H:%M:%S,%f"
_FIRST = re.compile(r"([\d-]+ [\d:,]+) .*EPOCH 1$")
_SCORED = re.compile(r"([\d-]+ [\d:,]+) .*Evaluation result \(greedy\)")


class Point(NamedTuple):
    """A validation."""

    minutes: float
    bleu: float


class Text(NamedTuple):
    """Sentences and their translations, and the same as subwords with spaces between."""

    sources: list[str]
    targets: list[str]
    pieces: dict[str, list[str]]


def read(corpora: Sequence[CorpusConfig], recipe: Recipe, tokenizer: Tokenizer) -> Text:
    """Read some corpora, and cut both languages, named by their codes, into subwords."""
    languages = (recipe.source_language, recipe.target_language)
    pairs = [pair for corpus in corpora for pair in read_pairs(corpus, languages=languages)]
    sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
    pieces = {
        language: [" ".join(tokenizer.pieces(ids)) for ids in tokenizer.encode_batch(texts)]
        for language, texts in zip(languages, sides, strict=True)
    }
    return Text(*sides, pieces)


def put_together(lines: Sequence[str]) -> list[str]:
    """Make text of subwords."""
    return ["".join(line.split()).replace("▁", " ").strip() for line in lines]


def bleu(lines: Sequence[str], references: Sequence[str], config: EvaluationConfig) -> float:
    """Score translations that are subwords."""
    only = replace(config, metrics=("BLEU",), bootstrap_samples=0)
    return score(put_together(lines), references, only)[0].value


def our_curve(run: Path) -> Iterator[Point]:
    """Read the validations of a run from its journal."""
    lines = (run / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    events = list(map(json.loads, lines))
    for event in events:
        if event["event"] == "validation" and "BLEU" in event:
            yield Point((event["time"] - events[0]["time"]) / 60, event["BLEU"])


def its_curve(run: Path, references: Sequence[str], config: EvaluationConfig) -> Iterator[Point]:
    """Find the validations of JoeyNMT: when they were in its log, what came of them in files."""
    lines = (run / "train.log").read_text(encoding="utf-8").splitlines()
    first = next(filter(None, map(_FIRST.match, lines)))
    times = [match[1] for match in map(_SCORED.match, lines) if match]
    files = sorted(run.glob("*.hyps"), key=lambda path: int(path.stem))
    for time, file in zip(times, files, strict=True):
        took = datetime.strptime(time, _TIME) - datetime.strptime(first[1], _TIME)
        translations = file.read_text(encoding="utf-8").splitlines()
        yield Point(took.total_seconds() / 60, bleu(translations, references, config))


def prepare(folder: Path, recipe: Recipe, tokenizer: Tokenizer) -> Text:
    """Write the text and the vocabulary for JoeyNMT, and give the validation text."""
    folder.mkdir(parents=True)
    texts = {
        "train": read(recipe.corpora.train, recipe, tokenizer),
        "dev": read(recipe.corpora.validation, recipe, tokenizer),
    }
    for name, text in texts.items():
        for language, lines in text.pieces.items():
            content = "".join(f"{line}\n" for line in lines)
            (folder / f"{name}.{language}").write_text(content, encoding="utf-8")
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    words = "".join(f"{piece}\n" for piece in pieces if piece not in SPECIAL)
    (folder / "vocabulary.txt").write_text(words, encoding="utf-8")
    return texts["dev"]


def configure(
    folder: Path, recipe: Recipe, model: TransformerConfig, options: argparse.Namespace
) -> dict[str, Any]:
    """Say what JoeyNMT is to train."""
    side = {
        "level": "word",
        "voc_file": str(folder / "vocabulary.txt"),
        "max_length": recipe.batching.max_length,
    }
    layers = {
        "type": "transformer",
        "num_heads": model.num_heads,
        "embeddings": {"embedding_dim": model.d_model, "scale": True, "dropout": 0.0},
        "hidden_size": model.d_model,
        "ff_size": model.d_ff,
        "dropout": model.dropout,
        "layer_norm": "pre",
    }
    return {
        "name": "joeynmt",
        "model_dir": str(folder / "run"),
        "use_cuda": False,
        "random_seed": recipe.seed,
        "data": {
            "train": str(folder / "train"),
            "dev": str(folder / "dev"),
            "dataset_type": "plain",
            "src": {**side, "lang": recipe.source_language},
            "trg": {**side, "lang": recipe.target_language},
        },
        "testing": {
            "beam_size": 1,
            "batch_size": 4096,
            "batch_type": "token",
            "max_output_length": 100,
            "min_output_length": 1,
            "generate_unk": False,
            "eval_metrics": ["bleu"],
            "sacrebleu_cfg": {"tokenize": "none"},  # of subwords, to choose a checkpoint
        },
        "training": {**CONFIGURATION, "validation_freq": options.every, "overwrite": True},
        "model": {
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": {**layers, "num_layers": model.num_encoder_layers},
            "decoder": {**layers, "num_layers": model.num_decoder_layers},
        },
    }


def train(configuration: Path, minutes: float) -> None:
    """Let JoeyNMT train for so long."""
    command = [sys.executable, "-m", "joeynmt", "train", str(configuration), "--skip-test"]
    with subprocess.Popen(command) as process:
        try:
            process.wait(timeout=minutes * 60)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)


def translate(place: Path, text: Text, source_language: str) -> list[str]:
    """Translate a text with its best checkpoint."""
    done = subprocess.run(
        [sys.executable, "-m", "joeynmt", "translate", str(place)],
        input="".join(f"{line}\n" for line in text.pieces[source_language]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return put_together(done.stdout.splitlines())


def main() -> None:
    """Train JoeyNMT, print both curves, and score what it translates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="a finished run of a recipe")
    parser.add_argument("--folder", type=Path, required=True, help="where JoeyNMT works")
    parser.add_argument("--minutes", type=float, default=30, help="how long it trains")
    parser.add_argument("--every", type=int, default=500, help="updates between its validations")
    parser.add_argument("--threads", type=int, help="how many it computes with")
    options = parser.parse_args()
    if options.threads:
        os.environ["OMP_NUM_THREADS"] = str(options.threads)
    folder, directory = options.folder, ModelDirectory(options.run)
    recipe = load_recipe(options.run / "recipe.toml")
    tokenizer = directory.load_tokenizers().target

    dev = prepare(folder, recipe, tokenizer)
    configuration = configure(folder, recipe, directory.description.model, options)
    place = folder / "train.yaml"
    place.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    train(place, options.minutes)

    curves = {
        "Dragoman": our_curve(options.run),
        "JoeyNMT": its_curve(folder / "run", dev.targets, recipe.evaluation),
    }
    for name, curve in curves.items():
        print(f"\n{name}, minutes and BLEU of the validation text, greedy:")
        print("  ".join(f"{minutes:.1f}: {bleu:.1f}" for minutes, bleu in curve))
    configuration["testing"] |= {
        "load_model": str(folder / "run" / "best.ckpt"),
        "beam_size": recipe.search.beam_size,
        "beam_alpha": recipe.search.length_penalty,
    }
    place = folder / "translate.yaml"
    place.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    for corpus in recipe.corpora.test:
        text = read([corpus], recipe, tokenizer)
        translations = translate(place, text, recipe.source_language)
        scores = score(translations, text.targets, recipe.evaluation)
        print(f"\n{corpus.name}: {scores_to_text(scores)}")


if __name__ == "__main__":
    main()
