"""Checkpoints, prepared text and models that are not what was written."""

import hashlib
import random
import re
import resource
import shutil
from pathlib import Path

from small_runs import Bench, end_of, forked

NUMBERS = (b"0", b"-1", b"1", b"3", b"0.5", b"1e400", b"nan", b"9" * 9, b"9" * 30)
"""What replaces a number in a description."""


def checkpoint(bench: Bench, chance: random.Random, number: int) -> bool:
    """Damage the newest checkpoint of a run; it uses an older one, and says so."""
    run = _unfinished(bench, number)
    newest = sorted((run / "checkpoints").iterdir())[-1]
    _damage(chance.choice(sorted(newest.iterdir())), chance)
    ended = bench.fork(run)
    aside = newest.with_suffix(".damaged")
    survived = ended.code == 0 and "an older checkpoint is used" in ended.errors and aside.is_dir()
    shutil.rmtree(aside, ignore_errors=True)
    return survived and end_of(run) == end_of(bench.straight)


def every_checkpoint(bench: Bench, chance: random.Random, number: int) -> bool:
    """Damage every checkpoint; the run does not start over by itself, and says which they are."""
    run = _unfinished(bench, number)
    folders = sorted((run / "checkpoints").iterdir())
    for folder in folders:
        _damage(chance.choice(sorted(folder.iterdir())), chance)
    ended = bench.fork(run)
    there = sorted((run / "checkpoints").iterdir())
    named = all(str(folder) in ended.errors for folder in folders)
    return ended.is_one_sentence and named and there == folders


def text(bench: Bench, chance: random.Random, number: int) -> bool:
    """Damage the vocabulary or the validation text of a run; they are remade as they were."""
    run = _unfinished(bench, number)
    files = [run / "data" / "validation.tsv", *sorted((run / "data").glob("tokenizer*"))]
    before = {path: path.read_bytes() for path in files}
    damaged = chance.choice(files)
    _damage(damaged, chance)
    survived = bench.ends_as_ever(run)
    return survived and before == {path: path.read_bytes() for path in files}


def model(bench: Bench, chance: random.Random, number: int) -> bool:
    """Damage the weights or the vocabulary of a model; it does not translate."""
    place = bench.folder / f"model-{number}"
    shutil.copytree(bench.straight, place)
    files = [place / "model.safetensors", *place.glob("tokenizer*")]
    damaged = chance.choice(files)
    _damage(damaged, chance)
    command = ["translate", str(place), str(bench.folder / "test.tsv"), "--engine", "pytorch"]
    ended = forked(command, bench.folder, place)
    return ended.is_one_sentence and str(place) in ended.errors


def signed(bench: Bench, chance: random.Random, number: int) -> bool:
    """Damage a model and fix its checksums, as an attacker would: it is refused, or translates."""
    place = bench.folder / f"signed-{number}"
    shutil.copytree(bench.straight, place, ignore=shutil.ignore_patterns("checkpoints", "data"))
    description, weights = place / "model.toml", place / "model.safetensors"
    (tokenizer,) = place.glob("tokenizer*")
    _change(chance.choice([description, weights, tokenizer]), chance)
    content = description.read_bytes()
    for path, key in ((weights, b"weights_sha256"), (tokenizer, rb"\w+_fingerprint")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest().encode()
        content = re.sub(rb"(%s = ).*" % key, rb'\g<1>"%s"' % digest, content)
    description.write_bytes(content)
    command = ["translate", str(place), str(bench.folder / "test.tsv"), "--engine", "pytorch"]
    ended = forked(command, bench.folder, place, prepare=_limit_time)
    shutil.rmtree(place)
    return ended.code == 0 or ended.is_one_sentence


def _limit_time() -> None:
    """Let a process be killed that computes for longer than any small model needs."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def _change(path: Path, chance: random.Random) -> None:
    """Change a few bytes, most of them at the beginning, where the shapes are, or a number."""
    content = bytearray(path.read_bytes())
    numbers = list(re.finditer(rb"(?<= = )[\d.]+", content)) if path.suffix == ".toml" else []
    if numbers and chance.random() < 0.5:
        start, end = chance.choice(numbers).span()
        content[start:end] = chance.choice(NUMBERS)
    for _ in range(chance.randrange(4)):
        end = chance.choice((600, len(content)))
        content[chance.randrange(min(end, len(content)))] = chance.randrange(256)
    path.write_bytes(content)


def _unfinished(bench: Bench, number: int) -> Path:
    """Copy a run as it was before its last step."""
    run = bench.folder / f"damaged-{number}"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(bench.straight, run)
    (run / "finished").unlink()
    return run


def _damage(path: Path, chance: random.Random) -> None:
    """Flip a bit, truncate the file, fill it with zeros, or remove it."""
    content = bytearray(path.read_bytes())
    kind = chance.choice(("flip", "cut", "zero", "remove"))
    if kind == "flip":
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del content[int(len(content) * chance.choice((0, 0.01, 0.5, 0.99))) :]
    elif kind == "zero":
        content[:] = bytes(len(content))
    path.write_bytes(content)
    if kind == "remove":
        path.unlink()
