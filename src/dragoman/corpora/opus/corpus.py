"""Public corpora: download one, verify it, and record where it comes from."""

import contextlib
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dragoman.corpora.file_names import PROVENANCE
from dragoman.corpora.opus.download import NotFoundError, download
from dragoman.corpora.opus.provenance import Provenance, TextFile
from dragoman.corpora.opus.servers import Release, explain_missing, find, parse
from dragoman.corpora.text_file import CorpusError
from dragoman.counting import counted
from dragoman.durable import checksum

LICENCE = "LICENSE"
NOTICES = (LICENCE, "README")
MAX_NOTICE = 2**20  # bytes
MAX_INFLATION = 100  # text is compressed three to ten times
MIN_SUSPICIOUS = 2**20  # bytes up to which inflation does not matter
CHUNK = 2**18  # bytes
UNFINISHED = ".part"


@dataclass(frozen=True, kw_only=True)
class DownloadedCorpus:
    """A corpus on disk."""

    directory: Path
    provenance: Provenance
    licence: str
    """The text of its licence; empty if the archive has none."""

    is_new: bool
    """False if it was there already, and nothing was downloaded."""


def get(
    address: str, languages: tuple[str, str], directory: Path | None = None
) -> DownloadedCorpus:
    """Download a public corpus into a directory, or verify the one that is there.

    The directory gets its name only when it is complete. Until then, everything is in a directory
    with ".part" after the name, and another call resumes from there. If an empty directory exists
    already, the one with ".part" is inside it, because a shell may be in it, or a disk mounted on
    it; it is a corpus once it has its record.

    Args:
        address: `opus:NAME` or `opus:NAME/VERSION`.
        languages: The codes of the source and of the target.
        directory: Where the corpus goes; by default, `NAME.LANGUAGES` in the working directory.

    Raises:
        CorpusError: there is no such corpus, it cannot be fetched, the archive is damaged, or
            what is in the directory is not what was recorded.
    """
    name, version = parse(address)
    directory = directory or Path(f"{name}.{'-'.join(sorted(languages))}")
    if is_new := not (directory / PROVENANCE).exists():
        _refuse_occupied(directory)
        release = find(name, version, languages)
        working = _working_directory(directory)
        try:
            working.mkdir(parents=True, exist_ok=True)
            archive = working / f"{release.stem}-{release.version}.zip"
            _fetch(release, archive)
            _unpack(release, archive, working)
            archive.unlink()
            _put_in_place(working, directory)
        except OSError as error:
            raise CorpusError(f"{working}: the corpus cannot be written: {error}") from error
    provenance = Provenance.load(directory)
    _refuse_other(directory, provenance, name, version, languages)
    provenance.verify(directory)
    return DownloadedCorpus(
        directory=directory,
        provenance=provenance,
        licence=_read_licence(provenance, directory),
        is_new=is_new,
    )


def _refuse_occupied(directory: Path) -> None:
    """Refuse to put a corpus where something else is, except what an earlier call has left."""
    if not directory.exists() or (directory / UNFINISHED).is_dir():
        return
    if not directory.is_dir() or any(directory.iterdir()):
        raise CorpusError(
            f"{directory}: exists and is not a downloaded corpus; choose another directory with -o"
        )


def _working_directory(directory: Path) -> Path:
    """Choose where a corpus is kept until it is complete: on the disk where it will be."""
    if directory.is_dir():
        return directory / UNFINISHED
    return directory.with_name(directory.name + UNFINISHED)


def _put_in_place(working: Path, directory: Path) -> None:
    """Give a complete corpus its name, or move it into the directory of that name, record last."""
    if working.parent != directory:
        working.replace(directory)
        return
    for file in sorted(working.iterdir(), key=lambda file: file.name == PROVENANCE):
        file.replace(directory / file.name)
    working.rmdir()


