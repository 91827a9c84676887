"""A program in a process of its own: whatever it does, there is one clear sentence."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.checking.mutations.mutation import LEARNERS

from dragoman.checking import child
from dragoman.checking.child import wishes_of
from dragoman.checking.process import CheckError, Limits, Request, check_file
from dragoman.checking.report import Report
from dragoman.cli import main
from dragoman.errors import DragomanError, UsageError

EMBEDDINGS = """
import math
from torch import nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)
        self.d_model = d_model

    def forward(self, x):
        return self.table(x) * math.sqrt(self.d_model)
"""


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do without the other process, and so without its limits: to load PyTorch takes seconds."""

    def run(directory: Path, limits: Limits) -> int:
        unused = os.open(os.devnull, os.O_RDONLY)
        monkeypatch.setattr(sys, "argv", ["", "", str(directory), str(unused)])
        (directory / "output").touch()
        child.main()
        return 0

    monkeypatch.setattr("dragoman.checking.process._run", run)
    monkeypatch.setattr(child, "_exit", lambda code: None)
    monkeypatch.setattr(child, "limit_process", lambda **_: None)
    monkeypatch.setattr(sys, "path", [*sys.path])


def check(tmp_path: Path, text: str, limits: Limits = Limits()) -> Report:  # noqa: B008
    path = tmp_path / "learner.py"
    path.write_text(text, encoding="utf-8")
    return check_file(path, limits=limits)


def test_a_program_survives_what_fails_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has started and is still writing does not hide what was found either."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "neighbour.py").write_text("WIDTH = 8\n")
    done = tmp_path / "done"
    writing = f"until [ -e {done} ]; do mkdir -p $((n = n + 1)) || exit; done"
    text = (
        "import sys\n"
        "import no_such_package\n"
        "input()\n"
        "sys.exit(3)\n"
        "bytearray(10**12)\n"
        "import torch; torch.empty(10**11)\n"
        "def again(): again()\n"
        "again()\n"
        "import neighbour\n"
        "print('x' * 5000, neighbour.WIDTH)\n"
        "if __name__ == '__main__': raise SystemExit\n"
        "import subprocess\n"
        f"subprocess.Popen({writing!r}, shell=True, start_new_session=True)\n" + EMBEDDINGS
    )

    try:
        report = check(tmp_path, text)
    finally:
        done.touch()

    assert report.parts[0].mistakes == ()
    assert report.parts[0].not_checked == (
        "line 2: imports no_such_package, which is not installed here",
        "line 3: asks for input, and here is nobody to give it",
        "line 4: ends the program with sys.exit",
        "line 5: needs more memory than it is allowed; --memory allows more",
        "line 6: needs more memory than it is allowed; --memory allows more",
        "line 7: calls itself without end",
    )
    assert "embeddings-scaled" in report.parts[1].passed
    assert report.output.endswith("x 8\n")
    assert len(report.output) <= 2000


