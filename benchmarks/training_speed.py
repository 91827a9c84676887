"""Measure how fast training is, for us and for every installed peer, in one run.

    python benchmarks/training_speed.py [--pairs FILE.tsv] [--size small|base] [--json]
    python benchmarks/training_speed.py --device cuda --compile --size base --tokens 25000

All subjects train the same architecture on the same batches, one after the other, each in a process
of its own that also measures what the machine can do at best. Its result goes to standard error at
once, as a line of JSON. Only real target tokens count, not padding. A peer takes part if its
package can be imported, see `training_peers.py`; the table says why a subject is left out.

Our commands let their process keep freed memory, and its waiting threads sleep soon. Peers run as
they come, without that; `--peers-as-ours` gives it to them, too.

    share of the matrix rate = 6 * parameters * target tokens a second / rate of matrix products

The rate is that of one product for all sizes: a feed-forward layer of the preset `small`, and on a
GPU one of 8,192 in each dimension.
An optimizer update costs about two operations for each parameter and token in the forward pass and
four in the backward pass. A parameter of the encoder meets the source tokens and one of the decoder
the target tokens, which are about as many. The table of embeddings counts once, for the projection.
"""

import argparse
import json
import math
import os
import platform
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from apart import Result, measure_apart, tell
from circumstances import circumstances
from torch import nn
from training_peers import PEERS, Subject, Work

from dragoman.corpora.batching import Batches, Update
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.preparation import TextPreparation
from dragoman.corpora.prepared_text import PreparedText
from dragoman.corpora.primer.corpus import generate
from dragoman.device import ROUNDS_BEFORE_SLEEP, Precision, choose_device, choose_precision
from dragoman.memory import keep_freed_memory, peak_mib
from dragoman.model.config import PRESETS
from dragoman.model.transformer import Transformer
from dragoman.planning.machine import matrix_rate
from dragoman.recipe import Recipe, recipe_from_table
from dragoman.training.compilation import compile_blocks, require_compiler
from dragoman.training.config import TrainingConfig
from dragoman.training.objective import build_objective
from dragoman.training.optimizer import build_optimizers
from dragoman.training.pending_updates import updates_ahead
from dragoman.training.recording import MOST_RECORDINGS, Recorder
from dragoman.training.step import AddGradients, MicroBatch, UpdateReport, add_gradients, update

WARM_UP = 5  # updates before the clock starts
WARM_UP_ON_GPU = 300  # or two epochs: each shape is compiled for, then recorded
DROPOUT = 0.2
LABEL_SMOOTHING = 0.1
TOKENS_PER_UPDATE = 4096
SHARE = "6 * parameters * target_tokens_per_second / (1e9 * matrix_rate_gflops)"
PAPER_UPDATES, PAPER_TOKENS = 100_000, 25_000  # of its base model, in each update (section 5)
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
    """Of the last update that was told of, for a sanity check: a subject that learns nothing does
    no work."""


class Dragoman:
    """Ours: what `dragoman train` does for each update."""

    name = "dragoman"
    version = "this checkout"

    def __init__(self, work: Work, precision: Precision) -> None:
        config = TrainingConfig(compile=work.compile, label_smoothing=LABEL_SMOOTHING)
        self.device = choose_device(str(work.device))  # which a peer does not call
        require_compiler(config, self.device)
        keep_freed_memory()
        model = Transformer(
            work.model,
            source_vocab_size=work.vocab_size,
            target_vocab_size=work.vocab_size,
            padding_id=work.pad_id,
        ).train()
        self.is_compiled = work.compile
        self.dtype = choose_precision(precision, self.device)
        self.objective = build_objective(model.to(self.device), config, self.dtype)
        recorder = Recorder.where_it_pays(self.device, compiled=work.compile)
        self.add_gradients: AddGradients = recorder or add_gradients
        if self.is_compiled:
            compile_blocks(model)
        self.optimizers = build_optimizers(model, config, keep_gradients=recorder is not None)
        self.model: nn.Module = model
        self.reports: deque[UpdateReport] = deque()
        self.loss = math.nan

    @property
    def configuration(self) -> str:
        """Say how it computes."""
        dtype = str(self.dtype).removeprefix("torch.")
        return f"{dtype}, fused AdamW" + (", compiled blocks" if self.is_compiled else "")

    def update(self, batch: Update) -> float:
        """Change the weights once, and return the loss of the last update that was told of."""
        report = update(
            self.objective,
            [MicroBatch.on(self.device, part) for part in batch.micro_batches],
            self.optimizers,
            num_target_tokens=batch.num_target_tokens,
            learning_rate=LEARNING_RATE,
            max_gradient_norm=1.0,
            add_gradients=self.add_gradients,
        )
        self.reports.append(report)
        while len(self.reports) > updates_ahead(self.device):
            self.loss, _ = self.reports.popleft().read()
        return self.loss


