"""A tiny random model, and the program that translates files with it in a process of its own."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import torch
from tests.untrained import save_transformer, untrained

from dragoman.bulk.job import Job, TranslatorSettings
from dragoman.bulk.plain_text import PlainText
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.model_directory import AlignmentDescription
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.words import WordTokenizer

ROOT = Path(__file__).parents[2]
LINES = [f"w{i % 7} w{i % 11} w{i % 13}" if i % 5 else " " * (i % 2) for i in range(150)]

PROGRAM = """
import json, sys
from pathlib import Path
from dragoman.bulk.files import in_this_process, translate_files
from dragoman.bulk.formats import choose_format
from dragoman.bulk.job import Job, TranslatorSettings
from dragoman.cli import main
from dragoman.markup.text_reader import TextReader

def distribute(way):
    if way == "workers":
        from dragoman.bulk.workers import with_workers
        return with_workers(2)
    if way == "ray":
        from dragoman.bulk.ray_cluster import on_cluster
        return on_cluster(None, 2)
    return in_this_process

model, source, output, way, field = sys.argv[1:]
job = Job(
    translator=TranslatorSettings(model=Path(model), engine="ctranslate2", whole_lines=True),
    files=choose_format(
        (Path(source),),
        TextReader("en", "it", splits_sentences=False),
        form="text",
        field=field or None,
        into="translation",
    ),
    output=Path(output),
    lines_per_block=8,
)
told = []
rejected = translate_files(job, distribute(way), lambda progress: told.append(progress.num_lines))
print(json.dumps([rejected, told[0]]))
"""
"""The command with smaller blocks. It prints how many lines were rejected, and done before."""

POISON = """
import os
from pathlib import Path
from dragoman.translator import Translator

original = Translator.translate
already = Path(__file__).with_name("already")

def translate(self, texts, search=None):
    texts = list(texts)
    if any("poison" in text for text in texts):
        os.kill(os.getpid(), 9)
    if any("w19" in text for text in texts) and not already.exists():
        already.touch()
        os.kill(os.getpid(), 9)
    return original(self, texts, search)

Translator.translate = translate
"""
"""Kills processes that translate one word, and the first one that translates another word."""

HOLD = """
import time
from pathlib import Path
from dragoman.translator import Translator

original, calls = Translator.translate, []
go_on = Path(__file__).with_name("go-on")

def translate(self, texts, search=None):
    calls.append(texts)
    while len(calls) > NUM_BLOCKS and not go_on.exists():
        time.sleep(0.01)
    return original(self, texts, search)

Translator.translate = translate
"""
"""Has each process stand still after some blocks, however late a test comes to look at it."""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a model that has learnt nothing, with its copy for CTranslate2."""
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("model")
    words = WordTokenizer([f"w{i}" for i in range(20)])
    pair = TokenizerPair(words, words)
    save_transformer(
        path,
        untrained(pair, projection_bias=True),
        pair,
        TokenizerConfig(kind="words"),
        max_length=50,
        search={"beam_size": 2, "max_length_ratio": 1.0, "max_length_extra": 2},
        alignment=AlignmentDescription(layer=1, agreement=0.5, text="nothing", pairs=1),
    )
    export_ctranslate2(path, None, quantization="float32")
    return path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Write lines, some of them blank, that make 19 blocks of 8."""
    path = tmp_path / "in.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return path


@pytest.fixture
def job(model: Path, text: Path) -> Job:
    """Describe the translation of the text in this process."""
    return Job(
        translator=TranslatorSettings(model=model, engine="ctranslate2", whole_lines=True),
        files=PlainText((text,), "text"),
        output=text.with_name("out.txt"),
        lines_per_block=8,
    )


@pytest.fixture
def start(model: Path, text: Path, tmp_path: Path) -> Iterator[Start]:
    """Give a function that begins to translate the text in another process."""
    begun: list[subprocess.Popen[str]] = []

    def begin(
        way: str = "",
        *,
        source: Path = text,
        field: str = "",
        injected: str = "",
        room: int | None = None,
    ) -> "subprocess.Popen[str]":
        output = source.with_name(f"out{source.suffix}")
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, model, source, output, way, field],
            env=environment(tmp_path / "injected", injected),
            preexec_fn=None if room is None else partial(limit_files, room),  # noqa: PLW1509
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def limit_files(room: int) -> None:
    """Let no file of this process grow beyond so many bytes, as if the disk were full then."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))


def environment(directory: Path, injected: str) -> dict[str, str]:
    """Have a program run in a process before its own, and give the environment that does so.

    No bytecode is written: where two programs of one length are written in the same second, Python
    takes that of the first for that of the second.
    """
    directory.mkdir(exist_ok=True)
    (directory / "sitecustomize.py").write_text(injected)
    path = os.pathsep.join([str(directory), str(ROOT / "src")])
    alone = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    return {**os.environ, **alone}


def held_after(num_blocks: int) -> str:
    """Give the program that has each process stand still, until there is a file `go-on`."""
    return HOLD.replace("NUM_BLOCKS", str(num_blocks))


def result_of(process: "subprocess.Popen[str]", *, timeout: float = 120) -> tuple[int, int]:
    """Wait for the end, and give how many lines were rejected, and done before."""
    output, errors = process.communicate(timeout=timeout)
    assert process.returncode == 0, errors
    rejected, before = json.loads(output.splitlines()[-1])  # Ray may print more
    return rejected, before


def blocks_in(directory: Path) -> list[str]:
    """List the blocks that are kept."""
    return [path.name for path in directory.glob("*-*.json")]
