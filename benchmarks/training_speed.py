"""Measure how fast training is, for us and for every installed peer, in one run.

    python benchmarks/training_speed.py [--pairs FILE.tsv] [--size small|base] [--json]

All subjects train the same architecture on the same batches, one after the other, each in a process
of its own that also measures what the machine can do at best. Only real target tokens count, not
padding. A peer takes part if its package can be imported, see `training_peers.py`; the others are
named as missing.

    share of the matrix rate = 6 * parameters * target tokens a second / rate of matrix products

An optimizer update costs about two operations for each parameter and token in the forward pass and
four in the backward pass. A parameter of the encoder meets the source tokens and one of the decoder
the target tokens, which are about as many. The table of embeddings counts once, for the projection.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from training_peers import PEERS, MissingError, Subject, Work

from dragoman.corpora.batching import Batches, Update
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.preparation import TextPreparation
from dragoman.corpora.prepared_text import PreparedText
from dragoman.corpora.primer.corpus import generate
from dragoman.corpora.shapes import choose_shapes, length_histogram
from dragoman.model.config import PRESETS, TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.planning.machine import matrix_rate
from dragoman.recipe import Recipe, recipe_from_table
from dragoman.training.config import TrainingConfig
from dragoman.training.optimizer import build_optimizers
from dragoman.training.precision import choose_precision
from dragoman.training.step import MicroBatch, Objective, update

WARM_UP = 5  # updates before the clock starts
DROPOUT = 0.2
LABEL_SMOOTHING = 0.1
TOKENS_PER_UPDATE = 4096
TOKENIZER_SIZE = 8000
VOCAB_SIZES = {"small": TOKENIZER_SIZE, "base": 32_000}  # rows of the table; the text needs 8,000
PRIMER_PAIRS = 29_000  # as many as Multi30k has
LEARNING_RATE = 1e-4


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What one subject did."""

    subject: str
    version: str
    configuration: str
    target_tokens_per_second: float
    share_of_matrix_rate: float
    matrix_rate_gflops: float
    """Of the number format that the subject computes in."""

    peak_memory_mib: float
    batch_fill: float
    parameters: int
    updates: int
    loss: float
    """Of the last update, for a sanity check: a subject that learns nothing does no work."""


class Dragoman:
    """Ours: what `dragoman train` does for each update."""

    name = "dragoman"
    version = "this checkout"

    def __init__(self, work: Work, precision: str) -> None:
        model = Transformer(
            work.model,
            source_vocab_size=work.vocab_size,
            target_vocab_size=work.vocab_size,
            padding_id=work.pad_id,
        ).train()
        self.dtype = choose_precision(precision, torch.device("cpu"))
        self.objective = Objective(model, label_smoothing=LABEL_SMOOTHING, dtype=self.dtype)
        self.optimizers = build_optimizers(model, TrainingConfig())
        self.model: nn.Module = model

    @property
    def configuration(self) -> str:
        """Say how it computes."""
        return f"{str(self.dtype).removeprefix('torch.')}, fused AdamW"

    def update(self, batch: Update) -> float:
        """Change the weights once and return the loss of a token."""
        micro_batches = [
            MicroBatch(source=torch.from_numpy(part.source), target=torch.from_numpy(part.target))
            for part in batch.micro_batches
        ]
        return update(
            self.objective,
            micro_batches,
            self.optimizers,
            num_target_tokens=batch.num_target_tokens,
            learning_rate=LEARNING_RATE,
            max_gradient_norm=1.0,
        ).loss


SUBJECTS: dict[str, Callable[[Work, str], Subject]] = {"dragoman": Dragoman, **PEERS}