SUBJECTS: dict[str, Callable[[Work, Precision], Subject]] = {"dragoman": Dragoman, **PEERS}


def measure(subject: Subject, batches: Batches, seconds: float) -> Measurement:
    """Train until the time is up."""
    updates: Iterator[Update] = batches.updates()
    device = next(subject.model.parameters()).device
    on_gpu = device.type == "cuda"
    for _ in range(min(WARM_UP_ON_GPU, 2 * batches.epoch(0).num_updates) if on_gpu else WARM_UP):
        subject.update(next(updates))
    wait_for(device)
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
    wait_for(device)
    rate = tokens / (time.perf_counter() - began)
    peak = torch.cuda.max_memory_reserved(device) / 2**20 if on_gpu else peak_mib()
    parameters = sum(parameter.numel() for parameter in subject.model.parameters())
    best = matrix_rate(subject.dtype, device=device)
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


def wait_for(device: torch.device) -> None:
    """Let a GPU end what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


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


def build_recipe(pairs: Path, size: str, tokens: int, fill: float) -> Recipe:
    """Describe the work: lower-cased text, joint BPE, and so many target tokens an update."""
    return recipe_from_table(
        {
            "source_language": "xx",
            "target_language": "yy",
            "corpora": {"train": [{"path": str(pairs)}]},
            "tokenizer": {"kind": "bpe", "vocab_size": TOKENIZER_SIZE, "lowercase": True},
            "batching": {
                "tokens_per_update": tokens,
                "max_tokens_per_micro_batch": tokens,
                "max_length": 120,
                "max_shapes": MOST_RECORDINGS,
                "min_fill": fill,
                "fill_up": True,
            },
            "model": {**PRESETS[size], "dropout": DROPOUT},
        }
    )


def batches_of(text: PreparedText, config: BatchingConfig) -> Batches:
    """Cut the training text into updates, the same for all subjects."""
    return Batches(text.store, config, seed=1, special=text.tokenizers.target.special_ids)


def write_primer(path: Path) -> None:
    """Write the embedded corpus, for machines where no other text is at hand."""
    pairs = generate(PRIMER_PAIRS, seed=1)
    path.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs), encoding="utf-8")


def run_one(options: argparse.Namespace) -> Measurement:
    """Measure one subject in this process."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    if options.peers_as_ours:
        keep_freed_memory()
    recipe = build_recipe(options.pairs, options.size, options.tokens, options.fill)
    text = prepare(recipe, options.data)
    special = text.tokenizers.target.special_ids
    work = Work(
        model=recipe.model,
        vocab_size=VOCAB_SIZES[options.size],
        pad_id=special.pad,
        bos_id=special.bos,
        eos_id=special.eos,
        label_smoothing=LABEL_SMOOTHING,
        learning_rate=LEARNING_RATE,
        device=torch.device(options.device),
        compile=options.compile,
    )
    subject = SUBJECTS[options.subject](work, options.precision)
    return measure(subject, batches_of(text, recipe.batching), options.seconds)


