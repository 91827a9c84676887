"""What OPUS, the open parallel corpus (Tiedemann 2012), has and where."""

import json
import os
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from dragoman.config import nearest
from dragoman.corpora.opus.download import fetch_text
from dragoman.corpora.text_file import CorpusError

API = "https://opus.nlpl.eu/opusapi/"
STORAGE = "https://object.pouta.csc.fi"
API_VARIABLE = "DRAGOMAN_OPUS_API"
STORAGE_VARIABLE = "DRAGOMAN_OPUS_STORAGE"
"""The environment may name a mirror of either."""

ADDRESS = re.compile(r"opus:([A-Za-z0-9][\w.-]*?)(?:/(v[\w.-]+))?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Release:
    """One version of one corpus in two languages, as an archive of plain text files."""

    name: str
    version: str
    languages: tuple[str, str]
    """Sorted, as OPUS names its files."""

    url: str

    @property
    def stem(self) -> str:
        """What the names of its text files begin with, as in `Books.en-it`."""
        return f"{self.name}.{'-'.join(self.languages)}"


def find(name: str, version: str | None, languages: tuple[str, str]) -> Release:
    """Find where a corpus is; a version that is given is not looked up.

    Args:
        name: As OPUS spells it.
        version: As in `v1` or `v2023-04-12`; None for the latest.
        languages: In any order.

    Raises:
        CorpusError: OPUS has no such corpus for these languages, or does not answer.
    """
    first, second = sorted(languages)
    if version is not None:
        storage = os.environ.get(STORAGE_VARIABLE, STORAGE).rstrip("/")
        path = f"OPUS-{quote(name)}/{quote(version)}/moses/{first}-{second}.txt.zip"
        url = f"{storage}/{path}"
    elif latest := _corpora(corpus=name, source=first, target=second, version="latest"):
        version, url = str(latest[0]["version"]), str(latest[0]["url"])
    else:
        raise CorpusError(explain_missing(name, (first, second)))
    return Release(name=name, version=version, languages=(first, second), url=url)


def explain_missing(name: str, languages: tuple[str, str]) -> str:
    """Say what OPUS has instead of a corpus that it does not have."""
    first, second = sorted(languages)
    entries = _corpora(source=first, target=second)
    versions = sorted({str(e["version"]) for e in entries if e.get("corpus") == name})
    if versions:
        return f"OPUS has {name} for {first}-{second} as {', '.join(versions)} only"
    names = sorted({str(entry["corpus"]) for entry in entries})
    if not names:
        return f"OPUS has no corpus for {first}-{second}; check the language codes"
    missing = f"OPUS has no corpus {name} for {first}-{second}"
    if close := nearest(name, names):
        return f"{missing}; did you mean {close}?"
    return f"{missing}; it has {', '.join(names)}"


def _corpora(**query: str) -> list[dict[str, Any]]:
    """Ask the API which archives of plain text there are."""
    api = os.environ.get(API_VARIABLE, API)
    url = f"{api}?{urlencode({**query, 'preprocessing': 'moses'})}"
    try:
        entries = json.loads(fetch_text(url))["corpora"]
        return [entry for entry in entries if {"corpus", "version", "url"} <= entry.keys()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"{url}: the answer is not what OPUS documents") from error


def parse(address: str) -> tuple[str, str | None]:
    """Split `opus:NAME` or `opus:NAME/VERSION` into the name and the version.

    Raises:
        CorpusError: the address is written in another way.
    """
    if not (match := ADDRESS.fullmatch(address)):
        raise CorpusError(
            f"{address}: write it as opus:NAME or opus:NAME/VERSION, as opus:Books/v1"
        )
    return match[1], match[2]
