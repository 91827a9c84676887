"""The command line as a whole: exit codes, and errors in one sentence."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.cli import main

RELEASE = Path(__file__).parents[1] / "fixtures" / "release-0.1.0"
SOURCE = Path(__file__).parents[2] / "src"
MODEL, SENTENCES = RELEASE / "model", RELEASE / "sentences.txt"


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.err + captured.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["trian"], 2, 'Did you mean "train"?'),
        (["train"], 2, "RECIPE"),
        (["train", "missing.toml"], 1, "missing.toml: there is no such file"),
        (["train", "x.toml", "--ouput", "y"], 2, "--output"),
        (["train", "."], 1, ".: a directory, where a recipe is expected, which is a TOML file"),
        (["translate", "nowhere"], 1, "nowhere: there is no model here, as there is no such"),
        (["translate", "."], 1, ".: there is no model here, as it has no model.toml"),
        (["translate", "a.en"], 1, "a.en: a file, where the directory of a model is expected"),
        (["translate", "m", "a.en", "-o", "./a.en"], 2, "a.en: it is read already"),
        (["translate", "m", "a.en", "--alignments", "link.en"], 2, "link.en: it is read already"),
        (["translate", "m", "-o", "b", "--alignments", "b"], 2, "b: it is written already"),
        (["translate", "m", "a.en", "-o", "b.gz"], 2, "b.gz: it would not be compressed"),
        (
            ["corpus", "primer", "--pairs", "1", "-o", "b", "--alignments", "b"],
            2,
            "b: it is written already",
        ),
        (["translate", "m", "a.en", "-o", "b/"], 2, '"b/" names a folder; add the name of a file'),
        (["plot", "masks", "-o", "b.svg/"], 2, '"b.svg/" names a folder; add the name of a file'),
        (["translate", "m", "a.en", "-o", "b", "--jobs", "0"], 2, '"0" for --jobs. Must be >= 1'),
        (["translate", "m", "--alignments", "b/"], 2, '"b/" names a folder'),
        (["evaluate", "m", "a.tsv", "--sentences", "b/"], 2, '"b/" names a folder'),
        (
            ["corpus", "primer", "--pairs", "1", "-o", "b", "--alignments", "b/"],
            2,
            '"b/" names a folder',
        ),
        (["corpus", "primer", "--pairs", "1", "-o", "no/b"], 1, "no/b: cannot be written: there"),
        (["corpus", "primer", "--pairs", "1", "-o", "."], 1, ".: a directory stands where a file"),
        (["corpus", "primer", "--pairs", "1", "-o", "loop"], 1, "loop: symbolic links that lead"),
        (["translate", "m", "A cat."], 1, "A cat.: there is no such file; a sentence is read"),
        (["translate", "m", 99 * "A cat. "], 1, "there is no such file; a sentence is read"),
        (["translate", "m", "loop"], 1, "loop: symbolic links that lead in a circle"),
        (["corpus", "check", "gap.tsv"], 1, "gap.tsv:2: an empty line; remove it"),
        (["inspect", "nowhere"], 1, "nowhere: there is no model here"),
        (["evaluate", "nowhere"], 2, "and then a test set"),
        (["evaluate", "nowhere", "x.tsv", "--source", "f"], 2, "and then a test set"),
        (["evaluate", "nowhere", "--reference", "f"], 2, "and then a test set"),
        (["evaluate", "gap.tsv"], 2, "give a model, or a file of translations, and then"),
        (["corpus", "check"], 2, "name what to check"),
        (["corpus", "check", "--source", "f"], 2, "takes both --source and --target"),
        (["evaluate", "nowhere", "x.tsv", "--tokenize", "14a"], 2, "--tokenize '14a' should"),
        (["evaluate", "m", "x.tsv", "--metrics", "METEOR"], 2, "--metrics 'METEOR' should"),
        (["evaluate", "m", "x.tsv", "--bootstrap-samples", "-1"], 2, "--bootstrap-samples -1 is"),
        (["translate", str(MODEL), "--seed", "1"], 2, "--top-p and --seed need --sample above 0"),
        (["translate", str(MODEL), "--sample", "1e-4"], 2, "--sample 0.0001 is neither 0 nor at"),
        (["evaluate", "nowhere", "missing.tsv"], 1, "missing.tsv"),
        (["corpus", "check", "missing.tsv"], 1, "missing.tsv"),
        (["import", "marian", "nowhere", "-o", "x"], 1, "nowhere"),
        (["import", "marian", "nowhere", "-o", "/"], 1, "/: it exists already"),
        (["import", "marian", "nowhere", "-o", "loop"], 1, "loop: symbolic links that lead"),
        (["demo", "-o", "~/demo"], 1, "~/demo/text/train.tsv: in a recipe, ~ and $NAME stand for"),
    ],
)
def test_a_mistake_gives_a_sentence_and_an_exit_code(
    arguments: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.en").write_text("A cat.\n")
    Path("link.en").symlink_to("a.en")
    Path("loop").symlink_to("loop")
    Path("gap.tsv").write_text("a cat\tun gatto\n\na dog\tun cane\n")

    result, printed = outcome(capsys, *arguments)

    assert result == code
    assert message in printed
    assert "Traceback" not in printed
    there = ["a.en", "gap.tsv", "link.en", "loop"]
    assert sorted(path.name for path in tmp_path.iterdir()) == there
    assert Path("a.en").read_text() == "A cat.\n"
    assert Path("loop").is_symlink()


@pytest.mark.parametrize("assignment", ["=5", "model.=5", ".seed=5", "model..d_ff=5"])
def test_a_setting_without_a_key_is_not_blamed_on_the_recipe(
    assignment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recipe.toml").write_text("")

    result, printed = outcome(capsys, "train", str(tmp_path / "recipe.toml"), "--set", assignment)

    assert (result, printed) == (
        2,
        f"dragoman: --set {assignment}: write it as section.key=value\n",
    )


@pytest.mark.parametrize(
    ("module", "extra", "importer", "arguments"),
    [
        ("torch", "train", "dragoman.pipeline.run", ["train", "x.toml"]),
        ("torch", "train", "dragoman.interop.marian", ["import", "marian", "x", "-o", "y"]),
        (
            "sacrebleu.metrics",
            "train",
            "dragoman.evaluation.metrics",
            ["evaluate", "x.txt", "x.tsv"],
        ),
        ("onnx", "onnx", "dragoman.interop.onnx", ["export", "x", "--to", "onnx"]),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_the_way_to_install_it(
    module: str,
    extra: str,
    importer: str,
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.txt").write_text("il gatto\n")
    Path("x.tsv").write_text("the cat\til gatto\n")
    Path("x.toml").write_text(
        'source_language = "en"\ntarget_language = "it"\ncorpora.train = [{ path = "x.tsv" }]\n'
    )
    monkeypatch.setitem(sys.modules, module, None)
    for name in [name for name in sys.modules if name.startswith(importer)]:
        monkeypatch.delitem(sys.modules, name)  # it is imported again
    package = module.partition(".")[0]

    assert outcome(capsys, *arguments) == (
        1,
        f'dragoman: this command needs {package}: pip install --editable ".[{extra}]" where '
        "Dragoman was cloned installs it\n",
    )


@pytest.mark.parametrize("allocate", [torch.empty, np.empty], ids=["torch", "numpy"])
def test_too_little_memory_gives_a_sentence(
    allocate: Callable[[int], object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def train() -> None:
        allocate(2**55)

    monkeypatch.setattr("dragoman.cli.train.train", train)

    code, printed = outcome(capsys, "train")

    assert code == 1
    assert printed.startswith("dragoman: there is not enough memory; ")
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "less"),
    [
        (
            "train",
            "a smaller batching.max_tokens_per_micro_batch needs less; if this directory has",
        ),
        ("translate", "a smaller --beam-size needs less"),
        ("inspect", "ask for less at once"),
    ],
)
def test_what_needs_less_memory_is_said_to_commands_that_have_a_setting_for_it(
    command: str, less: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> None:
        torch.empty(2**55)

    run.__name__ = command
    monkeypatch.setattr(f"dragoman.cli.{command}.{command}", run)

    assert outcome(capsys, command)[1].startswith(f"dragoman: there is not enough memory; {less}")


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [
        (["--version"], ""),
        (["inspect", str(MODEL)], "1"),
        (["translate", str(MODEL), str(SENTENCES), "--engine", "pytorch"], "1"),
        (["--help"], "1"),
        (["explain", str(MODEL), "the cat", "--json"], ""),
    ],
)
def test_an_output_that_cannot_be_written_is_named(arguments: list[str], unbuffered: str) -> None:
    refuse_output(arguments, unbuffered)


def test_an_output_that_cannot_be_written_piece_by_piece_is_named(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("A cat.\tUn gatto.\n", encoding="utf-8")

    refuse_output(["corpus", "check", *[str(pairs)] * 40], "")  # more than is kept to be written


def refuse_output(arguments: list[str], unbuffered: str) -> None:
    """Run a command whose output cannot be written, and look at what it says."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dragoman", *arguments],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered, "OMP_NUM_THREADS": "1"},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 1
    assert re.fullmatch(
        r"dragoman: standard output(, or a temporary file)?: No space left on device",
        done.stderr.splitlines()[-1],
    )
    assert "Traceback" not in done.stderr


