"""Compare a teacher with its student: size, speed and BLEU, for each engine and beam size.

    python benchmarks/distillation.py TEACHER STUDENT PAIRS.tsv [--lowercase] [--threads 1]

All translate the same sentences as `Translator` does, from text to text, in one process. The
teacher and the student take turns in each setting, `--rounds` times each; the times are medians.
Seconds are wall-clock time, CPU seconds those of all threads. Weights for `ctranslate2 int8` are
quantised in an export of their own, so the models are left as they are. Models that have a
shortlist (`dragoman shortlist`) also translate with it.
"""

import argparse
import json
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import ctranslate2
import torch

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.engines.protocol import EngineKind
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.metrics import score
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.memory import keep_freed_memory
from dragoman.model_directory import ModelDirectory
from dragoman.planning.machine import matrix_rate
from dragoman.shortlist.file import SHORTLIST_NAME
from dragoman.translator import Translator


class Engine(NamedTuple):
    """What translates."""

    kind: EngineKind
    weights: Path
    """Their file, in the directory of the model."""

    shortlist: bool = False


ENGINES = {
    "pytorch": Engine("pytorch", Path("model.safetensors")),
    "pytorch, shortlist": Engine("pytorch", Path("model.safetensors"), shortlist=True),
    "ctranslate2 int8": Engine("ctranslate2", Path("ctranslate2", "model.bin")),
}

TRANSLATES = ("model.toml", "model.safetensors", SHORTLIST_NAME)
"""The files of a model that an engine reads, besides those of the tokenizers."""

WARM_UP = 50  # sentences


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What one model did with one engine and one beam size."""

    model: str
    engine: str
    beam: str
    """Its size, and the patience of the search if that is not the recipe's."""

    mebibytes: float
    """Of the weights."""

    seconds: float
    cpu_seconds: float
    sentences_per_second: float
    bleu: float
    low: float
    high: float
    signature: str


def prepare(model: Path, copy: Path) -> Path:
    """Copy what an engine needs, and export it."""
    copy.mkdir()
    for path in model.iterdir():
        if path.name.startswith("tokenizer") or path.name in TRANSLATES:
            shutil.copy(path, copy)
    export_ctranslate2(copy, None, quantization="int8")
    return copy


def measure(
    models: dict[str, Path], pairs: Sequence[Pair], options: argparse.Namespace
) -> Iterator[Measurement]:
    """Let the models take turns."""
    keep_freed_memory()  # as commands do
    for name_of_engine, engine in ENGINES.items():
        able = {
            name: path
            for name, path in models.items()
            if not engine.shortlist or (path / SHORTLIST_NAME).exists()
        }
        for change in options.searches:
            translators = {
                name: Translator(
                    path,
                    engine=engine.kind,
                    device="cpu",
                    search=replace(ModelDirectory(path).search, **change),
                    shortlist=engine.shortlist,
                    threads=options.threads,
                )
                for name, path in able.items()
            }
            turns = take_turns(translators, [pair.source for pair in pairs], options.rounds)
            for name, (seconds, cpu_seconds, translations) in turns.items():
                (bleu,) = score(
                    translations,
                    [pair.target for pair in pairs],
                    EvaluationConfig(metrics=("BLEU",), lowercase=options.lowercase),
                )
                yield Measurement(
                    model=name,
                    engine=name_of_engine,
                    beam=" patience ".join(map(str, change.values())),
                    mebibytes=round((models[name] / engine.weights).stat().st_size / 2**20, 2),
                    seconds=round(seconds, 2),
                    cpu_seconds=round(cpu_seconds, 2),
                    sentences_per_second=round(len(pairs) / seconds, 1),
                    bleu=round(bleu.value, 2),
                    low=round(bleu.low or 0.0, 1),
                    high=round(bleu.high or 0.0, 1),
                    signature=bleu.signature,
                )


def take_turns(
    translators: dict[str, Translator], sources: list[str], rounds: int
) -> dict[str, tuple[float, float, list[str]]]:
    """Translate with each, again and again; return the median seconds and the translations."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in translators}
    translations: dict[str, list[str]] = {}
    for translator in translators.values():
        translator(sources[:WARM_UP])
    for _ in range(rounds):
        for name, translator in translators.items():
            before = time.perf_counter(), time.process_time()
            translations[name] = translator(sources)
            times[name].append((time.perf_counter() - before[0], time.process_time() - before[1]))
    return {
        name: (
            statistics.median(seconds for seconds, _ in found),
            statistics.median(cpu for _, cpu in found),
            translations[name],
        )
        for name, found in times.items()
    }


def show(report: dict[str, Any]) -> None:
    """Print a table for people."""
    print(
        f"{report['text']}, {report['sentences']} sentences, {report['threads']} threads, torch "
        f"{report['torch']}, CTranslate2 {report['ctranslate2']}, float32 products at "
        f"{report['matrix_rate_gflops']:,.0f} GFLOP/s, BLEU {report['signature']}"
    )
    print("| model | engine | beam | MiB | sentences/s | seconds | CPU seconds | times | BLEU |")
    print("|---|---|---|---|---|---|---|---|---|")
    first = report["measurements"][0]["seconds"]
    for found in report["measurements"]:
        print(
            f"| {found['model']} | {found['engine']} | {found['beam']} "
            f"| {found['mebibytes']} | {found['sentences_per_second']:,.1f} | {found['seconds']} "
            f"| {found['cpu_seconds']} | {first / found['seconds']:.1f} "
            f"| {found['bleu']} ({found['low']} to {found['high']}) |"
        )
    print("times: as fast as the first row")


def parse_search(text: str) -> dict[str, int]:
    """Read how a search differs from the recipe's.

    >>> parse_search("4"), parse_search("2:1")
    ({'beam_size': 4}, {'beam_size': 2, 'patience': 1})
    """
    return dict(zip(("beam_size", "patience"), map(int, text.split(":")), strict=False))


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("teacher", type=Path)
    parser.add_argument("student", type=Path)
    parser.add_argument("pairs", type=Path, help="TSV file: sentences and reference translations")
    parser.add_argument(
        "--searches",
        type=parse_search,
        nargs="+",
        default=[{"beam_size": 4}, {"beam_size": 1}],
        help="widths of the beam, as 4; or with another patience than the recipe's, as 2:1",
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--lowercase", action="store_true", help="score without regard to case")
    parser.add_argument("--json", action="store_true", help="write JSON, for programs")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    pairs = list(read_pairs(CorpusConfig(path=str(options.pairs)), languages=("source", "target")))
    with tempfile.TemporaryDirectory() as name:
        models = {
            role: prepare(path, Path(name, role))
            for role, path in (("teacher", options.teacher), ("student", options.student))
        }
        measurements = [asdict(found) for found in measure(models, pairs, options)]
    report = {
        "text": options.pairs.name,
        "sentences": len(pairs),
        "threads": options.threads,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "ctranslate2": ctranslate2.__version__,
        "matrix_rate_gflops": round(matrix_rate(torch.float32) / 1e9, 1),
        "signature": measurements[0]["signature"],
        "measurements": measurements,
    }
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
