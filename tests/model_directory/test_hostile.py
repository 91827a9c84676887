"""Models that somebody made to do harm: no code runs, little memory is taken, a sentence tells."""

import contextlib
import hashlib
import io
import os
import pickle
import re
import resource
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.cli import main
from dragoman.errors import DragomanError
from dragoman.model_directory import ModelDirectory, ModelError, count_parameters
from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer
from dragoman.tokenizers.tokenizer import LARGEST_FILE, TokenizerError
from dragoman.translator import Translator

RELEASE = Path(__file__).parents[1] / "fixtures" / "release-0.1.0"
MOST_MEMORY = 100  # MiB beyond what the imports take


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RELEASE / "model", tmp_path / "model"))


class Bomb:
    """Leaves a file behind when a pickle of it is read."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Path]]:
        return Path.touch, (self.canary,)


def load(model: Path) -> None:
    directory = ModelDirectory(model)
    directory.load_tokenizers()
    directory.load_transformer()


def sentence_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    code = main(command)
    (sentence,) = [line for line in capsys.readouterr().err.split("\n") if line]
    assert code == 1
    assert sentence.startswith("dragoman: ")
    return sentence


def zipped(bomb: Bomb) -> bytes:
    """Write a bomb as `torch.save` does: a pickle in an archive."""
    archive = io.BytesIO()
    torch.save(bomb, archive)
    return archive.getvalue()


@pytest.mark.parametrize("written", [pickle.dumps, zipped])
@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.model", "model.toml"])
def test_a_pickle_by_another_name_never_runs(
    model: Path,
    name: str,
    written: Callable[[Bomb], bytes],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    canary, pairs = tmp_path / "canary", str(RELEASE / "validation.tsv")
    (model / name).write_bytes(written(Bomb(canary)))

    for command in (
        ("translate", str(model), str(RELEASE / "sentences.txt"), "--engine", "pytorch"),
        ("evaluate", str(model), pairs, "--engine", "pytorch"),
        ("export", str(model), "--to", "onnx", "-o", str(tmp_path / "onnx")),
        ("export", str(model), "--to", "ctranslate2", "-o", str(tmp_path / "copy")),
        ("serve", str(model), "--engine", "pytorch", "--port", "0"),
    ):
        assert str(model) in sentence_of(capsys, *command), command

    assert not canary.exists()


def test_a_pickle_among_the_files_of_a_marian_model_runs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    canary, marian = tmp_path / "canary", tmp_path / "marian"
    marian.mkdir()
    for name in ("pytorch_model.bin", "source.spm", "target.spm"):
        (marian / name).write_bytes(pickle.dumps(Bomb(canary)))
    for name in ("config.json", "vocab.json"):
        (marian / name).write_text("{}")

    output = str(tmp_path / "out")
    command = ("import", "marian", str(marian), "-o", output, "--languages", "en-it")
    assert "pytorch_model.bin: not weights as PyTorch saves them" in sentence_of(capsys, *command)
    (marian / "pytorch_model.bin").rename(marian / "model.safetensors")
    assert "not a safetensors file" in sentence_of(capsys, *command)

    assert not canary.exists()


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.model", "model.toml"])
@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
def test_what_never_ends_is_not_read(model: Path, name: str, target: str) -> None:
    os.mkfifo(model / "pipe")
    (model / name).unlink()
    (model / name).symlink_to(target)

    with pytest.raises(ModelError, match=f"{name}: cannot be read: not a file"):
        load(model)


def test_the_parameters_of_what_never_ends_are_not_counted(model: Path) -> None:
    (model / "model.safetensors").unlink()
    os.mkfifo(model / "model.safetensors")

    with pytest.raises(ModelError, match=r"model\.safetensors: cannot be read: not a file"):
        count_parameters(model)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.model"])
def test_a_link_out_of_the_directory_tells_nothing_of_where_it_leads(
    model: Path, name: str, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("a secret")
    (model / name).unlink()
    (model / name).symlink_to("../secret")

    with pytest.raises(ModelError, match=name) as refusal:
        load(model)
    assert "a secret" not in str(refusal.value)


def test_weights_that_go_on_for_a_terabyte_are_not_read(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (model / "model.safetensors").open("ab") as file:
        file.truncate(2**40)  # takes no space on the disk
    monkeypatch.setattr(hashlib, "file_digest", lambda *_: pytest.fail("this would take an hour"))

    with pytest.raises(ModelError, match=r"model\.safetensors: not a safetensors file"):
        load(model)


def test_a_vocabulary_of_gigabytes_is_not_read(model: Path) -> None:
    with (model / "tokenizer.model").open("ab") as file:
        file.truncate(2**40)  # takes no space on the disk

    with pytest.raises(TokenizerError, match=f"more than {LARGEST_FILE >> 20} MiB"):
        SentencePieceTokenizer.load(model / "tokenizer.model")


NAMES = ("model.toml", "model.safetensors", "tokenizer.model")
HEAD = 600  # bytes, in which the settings and the shapes stand
CHANGE = st.tuples(st.integers(0, HEAD) | st.floats(0.0, 1.0), st.integers(0, 255))
NUMBER = st.tuples(st.integers(0, 25), st.sampled_from(["0", "-1", "2", "7.5", "1e400", "9" * 20]))


@given(name=st.sampled_from(NAMES), changes=st.lists(CHANGE, max_size=3), number=st.none() | NUMBER)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_damage_with_its_checksums_mended_is_refused_or_harmless(
    model: Path,
    name: str,
    changes: list[tuple[int | float, int]],
    number: tuple[int, str] | None,
) -> None:
    content = {each: bytearray((RELEASE / "model" / each).read_bytes()) for each in NAMES}
    damaged = content[name]
    for place, byte in changes:
        at = place if isinstance(place, int) else int(place * (len(damaged) - 1))
        damaged[at] = byte
    if number is not None:
        which, value = number
        found = list(re.finditer(rb" = [\d.]+", content["model.toml"]))[which]
        content["model.toml"][found.start() + 3 : found.end()] = value.encode()
    for written, key in (
        ("model.safetensors", b"weights_sha256"),
        ("tokenizer.model", b"fingerprint"),
    ):
        digest = hashlib.sha256(content[written]).hexdigest().encode()
        pattern = rb'(\w*%s = ")[^"]*' % key
        content["model.toml"][:] = re.sub(pattern, rb"\g<1>" + digest, content["model.toml"])
    for each in NAMES:
        (model / each).write_bytes(content[each])

    with contextlib.suppress(DragomanError):
        assert isinstance(Translator(model, engine="pytorch", device="cpu")("one two 3"), str)


PROGRAM = """
import os, resource, sys, torch
from pathlib import Path
from dragoman.model_directory import ModelDirectory, ModelError
for model in map(Path, sys.argv[1:]):
    if os.fork() == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            ModelDirectory(model).load_transformer()
        except ModelError as error:
            print(error)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(grown // 1024, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
GIANTS: list[tuple[str, bytes | None]] = [
    ("d_ff = 262144", None),
    ("num_encoder_layers = 1000", None),
    ("d_model = 1000000000", None),
    ("source_vocab_size = 1000000000000", None),
    ("pad = 1000000", None),
    ("eos = -5", None),
    ("d_ff = 32", struct.pack("<Q", 2**63) + b"{}"),
    ("d_ff = 32", struct.pack("<Q", 99_000_000) + b"{" + b" " * 99_000_000),
]


def make_giant(model: Path, setting: str, weights: bytes | None) -> None:
    description = model / "model.toml"
    text = description.read_text()
    key = setting.partition(" = ")[0]
    text = "\n".join(setting if line.startswith(f"{key} = ") else line for line in text.split("\n"))
    if weights is not None:
        (model / "model.safetensors").write_bytes(weights)
        before = next(line for line in text.split("\n") if line.startswith("weights_sha256"))
        text = text.replace(before, f'weights_sha256 = "{hashlib.sha256(weights).hexdigest()}"')
    description.write_text(text)


def test_a_giant_takes_no_memory(model: Path, tmp_path: Path) -> None:
    """Each in a process of its own, a fork of one that has loaded PyTorch."""
    models = [shutil.copytree(model, tmp_path / str(number)) for number in range(len(GIANTS))]
    for path, (setting, weights) in zip(models, GIANTS, strict=True):
        make_giant(path, setting, weights)

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *models],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30)),
    )

    said = done.stdout.splitlines()
    for path, (_, weights), sentence, grown in zip(
        models, GIANTS, said[::2], said[1::2], strict=True
    ):
        assert str(path) in sentence
        assert int(grown) < MOST_MEMORY + len(weights or b"") // 2**20, path


WHILE_USED = """
import sys
from pathlib import Path
from dragoman import Translator
model, engine, *sentences = sys.argv[1:]
translator = Translator(model, engine=engine, device="cpu")
expected = translator(sentences)
files = [path for path in Path(model).rglob("*") if path.is_file()]
for content in (b"", b"other" * 100_000):
    for path in files:
        path.write_bytes(content)
    assert translator(sentences) == expected
for path in files:
    path.unlink()
assert translator(sentences) == expected
print(expected[0])
"""


@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_a_model_that_changes_while_it_is_used_translates_as_before(
    model: Path, engine: str
) -> None:
    sentences = (RELEASE / "sentences.txt").read_text().splitlines()

    done = subprocess.run(
        [sys.executable, "-c", WHILE_USED, str(model), engine, *sentences],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    expected = (RELEASE / "translations.txt").read_text().splitlines()
    assert done.stdout.strip() == expected[0]
