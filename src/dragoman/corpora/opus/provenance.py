"""Where a downloaded corpus comes from, written beside it as `corpus.toml`."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import tomli_w

from dragoman.config import from_table, read_table, to_table
from dragoman.corpora.file_names import PROVENANCE
from dragoman.corpora.text_file import CorpusError
from dragoman.durable import checksum
from dragoman.errors import UsageError
from dragoman.languages.codes import closest_languages


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """One side of a corpus."""

    language: str
    name: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Everything needed to fetch a corpus again and to know that it is the same."""

    name: str
    version: str
    pairs: int
    url: str
    bytes: int
    """Size of the archive."""

    sha256: str
    """Of the archive."""

    date: date
    """When it was fetched."""

    licence: str | None = None
    """Name of the file that holds the licence."""

    files: tuple[TextFile, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the files, in their order."""
        return tuple(file.language for file in self.files)

    def paths_of(self, languages: tuple[str, str], directory: Path) -> tuple[Path, Path]:
        """Return the paths of the texts in two languages: en serves en_GB, but not two regions.

        Raises:
            CorpusError: the corpus has no text in one of them.
        """
        names = {file.language: file.name for file in self.files}
        source, target = closest_languages(self.languages, languages)
        if source is None or target is None:
            missing = languages[source is not None]
            raise CorpusError(
                f"{directory}: a corpus in {' and '.join(self.languages)}, not in {missing}"
            )
        return directory / names[source], directory / names[target]

    def verify(self, directory: Path) -> None:
        """Compare the files with what was recorded.

        Raises:
            CorpusError: a file is missing or was changed.
        """
        for file in self.files:
            path = directory / file.name
            if not path.is_file() or checksum(path) != file.sha256:
                raise CorpusError(
                    f"{path}: not the file whose SHA-256 {PROVENANCE} records; "
                    f"delete {directory} to download it again"
                )

    def save(self, directory: Path) -> None:
        """Write the record into the directory of the corpus."""
        (directory / PROVENANCE).write_text(tomli_w.dumps(to_table(self)), encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> "Provenance":
        """Read the record from the directory of a corpus.

        Raises:
            CorpusError: it is not a record as `save` writes it.
        """
        path = directory / PROVENANCE
        try:
            return from_table(cls, read_table(path))
        except UsageError as error:
            raise CorpusError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error