def test_a_program_finds_the_surroundings_that_python_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own arguments, which are none, its directory and those of PYTHONPATH."""
    elsewhere, relative, beside = (tmp_path / x for x in ("elsewhere", "relative", "beside"))
    for directory in (elsewhere, relative, beside):
        directory.mkdir()
        (directory / f"{directory.name}.py").write_text("WIDTH = 8\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"relative:{elsewhere}")
    text = (
        "import argparse, sys\n"
        "from beside import WIDTH\n"
        "from elsewhere import WIDTH\n"
        "from relative import WIDTH\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--width', type=int, default=WIDTH)\n"
        "print(parser.parse_args(), sys.path[0], sys.argv)\n" + EMBEDDINGS
    )

    report = check(beside, text)

    file = beside / "learner.py"
    assert report.output == f"Namespace(width=8) {beside} ['{file}']\n"
    assert report.parts[0].not_checked == ()
    assert sorted(path.name for path in beside.iterdir()) == ["beside.py", "learner.py"]


def test_a_program_knows_its_file_and_its_source(tmp_path: Path) -> None:
    text = (
        "import inspect, torch  # a form feed: \f\n"
        "print(__file__)\n"
        "@torch.jit.script\n"
        "def double(x):\n"
        "    return 2 * x\n"
        "class Own:\n"
        "    width = 8\n"
        "print(inspect.getsourcelines(Own))\n" + EMBEDDINGS
    )

    report = check(tmp_path, text)

    assert report.parts[0].mistakes == ()
    lines = (["class Own:\n", "    width = 8\n"], 6)
    assert report.output == f"{tmp_path / 'learner.py'}\n{lines}\n"


def test_a_compiled_part_is_examined_as_it_is_written(tmp_path: Path) -> None:
    scaled = "@torch.compile(backend=lambda graph, inputs: 1 / 0)\ndef scaled(x):\n    return 2 * x"
    text = EMBEDDINGS.replace("import math\n", f"import math\nimport torch\n\n\n{scaled}\n")
    report = check(tmp_path, text.replace("self.table(x)", "scaled(0.5 * self.table(x))"))

    assert report.num_mistakes == 0
    assert report.parts[1].passed


def test_limits_say_by_their_signal_that_time_is_up_and_leave_lower_ones() -> None:
    text = (
        "import resource\n"
        "from dragoman.checking.limits import limit_process\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5, 5))\n"
        "limit_process(cpu_seconds=0, memory_mib=64, file_mib=1)\n"
        "print(resource.getrlimit(resource.RLIMIT_FSIZE), flush=True)\n"
        "while True: pass\n"
    )
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, check=False)

    assert ended.stdout == b"(5, 5)\n"
    assert ended.returncode == -signal.SIGXCPU


def test_an_endless_loop_is_stopped_and_named(tmp_path: Path) -> None:
    """The time does not count what it takes to load PyTorch, which may be longer."""
    text = "a = 1\nwhile True:\n    try:\n        a += 1\n    except BaseException:\n        pass\n"

    with pytest.raises(CheckError, match=r"was stopped after 2 seconds, at line 2; --seconds"):
        check(tmp_path, text, Limits(seconds=2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import os\nos._exit(0)\n", "ended its own process with exit code 0, at line 2"),
        ("import os\nos.kill(os.getpid(), 9)\n", "was ended by SIGKILL, at line 2"),
    ],
)
def test_a_program_that_ends_its_process_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CheckError, match=message):
        check(tmp_path, text)


def test_a_process_that_ends_without_a_word_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("true"))

    with pytest.raises(CheckError, match=r"learner\.py: could not be run at all: it said nothing"):
        check(tmp_path, EMBEDDINGS)


def test_another_system_than_linux_is_named_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("subprocess.Popen", lambda *a, **k: pytest.fail("it was run"))

    with pytest.raises(DragomanError, match=r"^dragoman check needs Linux, "):
        check(tmp_path, EMBEDDINGS)


def test_a_program_may_exchange_what_writes_the_report(tmp_path: Path) -> None:
    text = "import json, os\njson.dumps = lambda *a: b'broken'\nos._exit = None\n" + EMBEDDINGS
    assert "embeddings-scaled" in check(tmp_path, text).parts[1].passed

    text = "json.JSONEncoder.encode = json.JSONEncoder.iterencode = lambda *a, **k: 'broken'\n"
    with pytest.raises(CheckError, match="what was found cannot be read; it may change what"):
        check(tmp_path, "import json\n" + text + EMBEDDINGS)


def test_a_program_cannot_write_without_end_or_into_the_directory_of_the_user(
    tmp_path: Path,
) -> None:
    text = "open('written', 'w').write('x' * 3_000_000)\nprint('x' * 3_000_000)\n" + EMBEDDINGS

    report = check(tmp_path, text, Limits(file_mib=1))

    assert any("File too large" in reason for reason in report.parts[0].not_checked)
    assert [path.name for path in tmp_path.iterdir()] == ["learner.py"]


def test_the_command_prints_mistakes_and_says_so_in_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "learner.py"
    path.write_text(EMBEDDINGS.replace("* math", "/ math"), encoding="utf-8")

    assert main(["check", str(path)]) == 1
    printed = capsys.readouterr().out
    assert "mistake embeddings-scaled in InputEmbeddings" in printed
    assert "docs/mistakes.md#embeddings-scaled" in printed
    assert printed.rstrip().endswith("learner.py: 1 mistake")
    explained = printed.partition("\nmistake ")[2].splitlines()
    assert not [line for line in explained if line.endswith(" ")]


@pytest.mark.usefixtures("in_this_process")
def test_classes_and_arguments_of_other_names_can_be_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "learner.py"
    text = EMBEDDINGS.replace("InputEmbeddings", "Words").replace("d_model", "how_wide")
    path.write_text(text, encoding="utf-8")
    options = ["--class", "InputEmbeddings=Words", "--argument", "how_wide=d_model"]

    assert main(["check", str(path), *options, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["num_mistakes"] == 0
    part = report["parts"][1]
    assert part["found_as"] == "Words"
    assert "embeddings-scaled" in part["passed"]


@pytest.mark.usefixtures("in_this_process")
def test_what_an_argument_means_is_asked_for_and_never_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "learner.py"
    path.write_text(EMBEDDINGS.replace("d_model", "how_wide"), encoding="utf-8")

    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr().out
    assert (
        "what its argument `how_wide` stands for is not known; --argument how_wide=MEANING would "
        "say so, MEANING being d_model, d_ff, vocab, heads, layers, length, dropout or another\n"
    ) in printed
    assert printed.endswith("learner.py: nothing could be checked; not checked: 1\n")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--class", "Embedings=X", "there is no part Embedings; did you mean InputEmbeddings?"),
        ("--class", "InputEmbeddings", "write it as NAME=VALUE"),
        ("--argument", "x=", "write it as NAME=VALUE"),
        ("--argument", "x=width", "--argument x=width: there is d_model"),
    ],
)
def test_a_wrong_option_is_refused(option: str, value: str, message: str) -> None:
    request = Request(
        file="x.py",
        path="/x.py",
        cells=(),
        classes=(value,) if option == "--class" else (),
        arguments=(value,) if option == "--argument" else (),
    )

    with pytest.raises(UsageError) as error:
        wishes_of(request)
    assert message in str(error.value)


@pytest.mark.usefixtures("in_this_process")
def test_a_class_that_is_not_there_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "learner.py"
    path.write_text(EMBEDDINGS, encoding="utf-8")

    assert main(["check", str(path), "--class", "InputEmbeddings=X"]) == 2
    assert "--class InputEmbeddings=X: there is no X in it" in capsys.readouterr().err


@pytest.mark.usefixtures("in_this_process")
def test_a_file_without_any_part_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no part of a Transformer was found in it"):
        check(tmp_path, "x = 1\n")
    with pytest.raises(UsageError, match=r"in it \(it has Attenzione\); --class"):
        check(tmp_path, "from torch import nn\nclass Attenzione(nn.Module):\n    pass\n")


def test_a_whole_program_passes_in_its_own_process() -> None:
    report = check_file(LEARNERS / "assembled.py")

    assert report.num_mistakes == 0
    assert len([part for part in report.parts if part.found_as]) == 13
