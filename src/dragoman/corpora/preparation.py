"""From corpora to a token store: read, clean, learn the subwords, encode."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from dragoman.config import to_table
from dragoman.corpora import huggingface
from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.overlap import EvaluationSentences, OverlapReport, check
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.seen import SeenPairs
from dragoman.corpora.text_file import CorpusError, expand, read_lines
from dragoman.corpora.token_store import TokenStore
from dragoman.corpora.token_store_writer import TokenStoreWriter
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.training import train_tokenizers

ENCODED_AT_ONCE = 10_000
HELD_OUT_PAIRS = 1000
"""Validation pairs taken from the training text where a recipe names none, at most 5 % of it."""

HELD_OUT_SHARE = 0.05


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


@dataclass(frozen=True)
class PreparedText:
    """All that training needs of the text."""

    tokenizers: TokenizerPair
    store: TokenStore
    validation_store: TokenStore
    validation: tuple[Pair, ...]
    summaries: tuple[CorpusSummary, ...]
    fingerprints: dict[str, str]
    """SHA-256 of each file that was read."""


class TextPreparation:
    """Prepares the text of a run in a directory, or finds it prepared there."""

    def __init__(
        self,
        directory: Path,
        *,
        languages: tuple[str, str],
        corpora: CorporaConfig,
        cleaning: CleaningConfig,
        tokenizer: TokenizerConfig,
        max_length: int,
    ) -> None:
        self.directory = directory
        self.languages = languages
        self.corpora = corpora
        self.cleaning = cleaning
        self.tokenizer = tokenizer
        self.max_length = max_length

    def prepare(self, say: Callable[[str], None]) -> PreparedText:
        """Prepare the text, or open it if it is as the settings and the files want it.

        Raises:
            CorpusError: a corpus cannot be read, or overlaps with the evaluation text.
            TokenStoreError: the text was prepared from other files or settings.
        """
        fingerprints = self._fingerprint_files()
        settings = [to_table(self.corpora), to_table(self.cleaning), to_table(self.tokenizer)]
        decisive = [settings, fingerprints, self.languages, self.max_length]
        fingerprint = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
        if not (self.directory / "summary.json").exists():
            self._prepare(fingerprint, say)
        validation = _read_text(self.directory / "validation.tsv")
        summary = json.loads((self.directory / "summary.json").read_bytes())
        return PreparedText(
            tokenizers=TokenizerPair.load(self.directory, self.tokenizer.kind),
            store=TokenStore.open(self.directory / "train", fingerprint=fingerprint),
            validation_store=TokenStore.open(
                self.directory / "validation", fingerprint=fingerprint
            ),
            validation=tuple(Pair(*pair, line) for line, pair in enumerate(validation, start=1)),
            summaries=tuple(CorpusSummary(**corpus) for corpus in summary),
            fingerprints=fingerprints,
        )

    def _prepare(self, fingerprint: str, say: Callable[[str], None]) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        summaries = self._clean(say)
        if self.corpora.validation:
            self._write_validation()
        else:
            summaries = self._hold_out(summaries)
            say(
                "no validation corpus is named: every sentence in "
                f"{round(1 / _held_out_share(summaries))} is held out for validation"
            )
        text = self.directory / "train.tsv"
        say("learning the vocabulary")
        tokenizers = train_tokenizers(self.tokenizer, lambda: _read_text(text), self.directory)
        say(f"encoding, {_spoken_sizes(tokenizers)} vocabulary entries")
        weights = [(summary.name, summary.weight, summary.kept) for summary in summaries]
        self._encode(text, tokenizers, weights, self.directory / "train", fingerprint)
        validation = self.directory / "validation.tsv"
        count = sum(1 for _ in _read_text(validation))
        self._encode(
            validation,
            tokenizers,
            [("validation", 1.0, count)],
            self.directory / "validation",
            fingerprint,
        )
        text.unlink()
        (self.directory / "summary.json").write_text(
            json.dumps([asdict(summary) for summary in summaries]), encoding="utf-8"
        )

    def _clean(self, say: Callable[[str], None]) -> list[CorpusSummary]:
        """Write the training text worth learning from as one TSV file, corpus after corpus."""
        evaluation = EvaluationSentences(
            pair
            for corpus in (*self.corpora.validation, *self.corpora.test)
            for pair in read_pairs(corpus, languages=self.languages)
        )
        seen = SeenPairs()
        summaries = []
        with (self.directory / "train.tsv").open("w", encoding="utf-8", newline="\n") as file:
            for corpus in self.corpora.train:
                cleaned = CleaningReport()
                overlap = OverlapReport(corpus.name)
                pairs = read_pairs(corpus, languages=self.languages)
                pairs = clean(pairs, self.cleaning, cleaned, languages=self.languages, seen=seen)
                written = 0
                for pair in check(pairs, evaluation, self.corpora.overlap, overlap):
                    file.write(f"{normalise(pair.source)}\t{normalise(pair.target)}\n")
                    written += 1
                summary = CorpusSummary(
                    name=corpus.name,
                    weight=corpus.weight,
                    read=cleaned.read,
                    kept=written,
                    dropped=dict(cleaned.dropped),
                    overlap=overlap.sources,
                )
                say(describe(summary, self.corpora.overlap))
                summaries.append(summary)
        if not any(summary.kept for summary in summaries):
            raise CorpusError("cleaning leaves no training pair; loosen the thresholds of cleaning")
        return summaries

    def _write_validation(self) -> None:
        """Write the validation pairs that the recipe names."""
        with (self.directory / "validation.tsv").open("w", encoding="utf-8", newline="\n") as file:
            for corpus in self.corpora.validation:
                for pair in read_pairs(corpus, languages=self.languages):
                    if pair.source.strip() and pair.target.strip():
                        file.write(f"{normalise(pair.source)}\t{normalise(pair.target)}\n")

    def _hold_out(self, summaries: list[CorpusSummary]) -> list[CorpusSummary]:
        """Move a small random part of the training text to the validation text.

        A hash of the source decides, so that pairs with equal sources stay together.
        """
        share = _held_out_share(summaries)
        everything, kept = self.directory / "train.tsv", self.directory / "kept.tsv"
        pairs = _read_text(everything)
        left = []
        with (
            kept.open("w", encoding="utf-8", newline="\n") as train,
            (self.directory / "validation.tsv").open("w", encoding="utf-8", newline="\n") as held,
        ):
            for summary in summaries:
                count = 0
                for source, target in islice(pairs, summary.kept):
                    is_held = _hash_share(source) < share
                    count += not is_held
                    (held if is_held else train).write(f"{source}\t{target}\n")
                left.append(replace(summary, kept=count, held_out=summary.kept - count))
        kept.replace(everything)
        return left

    def _encode(
        self,
        text: Path,
        tokenizers: TokenizerPair,
        corpora: list[tuple[str, float, int]],
        directory: Path,
        fingerprint: str,
    ) -> None:
        """Write a token store of (name, weight, pairs), whose pairs follow each other in a file."""
        pairs = _read_text(text)
        vocab_size = max(tokenizers.source.vocab_size, tokenizers.target.vocab_size)
        with TokenStoreWriter(
            directory, vocab_size=vocab_size, fingerprint=fingerprint, max_length=self.max_length
        ) as writer:
            for name, weight, count in corpora:
                writer.start_corpus(name, weight)
                mine = islice(pairs, count)
                while block := list(islice(mine, ENCODED_AT_ONCE)):
                    sources, targets = zip(*block, strict=True)
                    writer.add(
                        tokenizers.source.encode_batch(sources),
                        tokenizers.target.encode_batch(targets),
                    )

    def _fingerprint_files(self) -> dict[str, str]:
        """Take the SHA-256 of every file of the corpora."""
        used = (*self.corpora.train, *self.corpora.validation, *self.corpora.test)
        return {str(path): _sha256(path) for corpus in used for path in _files_of(corpus)}


def describe(summary: CorpusSummary, policy: str) -> str:
    """Say in a line what became of a corpus."""
    reasons = [f"{count:,} {reason}" for reason, count in summary.dropped.items()]
    if summary.overlap:
        verb = "dropped" if policy == "drop" else "kept"
        reasons.append(f"{summary.overlap:,} evaluation sentences {verb}")
    left_out = f" ({'; '.join(reasons)})" if reasons else ""
    return f"{summary.name}: {summary.read:,} pairs read, {summary.kept:,} kept{left_out}"


def _held_out_share(summaries: list[CorpusSummary]) -> float:
    """Choose which share of the training text validates."""
    total = sum(summary.kept + summary.held_out for summary in summaries)
    return min(HELD_OUT_SHARE, HELD_OUT_PAIRS / total)


def _hash_share(text: str) -> float:
    """Map a text to a number in [0, 1) that looks random and is always the same."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) / 2**64


def _read_text(path: Path) -> Iterator[tuple[str, str]]:
    """Read what was written here; white space is normal, so each line has one tab."""
    for line in read_lines(path):
        source, _, target = line.partition("\t")
        yield source, target


def _files_of(corpus: CorpusConfig) -> list[Path]:
    """List the files of a corpus; one on the hub has none here."""
    if corpus.path is None:
        return [expand(corpus.source or ""), expand(corpus.target or "")]
    if corpus.path.startswith(huggingface.PREFIX):
        return []
    path = expand(corpus.path)
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror}") from error


def _spoken_sizes(tokenizers: TokenizerPair) -> str:
    if tokenizers.joint:
        return f"{tokenizers.source.vocab_size:,}"
    return f"{tokenizers.source.vocab_size:,} and {tokenizers.target.vocab_size:,}"


def state_of(summaries: tuple[CorpusSummary, ...]) -> list[dict[str, Any]]:
    """Return the summaries as plain values, for `model.toml`."""
    return [asdict(summary) for summary in summaries]
