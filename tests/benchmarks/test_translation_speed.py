"""Engines are measured apart, on what is installed, and on a GPU as they are used there."""

import json
import os
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import pytest

from dragoman.decoding.config import SearchConfig
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.model_directory import ModelDirectory
from dragoman.shortlist.coverage import Coverage
from dragoman.shortlist.file import save_shortlist
from dragoman.shortlist.shortlist import Shortlist

from .conftest import BENCHMARKS, Load

MODEL = Path(__file__).parents[1] / "fixtures" / "release-0.1.0" / "model"


@pytest.fixture
def benchmark(load: Load) -> Any:
    return load("translation_speed")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("the dog\til cane\nthe cat\til gatto\nthe bird\tl'uccello\n")
    return path


def test_pytorch_is_measured_without_ctranslate2_and_git(pairs: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['ctranslate2'] = None\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    subjects = ["ctranslate2 alone float32", "ctranslate2 alone float16", "pytorch"]
    command = [sys.executable, str(BENCHMARKS / "translation_speed.py"), str(MODEL), str(pairs)]
    command += ["--subjects", *subjects, "--beam-sizes", "1", "--threads", "1", "--json"]

    done = subprocess.run(
        command,
        env={**os.environ, "PATH": str(tmp_path), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )

    report = json.loads(done.stdout)
    (measured,) = report["subjects"]
    assert measured["subject"] == "pytorch"
    assert json.dumps(measured) in done.stderr.splitlines()
    assert "ctranslate2" in report["left_out"]["ctranslate2 alone float32"]
    assert report["left_out"]["ctranslate2 alone float16"] == "it does not compute on cpu here"


def run_one(benchmark: Any, pairs: Path, **changed: Any) -> list[Any]:
    options = {
        "model": MODEL,
        "pairs": pairs,
        "copy": None,
        "device": "cpu",
        "began": 0.0,
        "sentences": 3,
        "beam_sizes": [2, 1],
        "patience": 1,
        "lowercase": False,
    }
    found = []
    try:
        for measured in benchmark.run_one(Namespace(**options | changed)):
            found.append(measured)
    except RuntimeError as error:
        found.append(str(error))
    return found


def test_a_width_that_fails_does_not_lose_another(
    benchmark: Any, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def translate(sources: Sequence[Any], config: SearchConfig) -> list[Any]:
        if config.beam_size == 1:
            raise RuntimeError("out of memory")
        return list(sources)

    subject = benchmark.Subject(lambda *_: translate)
    monkeypatch.setitem(benchmark.SUBJECTS, "pytorch", subject)

    measured, error = run_one(benchmark, pairs, subject="pytorch")

    assert measured.beam_size == 2
    assert error == "out of memory"


def test_on_a_gpu_all_is_translated_before_the_time_counts_and_its_memory_is_told(
    benchmark: Any, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def translate(sources: Sequence[Any], config: SearchConfig) -> list[Any]:
        calls.append(len(sources))
        return list(sources)

    monkeypatch.setattr(benchmark, "LATENCY_SENTENCES", 1)
    subject = benchmark.Subject(lambda *_: translate)
    monkeypatch.setitem(benchmark.SUBJECTS, "pytorch", subject)
    taken = {"cuda:1": 3 * 2**20}
    monkeypatch.setattr("torch.cuda.max_memory_reserved", taken.__getitem__)

    (measured,) = run_one(benchmark, pairs, subject="pytorch", device="cuda:1", beam_sizes=[2])

    assert calls == [3, 3, 1]
    assert measured.peak_memory_mib == 3


def test_ctranslate2_gets_large_batches_and_its_own_numbers_on_a_gpu(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}
    sizes = []

    class Translator:
        def __init__(self, path: str, **options: Any) -> None:
            given.update(options)

        def translate_batch(self, sources: list[Any], **options: Any) -> list[Any]:
            sizes.append(options["max_batch_size"])
            return [Namespace(hypotheses=[[]]) for _ in sources]

    monkeypatch.setattr(ctranslate2, "Translator", Translator)
    tokenizers = ModelDirectory(MODEL).load_tokenizers()
    prepare = benchmark.SUBJECTS["ctranslate2 alone float16"].prepare

    prepare(MODEL, Path("copy"), tokenizers, "cuda:1")([[5]], SearchConfig(beam_size=4))

    assert (given["device"], given["device_index"]) == ("cuda", 1)
    assert given["compute_type"] == "float16"
    assert given["inter_threads"] == 1
    assert min(sizes) == 4096
    assert max(sizes) == 65_536


@pytest.mark.parametrize(
    "subject", ["ctranslate2 alone int8 shortlist", "ctranslate2 int8 shortlist"]
)
def test_ctranslate2_gets_the_shortlist_as_its_vocabulary_map(
    subject: str, benchmark: Any, tmp_path: Path
) -> None:
    """One of two sentences has the tokens of its translation on its list."""
    model = ModelDirectory(Path(shutil.copytree(MODEL, tmp_path / "model")))
    tokenizers = model.load_tokenizers()
    copy = tmp_path / "copy"
    export_ctranslate2(model.path, copy, quantization="int8")
    greedy = SearchConfig(beam_size=1)
    translate = benchmark.SUBJECTS["ctranslate2 alone int8"].prepare(
        model.path, copy, tokenizers, "cpu"
    )
    words = ["dog", "cat", "table", "the red apple", "my sister is buying two books"]
    sources = tokenizers.source.encode_batch(words)
    dog, *others = (translate([source], greedy)[0] for source in sources)
    # Which one it is depends on how the processor multiplies numbers of 8 bits.
    place = next(i for i, other in enumerate(others, start=1) if not set(other) <= set(dog))
    rows = np.full((tokenizers.source.vocab_size, len(dog)), tokenizers.target.special_ids.eos)
    rows[sources[0]] = dog
    shortlist = Shortlist(frequent=np.array([3], np.int32), translations=rows.astype(np.int32))
    coverage = Coverage(pairs=1, tokens=1, sentences=1, mean_length=1)
    save_shortlist(model, shortlist, text="made up", pairs=1, coverage=coverage)

    mapped = benchmark.SUBJECTS[subject].prepare(model.path, copy, tokenizers, "cpu")

    assert mapped(sources[:1], greedy) == [dog]
    assert mapped([sources[place]], greedy) != [others[place - 1]]


@pytest.mark.parametrize("fastest", [2**14, 2**16, 2**18])
def test_the_fastest_size_of_batches_is_taken(
    fastest: int, benchmark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first call is slow at any size."""
    clock = [0.0]
    sizes: list[int] = []

    def translate(sources: Any, config: SearchConfig, size: int) -> list[tuple[int, ...]]:
        clock[0] += 1 + (size != fastest // 2) if size in sizes else 100.0 * len(sizes)
        sizes.append(size)
        return []

    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    at_best = benchmark.with_the_best_size(translate)
    for _ in range(2):
        at_best([], SearchConfig(beam_size=2))

    assert sizes[6:] == [fastest // 2] * 2