def test_a_working_directory_that_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert main(["corpus", "primer", "--pairs", "1", "-o", "train.tsv"]) == 1
    assert main(["inspect", str(MODEL.resolve())]) == 1  # a command that never asks where it is

    gone_is_named = "dragoman: the working directory is gone; change to one that is there\n"
    assert capsys.readouterr().err == gone_is_named * 2


def test_a_reader_who_goes_ends_a_command_with_the_code_of_a_shell(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\n" * 200_000)  # more than a pipe holds
    command = [sys.executable, "-m", "dragoman", "translate", str(MODEL), str(tmp_path / "in.txt")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"\n"
        process.stdout.close()
        said = process.stderr.read().decode()

    assert process.returncode == 141, said
    assert "Traceback" not in said
    assert "BrokenPipe" not in said  # which Python says when it ends


def test_a_reader_who_goes_ends_help_with_the_code_of_a_shell() -> None:
    read, written = os.pipe()
    os.close(read)

    done = subprocess.run(
        [sys.executable, "-m", "dragoman", "translate", "--help"],
        stdout=written,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(written)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("arguments", "closed", "code", "said"),
    [
        (f"translate {MODEL}", "<&-", 1, "dragoman: standard input is closed; name a file\n"),
        (f"translate {MODEL} {SENTENCES}", ">&-", 0, ""),
        (f"inspect {MODEL}", ">&-", 0, ""),
        ("--version", ">&-", 0, ""),
        ("train missing.toml", "2>&-", 1, ""),
    ],
)
def test_a_standard_stream_that_is_closed_does_no_harm(
    arguments: str, closed: str, code: int, said: str
) -> None:
    done = subprocess.run(
        f"exec {sys.executable} -m dragoman {arguments} {closed}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.endswith(said)
    assert "Traceback" not in done.stderr


def test_a_wrong_recipe_is_named_before_pytorch_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise SystemExit('that takes seconds')")
    (tmp_path / "recipe.toml").write_text("nonsense")

    done = subprocess.run(
        [sys.executable, "-m", "dragoman", "train", "recipe.toml"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCE}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dragoman: recipe.toml: not a TOML file")


def test_an_interrupt_while_a_command_is_loaded_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "cyclopts.py").write_text("raise KeyboardInterrupt")

    done = subprocess.run(
        [sys.executable, "-m", "dragoman", "--version"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCE}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("print('0.1.0', end=''); return 0", 0, "0.1.0"),
        ("print('half', end=''); return 2", 2, "half"),
        ("raise ValueError('with --debug')", 1, "ValueError: with --debug"),
        ("raise SystemExit(143)", 143, ""),
        ("raise KeyboardInterrupt", 130, ""),
    ],
)
def test_a_process_of_torchrun_ends_though_a_thread_of_it_does_not(
    command: str, code: int, said: str, tmp_path: Path
) -> None:
    """As those of gloo may: see `dragoman.__main__`."""
    program = (
        "import threading, dragoman.cli\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        f"def command(): {command}\n"
        "dragoman.cli.main = command\n"
        "from dragoman.__main__ import main\n"
        "main()"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TORCHELASTIC_RUN_ID": "1", "PYTHONUNBUFFERED": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == code
    assert (done.stdout + done.stderr).strip().endswith(said)


def test_a_mistake_of_ours_is_one_sentence_and_a_traceback_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def train() -> None:
        torch.zeros(2) @ torch.zeros(3)

    monkeypatch.setattr("dragoman.cli.train.train", train)

    assert main(["train"]) == 1
    said = capsys.readouterr().err
    begin, kept = (
        said.rstrip("\n").removesuffix(", which has its traceback").split("; please report ")
    )
    assert begin.startswith("dragoman: a bug in dragoman itself (RuntimeError: inconsistent")
    assert "torch.zeros(2) @ torch.zeros(3)" in Path(kept).read_text()
    Path(kept).unlink()
    with pytest.raises(RuntimeError, match="size"):
        main(["train", "--debug"])


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "--version") == (0, "0.1.0\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("export m", "--to is missing; dragoman export --help explains its use"),
        ("export m --to", "--to needs a value; dragoman export --help explains its use"),
        ("plot attention", "MODEL is missing; dragoman plot attention --help explains its use"),
        ("train a b c", "unexpected arguments: b c; dragoman train --help explains its use"),
        (
            "trian a",
            'Unknown command "trian". Did you mean "train"? dragoman --help explains its use',
        ),
        (
            "train a --mintues 3",
            "Unknown option: --mintues. Did you mean --minutes? dragoman train",
        ),
        ("plan a.tsv --languages en-it --minutes -3", 'Invalid value "-3.0" for --minutes'),
        (
            "translate m --beam-size 2.5",
            'Invalid value for --beam-size: "2.5" is not a whole number; dragoman translate --help',
        ),
        ("serve m --port http", 'Invalid value for --port: "http" is not a whole number'),
    ],
)
def test_a_command_line_that_is_wrong_gets_a_sentence_and_not_a_box(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    (only,) = capsys.readouterr().err.splitlines()
    assert only.startswith(f"dragoman: {said}")
