"""A server whose model copies, and sleeps over each batch: a program for tests to start and stop.

python -m tests.serving.sleeping_server MODEL SECONDS
"""

import sys
import time
from pathlib import Path
from typing import Any

from tests.serving.live import Copier

from dragoman.model_directory import ModelDirectory
from dragoman.serving.application import build_application
from dragoman.serving.models import Models, ServedModel
from dragoman.serving.server import end_on_signals, open_socket, run
from dragoman.serving.settings import Settings
from dragoman.translator import Translator


class Sleeper(Copier):
    """An engine that takes its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def search(self, *arguments: Any, **named: Any) -> Any:
        time.sleep(self.seconds)
        return super().search(*arguments, **named)


def main() -> None:
    path, seconds = Path(sys.argv[1]), float(sys.argv[2])
    translator = Translator.from_engine(
        Sleeper(seconds),
        ModelDirectory(path).load_tokenizers(),
        languages=("en", "it"),
        max_length=200,
        split_sentences=False,
    )
    settings = Settings()
    end_on_signals()
    models = Models([ServedModel(path, translator, whole_lines=False)])
    with open_socket("127.0.0.1", 0) as listener:
        print(f"page http://127.0.0.1:{listener.getsockname()[1]}", flush=True)  # noqa: T201
        run(build_application(models, settings), listener, settings)


if __name__ == "__main__":
    main()
