"""Parallel text, as tests write it, read it and prepare it."""

from pathlib import Path
from typing import Any

from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.preparation import TextPreparation
from dragoman.tokenizers.config import TokenizerConfig

LANGUAGES = ("en", "it")


def written(path: Path, content: str | bytes) -> Path:
    """Write a file."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path | str, languages: tuple[str, str] = LANGUAGES) -> list[Pair]:
    """Read all pairs of a file, a directory or a data set."""
    return list(read_pairs(CorpusConfig(path=str(path)), languages=languages))


def preparation(directory: Path, path: Path | str, **changes: Any) -> TextPreparation:
    """Make a preparation of one corpus in `directory`, with a vocabulary of all its words."""
    settings = {
        "languages": LANGUAGES,
        "corpora": CorporaConfig(train=(CorpusConfig(path=str(path)),)),
        "cleaning": CleaningConfig(),
        "tokenizer": TokenizerConfig(kind="words", min_frequency=1),
        "max_length": 32,
    }
    return TextPreparation(directory, **{**settings, **changes})