def _refuse_other(
    directory: Path,
    there: Provenance,
    name: str,
    version: str | None,
    languages: tuple[str, str],
) -> None:
    """Refuse to take one corpus for another."""
    wanted = (name, version or there.version, sorted(languages))
    if wanted != (there.name, there.version, sorted(there.languages)):
        raise CorpusError(
            f"{directory}: holds {there.name} {there.version} {'-'.join(there.languages)}; "
            "choose another directory with -o"
        )


def _fetch(release: Release, archive: Path) -> None:
    """Download the archive of a release, unless an interrupted call left it complete."""
    if archive.exists():
        return
    try:
        download(release.url, archive)
    except NotFoundError as error:
        with contextlib.suppress(OSError):
            archive.parent.rmdir()  # not empty if an earlier transfer was interrupted
        raise _not_found(error, release) from None


def _not_found(error: NotFoundError, release: Release) -> NotFoundError:
    """Say what there is instead, if the API can be reached."""
    try:
        return NotFoundError(explain_missing(release.name, release.languages))
    except CorpusError:
        return error


def _unpack(release: Release, archive: Path, directory: Path) -> None:
    """Extract the known files from the archive, and record where they come from."""
    texts = {language: f"{release.stem}.{language}" for language in release.languages}
    with _opened(archive) as zipped:
        _check_contents(zipped, archive, list(texts.values()))
        notices = [notice for notice in NOTICES if notice in zipped.namelist()]
        for notice in notices:
            _extract(zipped, notice, directory)
        counts = {text: _extract(zipped, text, directory) for text in texts.values()}
    if len(set(counts.values())) > 1:
        sides = [f"{text} has {counted(count, 'line')}" for text, count in counts.items()]
        raise CorpusError(f"{archive}: the two sides are not parallel: {' and '.join(sides)}")
    Provenance(
        name=release.name,
        version=release.version,
        pairs=next(iter(counts.values())),
        url=release.url,
        bytes=archive.stat().st_size,
        sha256=checksum(archive),
        date=datetime.now(UTC).date(),
        licence=LICENCE if LICENCE in notices else None,
        files=tuple(
            TextFile(language=language, name=text, sha256=checksum(directory / text))
            for language, text in texts.items()
        ),
    ).save(directory)


@contextlib.contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive; one that is damaged is deleted, so that the next call fetches it again."""
    try:
        with zipfile.ZipFile(archive) as zipped:
            yield zipped
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        archive.unlink()
        raise CorpusError(
            f"{archive}: a damaged archive ({error}); run the command again to fetch it again"
        ) from error


def _check_contents(zipped: zipfile.ZipFile, archive: Path, texts: list[str]) -> None:
    """Refuse an archive that lacks the texts, inflates absurdly or does not fit on the disk.

    `zipfile` inflates no file beyond the size that the archive declares for it.
    """
    entries = {entry.filename: entry for entry in zipped.infolist()}
    if missing := [text for text in texts if text not in entries]:
        there = ", ".join(list(entries)[:9])
        raise CorpusError(f"{archive}: there is no {missing[0]} in it, only {there}")
    total = 0
    for name in entries.keys() & {*texts, *NOTICES}:
        size = entries[name].file_size
        limit = MAX_NOTICE if name in NOTICES else MAX_INFLATION * entries[name].compress_size
        if size > max(limit, MIN_SUSPICIOUS):
            raise CorpusError(f"{archive}: {name} would inflate to {size} bytes; it is not text")
        total += size
    if (free := shutil.disk_usage(archive.parent).free) < total:
        raise CorpusError(
            f"{archive.parent}: the corpus needs {total} bytes and the disk has {free}; make room"
        )


def _extract(zipped: zipfile.ZipFile, name: str, directory: Path) -> int:
    """Write one file of an archive, and return how many lines it has."""
    lines, last = 0, b"\n"
    with zipped.open(name) as packed, (directory / name).open("wb") as file:
        while chunk := packed.read(CHUNK):
            file.write(chunk)
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    return lines + (last != b"\n")


def _read_licence(provenance: Provenance, directory: Path) -> str:
    """Return the text of the licence."""
    if provenance.licence is None:
        return ""
    path = directory / provenance.licence
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
