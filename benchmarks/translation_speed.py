r"""Measure how fast a model translates, by each engine and by other toolkits, in one run.

    python benchmarks/translation_speed.py MODEL PAIRS.tsv [--beam-sizes 1 4] [--json]
    python benchmarks/translation_speed.py MODEL PAIRS.tsv --device cuda \
        --subjects pytorch "pytorch bfloat16" "ctranslate2 alone float16"

All subjects translate the same sentences with the same weights, one after the other, each in a
process of its own. Each result goes to standard error at once, as a line of JSON. The time counts
from token ids to token ids; what comes before is stated apart: start-up is from the start of the
process until it can translate, and tokenisation is the time to cut all sentences. Latency is that
of one sentence at a time, the median of the first 100.

All search as the model's settings say, but for the width of the beam. `ctranslate2` is our engine
with the copy that `dragoman export` writes. `ctranslate2 alone` calls the library as its manual
recommends for files, with its own rule for when a search is over, which is our patience of 1; its
length penalty is length^alpha, and its limit is that of the longest sentence. Where one writes more
tokens for the same sentences, its tokens per second are more, too: sentences per second compare.
`huggingface` and `joeynmt` are optional installs, see `translation_peers.py`. They show that they
are the model before they translate, which their start and their memory include. A shortlist is the
one made by `dragoman shortlist MODEL PAIRS`. A subject that is missing, cannot hold the model or
fails is left out, and a line says why.

With `--device cuda` PyTorch computes on the GPU, and so does `ctranslate2 alone` where its
libraries are; the others are left out. Before the time counts, all sentences are translated once,
as a GPU loads kernels and asks for memory when they are first needed; `ctranslate2 alone` finds the
best of three batch sizes meanwhile. Memory is that of the process; on a GPU, what PyTorch took.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, NamedTuple

from apart import Result, left_out, measure_apart, tell
from circumstances import circumstances

from dragoman.config import to_table
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import read_pairs
from dragoman.decoding.config import SearchConfig
from dragoman.device import Precision, choose_device
from dragoman.engines.protocol import Engine
from dragoman.engines.vocabulary_map import VOCABULARY_MAP_NAME, write_vocabulary_map
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.metrics import score
from dragoman.memory import peak_mib
from dragoman.model_directory import ModelDirectory
from dragoman.shortlist.file import load_shortlist
from dragoman.tokenizers.pair import TokenizerPair

LATENCY_SENTENCES = 100
PACKAGES = ("torch", "ctranslate2", "transformers", "joeynmt")

BATCHES_ON_GPU = (2**14, 2**16, 2**18)
"""Source tokens that CTranslate2 gets at once, the beam's copies included; with a `base` model ours
are some 580,000 on a GPU of 80 GB."""

TOKENS_PER_MAPPED_BATCH = 256
"""Source tokens that it gets at once with a vocabulary map; with more, more is on its list."""

Ids = Sequence[Sequence[int]]
Translate = Callable[[Ids, SearchConfig], list[tuple[int, ...]]]
"""(sentences, how to search) -> translations."""

Prepare = Callable[[Path, Path | None, TokenizerPair, str], Translate]
"""(model, the copy that was asked for, tokenizers, device) -> what translates."""


class Subject(NamedTuple):
    """What is measured."""

    prepare: Prepare
    copy: Literal["int8", "float32"] | None = None
    """The weights of the copy that it needs, if it needs one."""

    on: tuple[str, ...] = ("cpu",)
    """The kinds of devices that it computes on."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What one subject did with one width of the beam."""

    subject: str
    beam_size: int
    target_tokens_per_second: float
    sentences_per_second: float
    latency_ms: float
    bleu: float
    seconds_to_start: float
    seconds_to_tokenise: float
    peak_memory_mib: float | None
    """None where CTranslate2 computes on a GPU, which it does not tell."""


def use_pytorch(precision: Precision, *, shortlist: bool = False) -> Prepare:
    """Translate as commands do with PyTorch."""

    def prepare(
        model: Path, copy: Path | None, tokenizers: TokenizerPair, device: str
    ) -> Translate:
        del copy, tokenizers
        from dragoman.engines.selection import EngineSettings, build_pytorch_engine
        from dragoman.memory import keep_freed_memory

        keep_freed_memory()
        settings = EngineSettings(device=device, precision=precision, shortlist=shortlist)
        return by_search(build_pytorch_engine(ModelDirectory(model), settings))

    return prepare


