"""`dragoman serve`: translation over HTTP, and a page."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dragoman.cli.options import WholeNumber, settings_are_options
from dragoman.cli.translation_options import TranslationOptions

if TYPE_CHECKING:
    from dragoman.serving.models import Models

KEYS_VARIABLE = "DRAGOMAN_API_KEY"


def serve(
    *models: Path,
    host: str = "127.0.0.1",
    port: WholeNumber = 5000,
    api_key: Annotated[tuple[str, ...], Parameter(negative=(), env_var=KEYS_VARIABLE)] = (),
    max_characters: WholeNumber = 200_000,
    max_file_bytes: WholeNumber = 10 * 2**20,
    translation: TranslationOptions = TranslationOptions(),
) -> None:
    """Serve translations over HTTP, with one or more models.

    One port has a page for people; the protocols of LibreTranslate, DeepL (version 2) and Apertium,
    so that programs that know these can be pointed here; and an interface of its own, with scores
    and alternatives. Nothing is sent anywhere and no text is logged; translated files wait in
    memory to be fetched, for half an hour at most.

    A page and all protocols: dragoman serve runs/en-it runs/it-en

    For the whole network: DRAGOMAN_API_KEY=... dragoman serve runs/en-it --host 0.0.0.0

    Parameters
    ----------
    models
        Model directories, each for a different pair of languages.
    host
        Address to listen on; by default only this machine has access, with 0.0.0.0 everybody, and
        with :: also everybody who has IPv6.
    port
        Port to listen on; 0 picks a free one.
    api_key
        Answer only requests that carry this key; may be given several times. In the environment
        variable, keys are separated by spaces, and other users of the machine do not see them.
    max_characters
        Most characters that are translated for one request, or in one file.
    max_file_bytes
        Most bytes of a file, pictures included.
    translation
        What translates, where, and what it keeps.
    """
    from dragoman.serving.application import build_application
    from dragoman.serving.models import Models, ServedModel
    from dragoman.serving.priority import give_way
    from dragoman.serving.server import end_on_signals, open_socket, run
    from dragoman.serving.settings import Settings

    _check_keys(api_key)
    with settings_are_options(["max_characters", "max_file_bytes"]):
        settings = Settings(
            api_keys=api_key, max_characters=max_characters, max_file_bytes=max_file_bytes
        )
    _check_glossary(models, translation.glossary)
    end_on_signals()
    with open_socket(host, port) as listener:
        whole = replace(translation, whole_lines=True)  # the server cuts them itself
        with ThreadPoolExecutor(1, initializer=give_way) as loading:  # engines start threads here
            served = Models(
                loading.map(
                    lambda path: ServedModel(
                        path, whole.load(path), whole_lines=translation.whole_lines
                    ),
                    models,
                )
            )
        _announce(served, *listener.getsockname()[:2])
        run(build_application(served, settings), listener, settings)


def _check_keys(keys: tuple[str, ...]) -> None:
    """Refuse to serve everybody because a secret has not arrived in the environment.

    Raises:
        UsageError: the variable for keys is there and has none.
    """
    from dragoman.errors import UsageError

    if not keys and KEYS_VARIABLE in os.environ:
        raise UsageError(
            f"{KEYS_VARIABLE} is set but has no key in it; without keys everybody may translate: "
            "if that is meant, unset it"
        )


def _check_glossary(models: tuple[Path, ...], glossary: Path | None) -> None:
    """Refuse terms that do not name their languages, for models of several pairs.

    Raises:
        UsageError: a model would take one side for the other.
    """
    from dragoman.corpora.config import CorpusConfig
    from dragoman.corpora.parallel_text import has_named_sides
    from dragoman.errors import UsageError
    from dragoman.model_directory import ModelDirectory

    if glossary is None or has_named_sides(CorpusConfig(path=str(glossary))):
        return
    pairs = sorted({"-".join(ModelDirectory(path).description.languages) for path in models})
    if len(pairs) > 1:
        raise UsageError(
            f"{glossary}: its sides have no languages, and the models translate "
            f"{', '.join(pairs)}; "
            'write the terms as JSON lines, as {"en": …, "it": …}, or serve each pair by itself'
        )


def _announce(models: "Models", host: str, port: int) -> None:
    """Say what is served, and where."""
    for model in models.all:
        print(f"{model.source} to {model.target}: {model.name}, {model.translator.engine}")
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    print(f"page            {address}/")
    print(f"LibreTranslate  {address}/translate")
    print(f"DeepL           {address}/v2/translate")
    print(f"Apertium        {address}/translate")
    print(f"Dragoman        {address}/api/v1/translate, described at {address}/docs")
    sys.stdout.flush()