def measure(subject: Subject, batches: Batches, seconds: float) -> Measurement:
    """Train until the time is up."""
    updates: Iterator[Update] = batches.updates()
    for _ in range(WARM_UP):
        loss = subject.update(next(updates))
    tokens = count = real = padded = 0
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        batch = next(updates)
        loss = subject.update(batch)
        tokens += batch.num_target_tokens
        count += 1
        for part in batch.micro_batches:
            real += int((part.source != part.pad_id).sum()) + part.num_target_tokens
            padded += part.source.size + part.target[:, 1:].size
    rate = tokens / (time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parameters = sum(parameter.numel() for parameter in subject.model.parameters())
    best = matrix_rate(subject.dtype)
    return Measurement(
        subject=subject.name,
        version=subject.version,
        configuration=subject.configuration,
        target_tokens_per_second=round(rate, 1),
        share_of_matrix_rate=round(6 * parameters * rate / best, 4),
        matrix_rate_gflops=round(best / 1e9, 1),
        peak_memory_mib=round(peak, 1),
        batch_fill=round(real / padded, 4),
        parameters=parameters,
        updates=count,
        loss=round(loss, 4),
    )


def prepare(recipe: Recipe, directory: Path) -> PreparedText:
    """Clean, learn subwords and encode, unless it was done before."""
    return TextPreparation(
        directory,
        languages=recipe.languages,
        corpora=recipe.corpora,
        cleaning=recipe.cleaning,
        tokenizer=recipe.tokenizer,
        max_length=recipe.batching.max_length,
    ).prepare(lambda message: print(message, file=sys.stderr), replace_other=True)


def build_recipe(pairs: Path, size: str) -> Recipe:
    """Describe the work: lower-cased text, joint BPE, batches of 4,096 target tokens."""
    return recipe_from_table(
        {
            "source_language": "xx",
            "target_language": "yy",
            "corpora": {"train": [{"path": str(pairs)}]},
            "tokenizer": {"kind": "bpe", "vocab_size": TOKENIZER_SIZE, "lowercase": True},
            "batching": {"tokens_per_update": TOKENS_PER_UPDATE, "max_length": 120},
            "model": {**PRESETS[size], "dropout": DROPOUT},
        }
    )


def batches_of(text: PreparedText, config: BatchingConfig) -> Batches:
    """Cut the training text into updates, the same for all subjects."""
    special = text.tokenizers.target.special_ids
    return Batches(
        text.store,
        choose_shapes(length_histogram(text.store), config),
        config,
        seed=1,
        pad_id=special.pad,
        bos_id=special.bos,
        eos_id=special.eos,
    )


def write_primer(path: Path) -> None:
    """Write the embedded corpus, for machines where no other text is at hand."""
    pairs = generate(PRIMER_PAIRS, seed=1)
    path.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs), encoding="utf-8")


def run_one(name: str, pairs: Path, directory: Path, options: argparse.Namespace) -> None:
    """Measure one subject in this process, and write JSON."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    recipe = build_recipe(pairs, options.size)
    text = prepare(recipe, directory)
    special = text.tokenizers.target.special_ids
    work = Work(
        model=TransformerConfig(**asdict(recipe.model)),
        vocab_size=VOCAB_SIZES[options.size],
        pad_id=special.pad,
        bos_id=special.bos,
        eos_id=special.eos,
        label_smoothing=LABEL_SMOOTHING,
        learning_rate=LEARNING_RATE,
    )
    try:
        subject = SUBJECTS[name](work, options.precision)
    except MissingError as error:
        print(json.dumps({"subject": name, "missing": str(error)}))
        return
    batches = batches_of(text, recipe.batching)
    print(json.dumps(asdict(measure(subject, batches, options.seconds))))


def run_all(options: argparse.Namespace) -> dict[str, Any]:
    """Measure each subject in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        pairs = options.pairs
        if pairs is None:
            pairs = Path(scratch) / "primer.tsv"
            write_primer(pairs)
        prepare(build_recipe(pairs, options.size), Path(scratch) / "data")
        results = []
        for name in options.subjects:
            command = [sys.executable, __file__, "--subject", name, "--pairs", str(pairs)]
            command += ["--data", str(Path(scratch) / "data"), "--size", options.size]
            command += ["--seconds", str(options.seconds), "--threads", str(options.threads)]
            command += ["--precision", options.precision]
            environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, check=True, env=environment
            )
            results.append(json.loads(done.stdout.splitlines()[-1]))
    return {
        "text": "embedded corpus" if options.pairs is None else options.pairs.name,
        "size": options.size,
        "dropout": DROPOUT,
        "tokens_per_update": TOKENS_PER_UPDATE,
        "threads": options.threads,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "subjects": results,
    }


def show(report: dict[str, Any]) -> None:
    """Print a table for people."""
    print(
        f"{report['text']}, size {report['size']}, dropout {report['dropout']}, "
        f"{report['tokens_per_update']} target tokens an update, {report['threads']} threads, "
        f"torch {report['torch']}"
    )
    print("| subject | target tokens/s | share of the matrix rate | peak MiB | fill | loss |")
    print("|---|---|---|---|---|---|")
    for found in report["subjects"]:
        if "missing" in found:
            print(f"| {found['subject']} | {found['missing']} | - | - | - | - |")
            continue
        print(
            f"| {found['subject']} {found['version']} ({found['configuration']}) "
            f"| {found['target_tokens_per_second']:,.0f} "
            f"| {100 * found['share_of_matrix_rate']:.0f} % of {found['matrix_rate_gflops']:,.0f} "
            f"GFLOP/s | {found['peak_memory_mib']:,.0f} | {100 * found['batch_fill']:.0f} % "
            f"| {found['loss']} |"
        )


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path, help="TSV file; the embedded corpus if left out")
    parser.add_argument("--size", choices=list(VOCAB_SIZES), default="small")
    parser.add_argument("--subjects", nargs="+", choices=list(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument("--seconds", type=float, default=40.0, help="for each subject")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--precision", choices=["auto", "fp32", "bf16"], default="auto")
    parser.add_argument("--json", action="store_true", help="write JSON, for programs")
    parser.add_argument("--subject", choices=list(SUBJECTS), help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.subject:
        run_one(options.subject, options.pairs, options.data, options)
        return
    report = run_all(options)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