def use_ctranslate2(*, shortlist: bool = False) -> Prepare:
    """Translate as `Translator` does with CTranslate2."""

    def prepare(
        model: Path, copy: Path | None, tokenizers: TokenizerPair, device: str
    ) -> Translate:
        del device  # the processor
        from dragoman.engines.ctranslate2 import CTranslate2Engine

        directory = ModelDirectory(model)
        lists = load_shortlist(directory) if shortlist else None
        return by_search(CTranslate2Engine(directory, tokenizers, copy=copy, shortlist=lists))

    return prepare


def by_search(engine: Engine) -> Translate:
    """Take the best translation of each sentence."""
    return lambda sources, config: [found[0].ids for found in engine.search(sources, config)]


def with_patience(patience: int, prepare: Prepare) -> Prepare:
    """Search for longer, or less long, than the model's settings say."""

    def prepare_with_patience(
        model: Path, copy: Path | None, tokenizers: TokenizerPair, device: str
    ) -> Translate:
        translate = prepare(model, copy, tokenizers, device)
        return lambda sources, config: translate(sources, replace(config, patience=patience))

    return prepare_with_patience


def use_ctranslate2_alone(compute_type: str = "default", *, shortlist: bool = False) -> Prepare:
    """Translate as CTranslate2's manual says: as many workers as cores, each with one thread.

    With a shortlist, that of the model is its vocabulary map.
    """

    def prepare(
        model: Path, copy: Path | None, tokenizers: TokenizerPair, device: str
    ) -> Translate:
        import ctranslate2

        from dragoman.engines.ctranslate2 import TOKENS_PER_BATCH

        target = tokenizers.target
        pieces = target.pieces(range(target.vocab_size))
        if shortlist and copy is not None:
            sources = tokenizers.source.pieces(range(tokenizers.source.vocab_size))
            lists = write_vocabulary_map(load_shortlist(ModelDirectory(model)), sources, pieces)
            (copy / VOCABULARY_MAP_NAME).write_bytes(lists)
        kind, _, number = device.partition(":")
        translator = ctranslate2.Translator(
            str(copy),
            device=kind,
            device_index=int(number or 0),
            compute_type=compute_type,
            inter_threads=int(os.environ["OMP_NUM_THREADS"]) if kind == "cpu" else 1,
            intra_threads=1,
        )
        ids = {piece: i for i, piece in enumerate(pieces)}

        def translate(sources: Ids, config: SearchConfig, size: int) -> list[tuple[int, ...]]:
            results = translator.translate_batch(
                [tokenizers.source.pieces(source) for source in sources],
                beam_size=config.beam_size,
                length_penalty=config.length_penalty,
                max_decoding_length=max(config.max_length(len(source)) for source in sources),
                max_batch_size=size,
                batch_type="tokens",
                use_vmap=shortlist,
            )
            return [tuple(ids[piece] for piece in result.hypotheses[0]) for result in results]

        if kind == "cpu":
            size = TOKENS_PER_MAPPED_BATCH if shortlist else TOKENS_PER_BATCH
            return lambda sources, config: translate(sources, config, size)
        return with_the_best_size(translate)

    return prepare


