"""Tiny models to serve."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Page, Request, sync_playwright
from tests.serving.chromium import ARGUMENTS, CHROMIUM
from tests.serving.live import Copier, Turnstile, loaded, serving
from tests.untrained import save_to_japanese, save_transformer, untrained

from dragoman.decoding.config import SearchConfig
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.model_directory import WEIGHTS_NAME, AlignmentDescription, ModelDirectory
from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings
from dragoman.terms.finder import TermFinder
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.training import train_tokenizers
from dragoman.translator import Translator

SENTENCES = [
    ("The cat is on the table.", "Il gatto è sul tavolo."),
    ("The dog is under the table.", "Il cane è sotto il tavolo."),
    ("Where is the cat?", "Dov'è il gatto?"),
    ("I see a dog and a cat.", "Vedo un cane e un gatto."),
]
ALIGNMENT = AlignmentDescription(layer=1, agreement=0.5, text="a test", pairs=1)


@pytest.fixture(scope="session")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> TokenizerPair:
    return train_tokenizers(
        TokenizerConfig(vocab_size=320), lambda: SENTENCES, tmp_path_factory.mktemp("tokenizers")
    )


@pytest.fixture(scope="session")
def save(
    tokenizers: TokenizerPair, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], Path]:
    """Give a function that saves a random model between two languages."""

    def save_random(source: str, target: str) -> Path:
        path = tmp_path_factory.mktemp(f"{source}-{target}")
        torch.manual_seed(5)  # a fixture of a session is made before the tests are seeded
        save_transformer(
            path,
            untrained(tokenizers),
            tokenizers,
            TokenizerConfig(),
            source_language=source,
            target_language=target,
            search={"beam_size": 2, "max_length_ratio": 0.5, "max_length_extra": 3},
            alignment=ALIGNMENT if source == "en" else None,
        )
        return path

    return save_random


@pytest.fixture(scope="session")
def english_italian(save: Callable[[str, str], Path]) -> Path:
    return save("en", "it")


@pytest.fixture(scope="session")
def italian_english(save: Callable[[str, str], Path]) -> Path:
    return save("it", "en")


@pytest.fixture(scope="session")
def english_japanese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a random model to a language without spaces."""
    return save_to_japanese(
        tmp_path_factory.mktemp("en-ja"),
        search={"beam_size": 2, "max_length_ratio": 0.5, "max_length_extra": 3},
        alignment=ALIGNMENT,
    )


@pytest.fixture
def copies_are_no_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a model copy: else each copy would be searched for again, and another one be taken."""
    monkeypatch.setattr("dragoman.sentence_translator.find_faults", lambda *_, **__: ())


@pytest.fixture(scope="session")
def without_weights(english_italian: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a model of which nobody can see the inside."""
    path = tmp_path_factory.mktemp("without-weights") / "copier"
    shutil.copytree(english_italian, path)
    (path / WEIGHTS_NAME).unlink()
    return path


@pytest.fixture
def copying(without_weights: Path, copies_are_no_faults: None) -> tuple[Copier, ServedModel]:
    """Give a model that copies, and its engine."""
    engine = Copier()
    return engine, run_by(engine, without_weights)


@pytest.fixture(scope="module")
def copier(without_weights: Path) -> tuple[Copier, ServedModel]:
    """Give a model that copies, for tests that leave its engine alone."""
    engine = Copier()
    return engine, run_by(engine, without_weights)


@pytest.fixture
def held(without_weights: Path, copies_are_no_faults: None) -> tuple[Turnstile, ServedModel]:
    """Give a model that copies a batch when it is told to, and its engine."""
    engine = Turnstile()
    return engine, run_by(engine, without_weights)


def run_by(engine: Copier, path: Path) -> ServedModel:
    translator = Translator.from_engine(
        engine,
        ModelDirectory(path).load_tokenizers(),
        languages=("en", "it"),
        max_length=200,
        search=SearchConfig(beam_size=8),
        terms=TermFinder(protects=True),
        split_sentences=False,
    )
    return ServedModel(path, translator, whole_lines=False)


@pytest.fixture(scope="session")
def shipped(english_italian: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a model that is quickly loaded, by CTranslate2."""
    path = tmp_path_factory.mktemp("shipped") / "en-it"
    shutil.copytree(english_italian, path)
    export_ctranslate2(path, quantization="float32")
    return path


@pytest.fixture(scope="session")
def address(english_italian: Path, italian_english: Path) -> Iterator[str]:
    """Where a server with models in both directions is."""
    models = [loaded(english_italian), loaded(italian_english)]
    with serving(models, Settings(max_wait=60.0)) as url:  # however busy the machine is
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a page that must not make mistakes, nor ask anybody but our server."""
    page = browser.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.extend(foreign(request)))
    yield page
    page.close()
    assert problems == []


def foreign(request: Request) -> list[str]:
    return [] if request.url.startswith(("http://127.0.0.1:", "blob:")) else [request.url]
