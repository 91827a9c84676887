"""Measure the translation of whole files: memory, restarts after kills, and the gain of sharing.

    python benchmarks/bulk.py memory --lines 200000
    python benchmarks/bulk.py memory --lines 1000000 --model MODEL --text TEXT
    python benchmarks/bulk.py kills --tries 20
    python benchmarks/bulk.py speed MODEL TEXT --ways "" "--jobs 2" "--cluster"

`memory` translates random words with a tiny random model, or your text with your model, and reads
the resident memory of the process as blocks are finished. `kills` ends the command with SIGKILL at
random moments, again and again until it completes, and compares the output with that of an
undisturbed run, byte by byte.
`speed` runs the command on your file in several ways; "" means one process.
"""

import argparse
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

WORDS = 200
BEGINNING = 0.2
"""The share of the lines after which memory is considered warm."""


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True, dest="command")
    memory = commands.add_parser("memory")
    memory.add_argument("--lines", type=int, default=200_000)
    memory.add_argument("--model", type=Path)
    memory.add_argument("--text", type=Path, help="a sentence a line")
    memory.add_argument("--options", default="--whole-lines")
    kills = commands.add_parser("kills")
    kills.add_argument("--lines", type=int, default=10_000)
    kills.add_argument("--tries", type=int, default=20)
    kills.add_argument("--options", default="")
    speed = commands.add_parser("speed")
    speed.add_argument("model", type=Path)
    speed.add_argument("text", type=Path)
    speed.add_argument("--ways", nargs="+", default=["", "--jobs 1", "--jobs 2", "--cluster"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dragoman-bulk-") as name:
        directory = Path(name)
        if arguments.command == "memory":
            model = arguments.model or save_tiny_model(directory / "model")
            if arguments.text is None:
                text = write_text(directory / "in", arguments.lines)
            else:
                text = write_shuffled(arguments.text, directory / "in", arguments.lines)
            measure_memory(directory, model, text, arguments.options.split())
        elif arguments.command == "kills":
            measure_kills(directory, arguments.lines, arguments.tries, arguments.options.split())
        else:
            measure_speed(directory, arguments.model, arguments.text, arguments.ways)


def measure_memory(directory: Path, model: Path, text: Path, options: Sequence[str]) -> None:
    """Follow the resident memory of one process over the lines that are finished."""
    num_lines = text.read_bytes().count(b"\n")
    process = start(model, text, directory / "out", options)
    finished, seen = [], []
    while process.poll() is None:
        time.sleep(1)
        finished.append(len(list((directory / "out.part").glob("*-*.json"))) * 1024)
        seen.append(resident(process.pid))
    assert process.returncode == 0
    warm = [i for i, lines in enumerate(finished) if lines >= BEGINNING * num_lines and seen[i]]
    slope, _ = np.polyfit([finished[i] for i in warm], [seen[i] for i in warm], 1)
    first, last, most = seen[warm[0]], seen[warm[-1]], max(seen)
    print(
        f"{num_lines} lines: {first:.0f} MiB after {BEGINNING:.0%}, {last:.0f} MiB at the end, "
        f"{most:.0f} MiB at most; slope {slope * 1e6:.1f} MiB for a million lines"
    )


def measure_kills(directory: Path, num_lines: int, tries: int, options: Sequence[str]) -> None:
    """Kill the command at random moments until it completes, several times over."""
    model, text = save_tiny_model(directory / "model"), write_text(directory / "in", num_lines)
    began = time.monotonic()
    assert start(model, text, directory / "straight", options).wait() == 0
    usual = time.monotonic() - began
    expected = (directory / "straight").read_bytes()
    moments, output, kills, equal = random.Random(6), directory / "out", 0, 0
    rounds = 0
    while kills < tries:
        rounds += 1
        while True:
            process = start(model, text, output, options)
            try:
                assert process.wait(timeout=moments.uniform(0, usual)) == 0
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                assert not output.exists()
        equal += output.read_bytes() == expected
        assert not list(directory.glob("*.part")), "kept parts were left"
        assert not list(directory.glob(".*")), "unfinished files were left"
        output.unlink()
    print(f"{kills} kills in {rounds} translations, {equal} of them byte-equal; {options}")


def measure_speed(directory: Path, model: Path, text: Path, ways: Sequence[str]) -> None:
    """Time the command in several ways, and compare what they write."""
    num_lines = text.read_bytes().count(b"\n")
    outputs = set()
    for way in ways:
        output = directory / "out"
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        assert start(model, text, output, way.split()).wait() == 0
        seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(
            f"{way or 'one process':20} {num_lines / seconds:7.1f} lines/s, {seconds:6.1f} s, "
            f"{used:6.1f} s of processor time (without Ray's own processes)",
            flush=True,
        )
        outputs.add(output.read_bytes())
        output.unlink()
    print("all outputs are equal" if len(outputs) == 1 else "OUTPUTS DIFFER")


def start(
    model: Path, text: Path, output: Path, options: Sequence[str]
) -> "subprocess.Popen[bytes]":
    """Start the command."""
    paths = map(str, (model, text, "-o", output))
    command = [sys.executable, "-m", "dragoman", "translate", *paths, *options]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def write_shuffled(text: Path, path: Path, num_lines: int) -> Path:
    """Write distinct lines: the sentences of a text, again and again, some words replaced."""
    sentences = [line.split() for line in text.read_text(encoding="utf-8").splitlines()]
    words = [word for sentence in sentences for word in sentence]
    chance = random.Random(2)
    with path.open("w", encoding="utf-8") as file:
        for i in range(num_lines):
            sentence = sentences[i % len(sentences)]
            exchanged = [chance.choice(words) if chance.random() < 0.2 else w for w in sentence]
            file.write(f"{' '.join(exchanged)}\n")
    return path


def resident(process: int) -> float:
    """Read the memory of a process, in MiB; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def write_text(path: Path, num_lines: int) -> Path:
    """Write lines of random words; some are blank."""
    chance = random.Random(5)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(num_lines):
            words = [f"w{chance.randrange(WORDS)}" for _ in range(chance.randint(0, 9))]
            file.write(" ".join(words) + "\n")
    return path


def save_tiny_model(path: Path) -> Path:
    """Save a model that has learnt nothing, with its copy for CTranslate2."""
    import torch

    from dragoman.interop.ctranslate2 import export_ctranslate2
    from dragoman.model.config import TransformerConfig
    from dragoman.model.transformer import Transformer
    from dragoman.model_directory import ModelDescription, TokenizerDescription, save_model
    from dragoman.tokenizers.config import TokenizerConfig
    from dragoman.tokenizers.pair import TokenizerPair
    from dragoman.tokenizers.tokenizer import SpecialIds
    from dragoman.tokenizers.words import WordTokenizer

    torch.manual_seed(3)
    words = WordTokenizer([f"w{i}" for i in range(WORDS)])
    config = TransformerConfig(
        d_model=8,
        d_ff=12,
        num_heads=2,
        num_encoder_layers=1,
        num_decoder_layers=1,
        projection_bias=True,
    )
    transformer = Transformer(
        config,
        source_vocab_size=words.vocab_size,
        target_vocab_size=words.vocab_size,
        padding_id=0,
    )
    with torch.no_grad():
        transformer.projection.linear.bias[SpecialIds().eos] = 4.0  # so that it ends soon
    pair = TokenizerPair(words, words)
    description = ModelDescription(
        source_language="en",
        target_language="it",
        model=config,
        tokenizer=TokenizerDescription.of(pair, TokenizerConfig(kind="words")),
        special_ids=SpecialIds(),
        max_length=50,
        search={"beam_size": 1},
    )
    save_model(path, description, pair, dict(transformer.named_parameters()))
    export_ctranslate2(path, None, quantization="float32")
    return path


if __name__ == "__main__":
    main()
