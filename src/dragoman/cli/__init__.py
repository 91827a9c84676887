"""The command line: each command reads its options, calls the library once, and prints."""

import contextlib
import errno
import io
import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import get_args

from cyclopts import App, CycloptsError, MissingArgumentError, ValidationError
from cyclopts.exceptions import UnknownOptionError, UnusedCliTokensError

from dragoman import __version__
from dragoman.errors import OUT_OF_MEMORY, DragomanError, UsageError
from dragoman.exit_codes import FAILED, INTERRUPTED, READER_GONE, WRONG_USE

STANDARD_INPUT = "-"
"""What many programs call standard input; cyclopts would take it for an option."""

COMMANDS = {
    "demo": "demo:demo",
    "corpus": "corpus:app",
    "plan": "plan:plan",
    "train": "train:train",
    "finetune": "finetune:finetune",
    "distill": "distill:distill",
    "average": "average:average",
    "ensemble": "ensemble:ensemble",
    "translate": "translate:translate",
    "evaluate": "evaluate:evaluate",
    "judge": "judge:judge",
    "explain": "explain:explain",
    "align": "align:align",
    "shortlist": "shortlist:shortlist",
    "inspect": "inspect:inspect",
    "plot": "plot:app",
    "check": "check:check",
    "export": "export:export",
    "serve": "serve:serve",
    "import": "import_model:app",
}
"""Where each command is: the module, and what it is called there."""

REASONS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file",
    IsADirectoryError: "a directory stands where a file is expected",
    NotADirectoryError: "a file stands where a directory is expected",
    FileExistsError: "a file stands where a directory is expected",
}
"""Errors that users can fix, in their words."""

SIGNS_OF_LITTLE_MEMORY = ("tried to allocate", "out of memory", "_alloc_failed")
"""Found in PyTorch's error messages; the last one comes from cuBLAS and cuDNN."""

SMALLER_BEAM = "a smaller --beam-size needs less"
SMALLER_MICRO_BATCH = (
    "a smaller batching.max_tokens_per_micro_batch needs less; if this directory has a checkpoint "
    "(it is intact), name another with -o"
)
TO_NEED_LESS_MEMORY = {
    "translate": SMALLER_BEAM,
    "explain": SMALLER_BEAM,
    "train": SMALLER_MICRO_BATCH,
    "finetune": SMALLER_MICRO_BATCH,
    "distill": SMALLER_MICRO_BATCH,
}
"""What helps, for the commands that have a setting for it."""

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

EXTRAS = {
    "torch": "train",
    "jaxtyping": "train",
    "sacrebleu": "train",
    "matplotlib": "plot",
    "fastapi": "serve",
    "starlette": "serve",
    "pydantic": "serve",
    "uvicorn": "serve",
    "python_multipart": "serve",
    "prometheus_client": "serve",
    "transformers": "marian",
    "onnx": "onnx",
    "onnxscript": "onnx",
    "onnxruntime": "onnx",
    "pyarrow": "parquet",
    "lxml": "office",
    "ray": "ray",
}
"""For each package that a command may lack, the extra that installs it."""


