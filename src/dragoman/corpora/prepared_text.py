"""What preparation makes of the corpora, and the summary that says it is complete."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.corpora.config import OverlapPolicy
from dragoman.corpora.fingerprint import fingerprint_file
from dragoman.corpora.parallel_text import Pair
from dragoman.corpora.store_description import MEND, TokenStoreError
from dragoman.corpora.text_file import read_lines
from dragoman.corpora.token_store import TokenStore
from dragoman.counting import counted
from dragoman.durable import write_atomically
from dragoman.tokenizers.config import TokenizerKind
from dragoman.tokenizers.pair import TokenizerPair

SUMMARY_NAME = "summary.json"
VALIDATION_NAME = "validation.tsv"
TRAIN_STORE, VALIDATION_STORE = "train", "validation"


@dataclass(frozen=True)
class CorpusSummary:
    """What became of one training corpus."""

    name: str
    weight: float
    read: int
    kept: int
    dropped: dict[str, int]
    overlap: int
    """Pairs whose source is an evaluation sentence."""

    held_out: int = 0
    """Pairs that were moved to the validation text."""

    def without(self, count: int, reason: str) -> "CorpusSummary":
        """Return what it is without so many pairs more, if any."""
        if not count:
            return self
        return replace(self, kept=self.kept - count, dropped={**self.dropped, reason: count})

    def kept_of(self, noun: str, policy: OverlapPolicy) -> str:
        """Say how many pairs or sentences are kept, and what of them is not or should not be."""
        notes = self.notes(policy)
        kept = f"{self.name}: {counted(self.read, noun)} read, {self.kept:,} kept"
        return f"{kept} ({notes})" if notes else kept

    def notes(self, policy: OverlapPolicy) -> str:
        """Say which pairs are not learnt from, and which should not be."""
        notes = [f"{count:,} {reason}" for reason, count in self.dropped.items()]
        if self.overlap:
            fate = "left out" if policy == "drop" else "kept"
            notes.append(f"{counted(self.overlap, 'evaluation sentence')} {fate}")
        if self.held_out:
            notes.append(f"{self.held_out:,} held out for validation")
        return "; ".join(notes)


@dataclass(frozen=True)
class ValidationSummary:
    """What became of the validation text."""

    pairs: int
    """Pairs that are translated."""

    blank: int
    """Pairs that were left out because a side is blank."""

    too_long: int
    """Pairs that are translated but do not count in the loss: they have too many tokens."""


@dataclass(frozen=True)
class Summary:
    """The contents of `summary.json`, which is written last."""

    fingerprint: str
    """A checksum of all that determines the text: settings and files."""

    files: dict[str, str]
    """SHA-256 of each file that was read, under the name that the recipe has for it."""

    corpora: tuple[CorpusSummary, ...]
    validation: ValidationSummary

    written: dict[str, str]
    """SHA-256 of each file that was written beside the token stores; release 0.1.0 kept none."""

    def write(self, directory: Path) -> None:
        """Write `summary.json`."""
        write_atomically(directory / SUMMARY_NAME, json.dumps(asdict(self), indent=2))

    @classmethod
    def read(cls, directory: Path) -> "Summary":
        """Read `summary.json`.

        Raises:
            TokenStoreError: it is missing or damaged.
        """
        path = directory / SUMMARY_NAME
        try:
            table: dict[str, Any] = json.loads(path.read_bytes())
            return cls(
                fingerprint=table["fingerprint"],
                files=table["files"],
                corpora=tuple(CorpusSummary(**corpus) for corpus in table["corpora"]),
                validation=ValidationSummary(**table["validation"]),
                written=dict(table.get("written", {})),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise TokenStoreError(f"{path}: missing or damaged; {MEND}") from error


@dataclass(frozen=True)
class PreparedText:
    """Everything that training needs of the text."""

    tokenizers: TokenizerPair
    store: TokenStore
    validation_store: TokenStore
    validation: tuple[Pair, ...]
    summary: Summary

    @classmethod
    def open(cls, directory: Path, kind: TokenizerKind) -> "PreparedText":
        """Open text that was prepared before.

        Raises:
            DragomanError: a part is missing or damaged.
        """
        summary = Summary.read(directory)
        if summary.written:
            _verify(directory, summary.written)
        path = directory / VALIDATION_NAME
        validation = tuple(Pair(*pair, line) for line, pair in enumerate(read_tsv(path), start=1))
        if len(validation) != summary.validation.pairs:
            raise TokenStoreError(f"{path}: damaged; {MEND}")
        return cls(
            tokenizers=TokenizerPair.load(directory, kind),
            store=TokenStore.open(directory / TRAIN_STORE, fingerprint=summary.fingerprint),
            validation_store=TokenStore.open(
                directory / VALIDATION_STORE, fingerprint=summary.fingerprint
            ),
            validation=validation,
            summary=summary,
        )


def fingerprint_written(directory: Path) -> dict[str, str]:
    """Compute the SHA-256 of the tokenizers and the validation text; the stores have their own.

    Raises:
        CorpusError: there is no validation text.
    """
    paths = [*sorted(directory.glob("tokenizer*")), directory / VALIDATION_NAME]
    return {path.name: fingerprint_file(path) for path in paths}


def _verify(directory: Path, written: dict[str, str]) -> None:
    """Refuse files that can be read but are not what was written: a flipped bit is enough."""
    found = fingerprint_written(directory)
    for name in sorted(found.keys() | written.keys()):
        if found.get(name) != written.get(name):
            raise TokenStoreError(f"{directory / name}: not what was written there; {MEND}")


def read_tsv(path: Path) -> Iterator[tuple[str, str]]:
    """Read text whose white space is normalised, so that each line has one tab."""
    for line in read_lines(path):
        source, _, target = line.partition("\t")
        yield source, target