def run_in_process(name: str, pairs: Path, data: Path, options: argparse.Namespace) -> list[Result]:
    """Measure a subject in a process of its own."""
    command = [sys.executable, __file__, "--subject", name, "--pairs", str(pairs)]
    command += ["--data", str(data), "--size", options.size, "--tokens", str(options.tokens)]
    command += ["--seconds", str(options.seconds), "--threads", str(options.threads)]
    command += ["--precision", options.precision, "--device", options.device]
    command += ["--fill", str(options.fill)]
    command += ["--compile"] if options.compile else []
    command += ["--peers-as-ours"] if options.peers_as_ours else []
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    if options.peers_as_ours or name == Dragoman.name:  # as `dragoman train` asks for it
        environment = {"GOMP_SPINCOUNT": ROUNDS_BEFORE_SLEEP, **environment}
    return measure_apart(name, command, environment)


def run_all(options: argparse.Namespace) -> dict[str, Any]:
    """Measure one subject after the other."""
    found = circumstances(options.device)
    with tempfile.TemporaryDirectory() as scratch:
        pairs, data = options.pairs, Path(scratch, "data")
        if pairs is None:
            pairs = Path(scratch, "primer.tsv")
            write_primer(pairs)
        prepare(build_recipe(pairs, options.size, options.tokens, options.fill), data)
        results: list[Result] = []
        for name in options.subjects:
            results += run_in_process(name, pairs, data, options)
    return {
        "text": "embedded corpus" if options.pairs is None else options.pairs.name,
        "size": options.size,
        "dropout": DROPOUT,
        "tokens_per_update": options.tokens,
        **found,
        "torch": torch.__version__,
        "threads": options.threads,
        "python": platform.python_version(),
        "peers_as_ours": options.peers_as_ours,
        "formula_of_share": SHARE,
        "subjects": results,
        "hours_of_the_papers_base_schedule": hours_of_the_paper(results, options.size),
    }


def hours_of_the_paper(results: Sequence[Result], size: str) -> float | None:
    """Extrapolate our rate to the whole schedule of the paper's base model."""
    rates = [
        found["target_tokens_per_second"]
        for found in results
        if found["subject"] == Dragoman.name and "target_tokens_per_second" in found
    ]
    if size != "base" or not rates:
        return None
    return round(PAPER_UPDATES * PAPER_TOKENS / rates[0] / 3600, 1)


def show(report: dict[str, Any]) -> None:
    """Print a table for people."""
    print(
        f"{report['text']}, size {report['size']}, dropout {report['dropout']}, "
        f"{report['tokens_per_update']} target tokens an update, "
        f"{report['device']}, {report['threads']} threads, torch {report['torch']}, "
        f"commit {report['commit']}" + (", peers as ours" if report["peers_as_ours"] else "")
    )
    print("| subject | target tokens/s | share of the matrix rate | peak MiB | fill | loss |")
    print("|---|---|---|---|---|---|")
    for found in report["subjects"]:
        if "left_out" in found:
            print(f"| {found['subject']} | left out: {found['left_out']} | - | - | - | - |")
            continue
        print(
            f"| {found['subject']} {found['version']} ({found['configuration']}) "
            f"| {found['target_tokens_per_second']:,.0f} "
            f"| {100 * found['share_of_matrix_rate']:.1f} % of {found['matrix_rate_gflops']:,.0f} "
            f"GFLOP/s | {found['peak_memory_mib']:,.0f} | {100 * found['batch_fill']:.0f} % "
            f"| {found['loss']} |"
        )
    hours = report["hours_of_the_papers_base_schedule"]
    if hours is not None:
        print(f"\nAt Dragoman's rate the base schedule of the paper takes {hours:,.1f} hours.")


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
    parser.add_argument("--tokens", type=int, default=TOKENS_PER_UPDATE, help="of each update")
    parser.add_argument("--fill", type=float, default=0.92, help="batching.min_fill of the recipe")
    parser.add_argument("--device", default="cpu", help="as cuda")
    parser.add_argument("--compile", action="store_true", help="our blocks, for GPUs")
    parser.add_argument("--precision", choices=["auto", "fp32", "bf16"], default="auto")
    parser.add_argument(
        "--peers-as-ours", action="store_true", help="they keep freed memory and wait as ours do"
    )
    parser.add_argument("--json", action="store_true", help="write JSON, for programs")
    parser.add_argument("--subject", choices=list(SUBJECTS), help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.subject:
        tell(options.subject, lambda: [run_one(options)])
        return
    options.device = str(choose_device(options.device))
    report = run_all(options)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