def with_the_best_size(
    translate: Callable[[Ids, SearchConfig, int], list[tuple[int, ...]]],
) -> Translate:
    """Find the best size of batches for each width of the beam, when it is first searched with."""
    best: dict[int, int] = {}

    def translate_at_best(sources: Ids, config: SearchConfig) -> list[tuple[int, ...]]:
        if config.beam_size not in best:
            seconds = {}
            for tokens in (*BATCHES_ON_GPU, *BATCHES_ON_GPU):  # the second time counts
                before = time.perf_counter()
                translate(sources, config, tokens // config.beam_size)
                seconds[tokens] = time.perf_counter() - before
            best[config.beam_size] = min(seconds, key=seconds.__getitem__) // config.beam_size
        return translate(sources, config, best[config.beam_size])

    return translate_at_best


def use_peer(name: str) -> Prepare:
    """Translate as another toolkit does."""

    def prepare_peer(
        model: Path, copy: Path | None, tokenizers: TokenizerPair, device: str
    ) -> Translate:
        del copy, tokenizers, device  # the processor
        from translation_peers import prepare

        from dragoman.interop.proof import LoadedModel

        return prepare(name, LoadedModel.load(model))

    return prepare_peer


ANYWHERE = ("cpu", "cuda")

SUBJECTS = {
    "pytorch": Subject(use_pytorch("fp32"), on=ANYWHERE),
    "pytorch bfloat16": Subject(use_pytorch("bf16"), on=ANYWHERE),
    "pytorch patience 1": Subject(with_patience(1, use_pytorch("fp32")), on=ANYWHERE),
    "pytorch bfloat16 patience 1": Subject(with_patience(1, use_pytorch("bf16")), on=ANYWHERE),
    "pytorch shortlist": Subject(use_pytorch("fp32", shortlist=True), on=ANYWHERE),
    "pytorch bfloat16 shortlist": Subject(use_pytorch("bf16", shortlist=True), on=ANYWHERE),
    "ctranslate2 int8": Subject(use_ctranslate2(), copy="int8"),
    "ctranslate2 int8 patience 1": Subject(with_patience(1, use_ctranslate2()), copy="int8"),
    "ctranslate2 int8 shortlist": Subject(use_ctranslate2(shortlist=True), copy="int8"),
    "ctranslate2 float32": Subject(use_ctranslate2(), copy="float32"),
    "ctranslate2 alone int8": Subject(use_ctranslate2_alone(), copy="int8", on=ANYWHERE),
    "ctranslate2 alone int8 shortlist": Subject(use_ctranslate2_alone(shortlist=True), copy="int8"),
    "ctranslate2 alone float32": Subject(use_ctranslate2_alone(), copy="float32", on=ANYWHERE),
    "ctranslate2 alone float16": Subject(
        use_ctranslate2_alone("float16"), copy="float32", on=("cuda",)
    ),
    "huggingface": Subject(use_peer("huggingface")),
    "joeynmt": Subject(use_peer("joeynmt")),
}


def run_one(options: argparse.Namespace) -> Iterator[Measurement]:
    """Measure one subject in this process, with one width of the beam after the other."""
    directory = ModelDirectory(options.model)
    tokenizers = directory.load_tokenizers()
    prepare = SUBJECTS[options.subject].prepare
    translate = prepare(options.model, options.copy, tokenizers, options.device)
    seconds_to_start = time.time() - options.began
    pairs = list(read_pairs(CorpusConfig(path=str(options.pairs)), languages=("source", "target")))
    pairs = [pair for pair in pairs if pair.source.strip()][: options.sentences]
    before = time.perf_counter()
    sources = tokenizers.source.encode_batch([pair.source for pair in pairs])
    seconds_to_tokenise = time.perf_counter() - before
    first = sources[:LATENCY_SENTENCES]
    for beam_size in options.beam_sizes:
        config = replace(directory.search.without_sampling(), beam_size=beam_size, n_best=1)
        translate(first if options.device == "cpu" else sources, config)  # warms up
        before = time.perf_counter()
        translations = translate(sources, config)
        seconds = time.perf_counter() - before
        latencies = []
        for source in first:
            before = time.perf_counter()
            translate([source], config)
            latencies.append(time.perf_counter() - before)
        bleu = score(
            [tokenizers.target.decode(ids) for ids in translations],
            [pair.target for pair in pairs],
            EvaluationConfig(metrics=("BLEU",), lowercase=options.lowercase, bootstrap_samples=0),
        )[0]
        yield Measurement(
            subject=options.subject,
            beam_size=beam_size,
            target_tokens_per_second=round(sum(map(len, translations)) / seconds, 1),
            sentences_per_second=round(len(sources) / seconds, 1),
            latency_ms=round(1000 * statistics.median(latencies), 1),
            bleu=round(bleu.value, 2),
            seconds_to_start=round(seconds_to_start, 2),
            seconds_to_tokenise=round(seconds_to_tokenise, 2),
            peak_memory_mib=peak_memory(options),
        )


def peak_memory(options: argparse.Namespace) -> float | None:
    """Tell how much memory was taken at most, in MiB."""
    if options.device == "cpu":
        return round(peak_mib(), 1)
    if not options.subject.startswith("pytorch"):
        return None
    import torch

    return round(torch.cuda.max_memory_reserved(options.device) / 2**20, 1)


def installed_versions() -> dict[str, str]:
    """Look up what computes."""
    found = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def make_copy(name: str, options: argparse.Namespace, scratch: Path) -> Path | None:
    """Write the copy of the model that a subject needs, unless it is there."""
    quantization = SUBJECTS[name].copy
    if quantization is None:
        return None
    copy = scratch / quantization
    if not copy.exists():
        from dragoman.interop.ctranslate2 import export_ctranslate2

        export_ctranslate2(options.model, copy, quantization=quantization)
    return copy


def run_in_process(name: str, options: argparse.Namespace, scratch: Path) -> list[Result]:
    """Measure a subject in a process of its own."""
    if options.device.partition(":")[0] not in SUBJECTS[name].on:
        return [{"subject": name, "left_out": f"it does not compute on {options.device} here"}]
    try:
        copy = make_copy(name, options, scratch)
    except Exception as error:
        return [left_out(name, error)]
    command = [sys.executable, __file__, str(options.model), str(options.pairs)]
    command += ["--subject", name, "--began", str(time.time())]
    command += [] if copy is None else ["--copy", str(copy)]
    command += ["--sentences", str(options.sentences), "--beam-sizes"]
    command += map(str, options.beam_sizes)
    command += ["--device", options.device]
    command += ["--lowercase"] if options.lowercase else []
    return measure_apart(name, command, {**os.environ, "OMP_NUM_THREADS": str(options.threads)})


def run_all(options: argparse.Namespace) -> dict[str, Any]:
    """Measure one subject after the other."""
    import torch

    from dragoman.planning.machine import matrix_rate

    def rate(dtype: torch.dtype) -> float:
        return round(matrix_rate(dtype, device=options.device) / 1e9, 1)

    torch.set_num_threads(options.threads)
    found = circumstances(options.device)
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.subjects:
            results += run_in_process(name, options, Path(scratch))
    return {
        "model": options.model.name,
        "text": options.pairs.name,
        "threads": options.threads,
        "search": to_table(ModelDirectory(options.model).search),
        "python": platform.python_version(),
        "versions": installed_versions(),
        **found,
        "matrix_rate_gflops": rate(torch.float32),
        "matrix_rate_gflops_bf16": rate(torch.bfloat16),
        "subjects": [result for result in results if "left_out" not in result],
        "left_out": {
            result["subject"]: result["left_out"] for result in results if "left_out" in result
        },
    }


def show(report: dict[str, Any]) -> None:
    """Print a table for people."""
    versions = ", ".join(f"{package} {number}" for package, number in report["versions"].items())
    print(
        f"{report['model']}, {report['text']}, {report['device']}, {report['threads']} threads, "
        f"patience {report['search']['patience']}, "
        f"length penalty {report['search']['length_penalty']}, "
        f"{versions}, commit {report['commit']}, "
        f"float32 products at {report['matrix_rate_gflops']:,.0f} GFLOP/s, "
        f"bfloat16 at {report['matrix_rate_gflops_bf16']:,.0f}"
    )
    columns = "| beam | target tokens/s | sentences/s | one sentence, ms | BLEU | start, s "
    print(f"| subject {columns}| tokenise, s | peak MiB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for found in report["subjects"]:
        memory = found["peak_memory_mib"]
        print(
            f"| {found['subject']} | {found['beam_size']} "
            f"| {found['target_tokens_per_second']:,.0f} | {found['sentences_per_second']:,.1f} "
            f"| {found['latency_ms']} | {found['bleu']} | {found['seconds_to_start']} "
            f"| {found['seconds_to_tokenise']} | {'' if memory is None else f'{memory:,.0f}'} |"
        )
    for name, reason in report["left_out"].items():
        print(f"{name} is left out: {reason}")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("pairs", type=Path, help="TSV file: sentences and reference translations")
    parser.add_argument("--sentences", type=int, default=20_000, help="the first so many")
    parser.add_argument("--beam-sizes", type=int, nargs="+", default=[4, 1])
    parser.add_argument("--subjects", nargs="+", choices=list(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu", help="as cuda")
    parser.add_argument("--lowercase", action="store_true", help="score without regard to case")
    parser.add_argument("--json", action="store_true", help="write JSON, for programs")
    parser.add_argument("--subject", choices=list(SUBJECTS), help=argparse.SUPPRESS)
    parser.add_argument("--copy", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--began", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.subject:
        tell(options.subject, lambda: run_one(options))
        return
    options.device = str(choose_device(options.device))
    report = run_all(options)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
