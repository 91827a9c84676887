"""Checksums of the files of corpora, to notice when they change."""

from collections.abc import Iterator
from pathlib import Path

from dragoman.corpora import huggingface
from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.corpora.file_names import PROVENANCE
from dragoman.corpora.opus.provenance import Provenance
from dragoman.corpora.text_file import CorpusError, locate
from dragoman.durable import checksum


def fingerprint_files(corpora: CorporaConfig) -> dict[str, str]:
    """Compute the SHA-256 of every file of the corpora that is read.

    The keys are the paths as the recipe writes them, variables included, so that the same files
    elsewhere give the same answer. Corpora on the Hugging Face hub have no files here.

    Raises:
        CorpusError: a file cannot be read, or a directory is not a corpus.
    """
    return {
        name: sha256
        for corpus in corpora.all
        for name, sha256 in fingerprint_corpus(corpus).items()
    }


def fingerprint_corpus(corpus: CorpusConfig) -> dict[str, str]:
    """Compute the SHA-256 of every file of one corpus, as `fingerprint_files` does for all.

    Raises:
        CorpusError: a file cannot be read, or the directory is not a corpus.
    """
    return {name: fingerprint_file(path) for name, path in files_of(corpus)}


def comparable(found: dict[str, str], recorded: dict[str, str]) -> dict[str, str]:
    """Leave out the files of `hf:DIRECTORY` where none were recorded, as by release 0.1.0."""
    if any(name.startswith(huggingface.PREFIX) for name in recorded):
        return found
    return {name: of for name, of in found.items() if not name.startswith(huggingface.PREFIX)}


def files_of(corpus: CorpusConfig) -> Iterator[tuple[str, Path]]:
    """List the files of a corpus, each after its name in the recipe.

    Raises:
        CorpusError: a variable in a path is not defined, or a directory is not a corpus, or its
            data set cannot be loaded.
    """
    if corpus.path is not None and corpus.path.startswith(huggingface.PREFIX):
        yield from huggingface.local_files(corpus.path)
        return
    for name in (corpus.path, corpus.source, corpus.target):
        if name is None:
            continue
        path = locate(name)
        if path.is_dir():
            for file in _names_of_files(path):
                yield f"{name}/{file}", path / file
        else:
            yield name, path


def _names_of_files(directory: Path) -> list[str]:
    """Name the files of a directory that its reader opens: it may also hold runs and notes."""
    if not (directory / PROVENANCE).is_file():
        return huggingface.names_of_files(directory)
    return [PROVENANCE, *(file.name for file in Provenance.load(directory).files)]


def fingerprint_file(path: Path) -> str:
    """Compute the SHA-256 of a file.

    Raises:
        CorpusError: it cannot be read, or can be read only once.
    """
    _refuse_pipe(path)
    try:
        return checksum(path)
    except FileNotFoundError:
        raise CorpusError(f"{path}: there is no such file") from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror}") from error


def refuse_pipes(corpora: CorporaConfig) -> None:
    """Refuse text that a training could not read again, without reading it.

    Raises:
        CorpusError: a file of the corpora can be read only once, or a directory is not a corpus.
    """
    for corpus in corpora.all:
        for _, path in files_of(corpus):
            _refuse_pipe(path)


def _refuse_pipe(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise CorpusError(
            f"{path}: a pipe or a device can be read only once, and training reads its text "
            "several times; write it to a file"
        )