def build_app(command: str | None = None) -> App:
    """Put the commands together; the heavy imports of each happen when it runs.

    Args:
        command: The only one whose module is needed; all are, to list what they do, if it is none
            of them.
    """
    app = App(
        name="dragoman",
        help="Build, see inside and ship your own translator.",
        version=__version__,
        help_epilogue="Options of every command: --debug shows the traceback of an error.",
    )
    for name, place in COMMANDS.items():
        app.command(f"dragoman.cli.{place}", name=name)
    if command not in COMMANDS:
        app.resolved_commands()
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for failed work, 2 for wrong use."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    _replace_closed_outputs()
    _let_any_name_be_printed()
    debug = "--debug" in tokens
    tokens = [token for token in tokens if token != "--debug"]
    try:
        Path.cwd()  # where it is gone, MKL would end the process as it is loaded
        code = build_app(next(iter(tokens), None))(
            tokens, exit_on_error=False, print_error=False, result_action="return_value"
        )
        sys.stdout.flush()
    except CycloptsError as error:
        print(f"dragoman: {_wrong_use(error, tokens)}", file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # as with `| head`
        _leave_output()
        return READER_GONE
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # which the help printer ran into
            return READER_GONE
        raise
    except Exception as error:
        if debug:
            raise
        print(f"dragoman: {_one_sentence(error, tokens[:1])}", file=sys.stderr)
        return WRONG_USE if isinstance(error, UsageError) else FAILED
    return code if isinstance(code, int) else 0


def _replace_closed_outputs() -> None:
    """Discard what is written to a closed output, as after `>&-`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = io.FileIO(os.devnull, "w")
            setattr(sys, name, io.TextIOWrapper(nowhere, "utf-8", "backslashreplace"))


def _let_any_name_be_printed() -> None:
    """Print names that are not UTF-8 with escapes, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _wrong_use(error: CycloptsError, tokens: Sequence[str]) -> str:
    """Say in a sentence what is wrong with a command line, and which --help explains it."""
    if isinstance(error, UnknownOptionError) and STANDARD_INPUT in tokens:
        return (
            "- is not a file name here: to read standard input, leave the file out where the "
            "command allows that, or name /dev/stdin"
        )
    if isinstance(error, UnknownOptionError):
        given = error.token.keyword or error.token.value
        if os.path.lexists(given):
            return f"{given} begins like an option; to name the file, write {_below_here(given)}"
        if any(map(str.isspace, given)):
            return f'"{given}" begins like an option; if it is not one, put it last, after --'
    error.verbose = False
    said, _, _ = str(error).partition(" Available commands: ")
    said = " ".join(said.rstrip(".").split())
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        is_given = error.keyword is not None
        said = f"{error.keyword} needs a value" if is_given else f"{error.argument.name} is missing"
        said += _advice_for_value(error, tokens)
    elif isinstance(error, UnusedCliTokensError):
        said = f"unexpected arguments: {shlex.join(error.unused_tokens or [])}"
    elif isinstance(error, ValidationError):
        return said
    command = " ".join(("dragoman", *(error.command_chain or ())))
    return f"{said}{' ' if said.endswith('?') else '; '}{command} --help explains its use"


def _advice_for_value(error: MissingArgumentError, tokens: Sequence[str]) -> str:
    """Say how to give a file whose name begins like an option, if that is why a value is missing.

    Only options that take a path are looked at: in front of a number, ./ would be wrong. Two
    hyphens begin a file's name so rarely that what has them is another option, if no such file is
    there.
    """
    if error.argument is None or Path not in (error.argument.hint, *get_args(error.argument.hint)):
        return ""
    for option, following in pairwise(tokens):
        is_option = following.startswith("--") and not os.path.lexists(following)
        if option == error.keyword and following.startswith("-") and not is_option:
            return f"; if {following} is a file, write {_below_here(following)}"
    return ""


def _below_here(name: str) -> str:
    """Write the name of a file in this directory so that it does not look like an option."""
    return shlex.quote(f"./{name}")


def _one_sentence(error: Exception, command: Sequence[str]) -> str:
    """Say what went wrong and how to fix it; or, if no user can, that the bug is ours."""
    if isinstance(error, OSError) and (name := _name_of_output(error) or error.filename):
        return f"{name}: {REASONS.get(type(error), error.strerror)}"
    if isinstance(error, FileNotFoundError) and error.errno:  # without a name, of `os.getcwd`
        return "the working directory is gone; change to one that is there"
    if isinstance(error, DragomanError | OSError):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        if extra := EXTRAS.get(package):
            install = f'pip install --editable ".[{extra}]" where Dragoman was cloned'
            return f"this command needs {package}: {install} installs it"
    if _is_out_of_memory(error):
        less = (TO_NEED_LESS_MEMORY[name] for name in command if name in TO_NEED_LESS_MEMORY)
        return f"{OUT_OF_MEMORY}; {next(less, 'ask for less at once')}"
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return f"a bug in dragoman itself ({said}); please report {_keep_traceback()}"


def _keep_traceback() -> str:
    """Save the traceback of a bug of ours, which may take hours to happen again."""
    with (
        contextlib.suppress(OSError),
        tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="dragoman-", suffix=".traceback", delete=False
        ) as file,
    ):
        file.write(traceback.format_exc())
        return f"{file.name}, which has its traceback"
    return "what the same command prints with --debug"


def _name_of_output(error: OSError) -> str | None:
    """Name standard output if it is what could not be written: flush it again and see.

    What it does not buffer has failed already and is not tried again. If the disk is full and the
    error names no file, the cause may be standard output or a temporary file.
    """
    try:
        sys.stdout.flush()
    except OSError:
        _leave_output()
        return "standard output"
    if error.filename is None and error.errno in NO_SPACE:
        return "standard output, or a temporary file"
    return None


def _leave_output() -> None:
    """Discard what would still be written at exit, so that it cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_out_of_memory(error: Exception) -> bool:
    """Recognise the errors of Python and of PyTorch, without importing PyTorch."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(sign in text for sign in SIGNS_OF_LITTLE_MEMORY)
    )
