"""How good JoeyNMT is after some minutes, compared with a run of ours on the same machine.

    python benchmarks/quality_over_time.py RUN --folder joeynmt [--minutes 30] [--threads 2]

RUN is a finished run of a recipe. JoeyNMT is trained with its own command on what that run has
prepared, the same subwords of the same pairs, as a model of the same sizes, with the settings in
`TRAINING`. Minutes count from the first update on, validations included, and both validate by
greedy search. At the end its best checkpoint translates the test sets of the recipe, with the
recipe's beam size and length penalty, and the recipe's metrics score them.

JoeyNMT is an optional install, beside Dragoman in the same environment: see `translation_peers.py`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from training_peers import joeynmt_model

from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.prepared_text import PreparedText
from dragoman.corpora.token_store import TokenStore
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.metrics import score
from dragoman.evaluation.report import scores_to_text
from dragoman.model.config import TransformerConfig
from dragoman.recipe import Recipe, read_recipe
from dragoman.tokenizers.tokenizer import Tokenizer
from dragoman.training.journal import read_journal

SPECIAL = ("<unk>", "<pad>", "<s>", "</s>")

TRAINING: dict[str, Any] = {
    "optimizer": "adamw",
    "adam_betas": [0.9, 0.98],
    "learning_rate": 3e-3,
    "learning_rate_min": 0.0,
    "learning_rate_warmup": 500,
    "scheduling": "warmupinversesquareroot",
    "weight_decay": 0.1,
    "label_smoothing": 0.1,
    "clip_grad_norm": 1.0,
    "normalization": "tokens",
    "batch_type": "token",
    "batch_size": 4096,
    "early_stopping_metric": "bleu",
    "keep_best_ckpts": 1,
    "epochs": 10_000,
    "logging_freq": 50,
    "print_valid_sents": [],
}
"""Learning rate, decay and size of an update are the best that were found for AdamW and Multi30k
here, where an update has 2,048 target tokens. JoeyNMT counts padding, about half, because it does
not sort."""

_TIME = "%Y-%m-%d %H:%M:%S,%f"
_FIRST = re.compile(r"^([\d-]+ [\d:,]+) .*EPOCH 1$", re.MULTILINE)
_VALIDATED = re.compile(r"^([\d-]+ [\d:,]+) .*Evaluation result \(greedy\)", re.MULTILINE)


class Point(NamedTuple):
    """A validation."""

    minutes: float
    bleu: float


class Subwords:
    """Writes sentences as subwords with spaces between, and reads them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.all = tokenizer.pieces(range(tokenizer.vocab_size))
        self._ids = {piece: place for place, piece in enumerate(self.all)}

    def write(self, ids: Iterable[int]) -> str:
        """Write a sentence, given as ids."""
        return " ".join(self.all[token] for token in ids)

    def read(self, lines: Sequence[str]) -> list[str]:
        """Turn sentences into text."""
        return [self._tokenizer.decode([self._ids[piece] for piece in x.split()]) for x in lines]


def our_curve(run: Path) -> Iterator[Point]:
    """Read the validations of a run from its journal."""
    events = read_journal(run / "journal.jsonl")
    if any(event["event"] == "resume" for event in events):
        raise SystemExit(f"{run}: it was interrupted, so its minutes are not those of training")
    for event in events:
        if event["event"] == "validation" and "BLEU" in event:
            yield Point((event["time"] - events[0]["time"]) / 60, event["BLEU"])


def its_curve(
    run: Path, subwords: Subwords, references: Sequence[str], config: EvaluationConfig
) -> Iterator[Point]:
    """Find the validations of JoeyNMT: its log has their times, its files the translations."""
    log = (run / "train.log").read_text(encoding="utf-8")
    began = datetime.strptime(_FIRST.findall(log)[0], _TIME)
    only = replace(config, metrics=("BLEU",), bootstrap_samples=0)
    files = sorted(run.glob("[0-9]*.hyps"), key=lambda path: int(path.stem))
    for validated, file in zip(_VALIDATED.findall(log), files, strict=False):  # the last may lack
        minutes = (datetime.strptime(validated, _TIME) - began).total_seconds() / 60
        translations = subwords.read(file.read_text(encoding="utf-8").splitlines())
        yield Point(minutes, score(translations, references, only)[0].value)


def write_text(folder: Path, name: str, store: TokenStore, subwords: Subwords) -> None:
    """Write the pairs that a run has prepared as two files."""
    for side, sentences in (("source", store.sources), ("target", store.targets)):
        lines = "".join(f"{subwords.write(sentences[i].tolist())}\n" for i in range(len(store)))
        (folder / f"{name}.{side}").write_text(lines, encoding="utf-8")


