"""The command line: each command reads its options, calls the library once, and prints."""

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from dragoman import __version__
from dragoman.config import DragomanError, RecipeError

WRONG_USE = 2
FAILED = 1
INTERRUPTED = 130


def build_app() -> App:
    """Put the commands together; their heavy imports happen when they run."""
    from dragoman.cli import corpus, demo, evaluate, import_model, inspect, train, translate

    app = App(
        name="dragoman",
        help="Build, see inside and ship your own translator.",
        version=__version__,
        help_epilogue="Options of every command: --debug shows the traceback of an error.",
    )
    app.command(demo.demo)
    app.command(corpus.app)
    app.command(train.train)
    app.command(translate.translate)
    app.command(evaluate.evaluate)
    app.command(inspect.inspect)
    app.command(import_model.app)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for failed work, 2 for wrong use."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in tokens
    tokens = [token for token in tokens if token != "--debug"]
    try:
        code = build_app()(tokens, exit_on_error=False, result_action="return_value")
    except CycloptsError:
        return WRONG_USE  # the message is printed already
    except KeyboardInterrupt:
        return INTERRUPTED
    except (DragomanError, OSError) as error:
        if debug:
            raise
        print(f"dragoman: {_one_sentence(error)}", file=sys.stderr)
        return WRONG_USE if isinstance(error, RecipeError) else FAILED
    return code if isinstance(code, int) else 0


def _one_sentence(error: Exception) -> str:
    """Say what went wrong, naming the file where the system knows it."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