def configure(folder: Path, recipe: Recipe, model: TransformerConfig, every: int) -> dict[str, Any]:
    """Describe what JoeyNMT is to train, for a YAML file; JSON is YAML, too."""
    sections = joeynmt_model(model)
    for stack in ("encoder", "decoder"):
        sections[stack]["embeddings"]["dropout"] = model.dropout
    side = {
        "level": "word",
        "voc_file": str(folder / "vocabulary.txt"),
        "max_length": recipe.batching.max_length,
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
            "src": {**side, "lang": "source"},
            "trg": {**side, "lang": "target"},
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
        "training": {**TRAINING, "validation_freq": every},
        "model": sections,
    }


def train(folder: Path, minutes: float) -> None:
    """Let JoeyNMT train for some minutes after it has begun."""
    command = [sys.executable, "-m", "joeynmt", "train", str(folder / "train.yaml"), "--skip-test"]
    log, began = folder / "run" / "train.log", None
    with subprocess.Popen(command) as process:
        while process.poll() is None and (began is None or time.monotonic() - began < minutes * 60):
            time.sleep(1)
            if began is None and log.exists() and _FIRST.search(log.read_text(encoding="utf-8")):
                began = time.monotonic()
        process.terminate()
    if not (folder / "run" / "best.ckpt").exists():
        raise SystemExit(f"{log}: JoeyNMT ended before its first validation")


def translate(
    folder: Path, configuration: dict[str, Any], recipe: Recipe, subwords: Subwords, text: Tokenizer
) -> None:
    """Translate the test sets with the best checkpoint, and print the scores."""
    for corpus in recipe.corpora.test:
        pairs = list(read_pairs(corpus, languages=(recipe.source_language, recipe.target_language)))
        sources = text.encode_batch([pair.source for pair in pairs])
        configuration["testing"] |= {
            "load_model": str(folder / "run" / "best.ckpt"),
            "beam_size": recipe.search.beam_size,
            "beam_alpha": recipe.search.length_penalty,
            "max_output_length": recipe.search.max_length(max(map(len, sources))),
        }
        place = folder / "translate.yaml"
        place.write_text(json.dumps(configuration), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "joeynmt", "translate", str(place)],
            input="".join(f"{subwords.write(source)}\n" for source in sources),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        translations = subwords.read(done.stdout.splitlines())
        scores = score(translations, [pair.target for pair in pairs], recipe.evaluation)
        print(f"\n{corpus.name}: {scores_to_text(scores)}")


def main() -> None:
    """Train JoeyNMT, print both curves, and score what it translates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="a finished run of a recipe")
    parser.add_argument(
        "--folder", type=Path, required=True, help="where JoeyNMT works; it is made"
    )
    parser.add_argument("--minutes", type=float, help="how long it trains; as long as the run did")
    parser.add_argument("--every", type=int, default=500, help="updates between its validations")
    parser.add_argument("--threads", type=int, help="how many it computes with")
    options = parser.parse_args()
    if options.threads:
        os.environ["OMP_NUM_THREADS"] = str(options.threads)
    folder = options.folder
    recipe = read_recipe(options.run / "recipe.toml").recipe
    if any(corpus.weight != 1 for corpus in recipe.corpora.train) or not recipe.tokenizer.joint:
        raise SystemExit(
            f"{options.run}: JoeyNMT knows no weights of texts, and gets one vocabulary"
        )
    ours = list(our_curve(options.run))
    prepared = PreparedText.open(options.run / "data", recipe.tokenizer.kind)
    subwords = Subwords(prepared.tokenizers.target)

    folder.mkdir(parents=True)
    write_text(folder, "train", prepared.store, subwords)
    write_text(folder, "dev", prepared.validation_store, subwords)
    words = "".join(f"{piece}\n" for piece in subwords.all if piece not in SPECIAL)
    (folder / "vocabulary.txt").write_text(words, encoding="utf-8")
    configuration = configure(folder, recipe, recipe.model, options.every)
    (folder / "train.yaml").write_text(json.dumps(configuration), encoding="utf-8")
    train(folder, options.minutes or ours[-1].minutes)

    references = [pair.target for pair in prepared.validation]
    its = list(its_curve(folder / "run", subwords, references, recipe.evaluation))
    for name, curve in (("Dragoman", ours), ("JoeyNMT", its)):
        print(f"\n{name}, minutes and BLEU of the validation text, greedy:")
        print("  ".join(f"{point.minutes:.1f}: {point.bleu:.1f}" for point in curve))
    translate(folder, configuration, recipe, subwords, prepared.tokenizers.source)


if __name__ == "__main__":
    main()
