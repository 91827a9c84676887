"""From corpora to a token store: read, clean, learn the subwords, encode."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import islice
from pathlib import Path

from dragoman.batched import batched
from dragoman.config import to_table
from dragoman.corpora.clean_text import Say, evaluation_sources, write_clean_text
from dragoman.corpora.config import CleaningConfig, CorporaConfig
from dragoman.corpora.fingerprint import comparable, fingerprint_files
from dragoman.corpora.held_out import hold_out
from dragoman.corpora.huggingface import PREFIX
from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.prepared_text import (
    SUMMARY_NAME,
    TRAIN_STORE,
    VALIDATION_NAME,
    VALIDATION_STORE,
    CorpusSummary,
    PreparedText,
    Summary,
    ValidationSummary,
    fingerprint_written,
    read_tsv,
)
from dragoman.corpora.store_description import StoredCorpus, TokenStoreError, read_description
from dragoman.corpora.text_file import CorpusError
from dragoman.corpora.token_store_writer import TokenStoreWriter
from dragoman.corpora.vocabulary import fingerprint_taken, learn_or_take
from dragoman.counting import counted
from dragoman.errors import DragomanError
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.normalisation import learnable
from dragoman.tokenizers.pair import TokenizerPair

NEWER_SETTINGS = {"truecase": False, "hold_out": True}
"""Settings of a corpus that text may have been prepared without, and what they do then."""

TOO_LONG = "too many tokens"

ENCODED_AT_ONCE = 10_000


class PreparationError(DragomanError):
    """Text that a run depends on has changed."""


@dataclass(frozen=True)
class TextPreparation:
    """Prepares the text of a run in a directory, or finds it prepared there."""

    directory: Path
    _: KW_ONLY
    languages: tuple[str, str]
    corpora: CorporaConfig
    cleaning: CleaningConfig
    tokenizer: TokenizerConfig
    max_length: int

    def prepare(self, say: Say, *, replace_other: bool) -> PreparedText:
        """Open the text if it is there and complete, or prepare it.

        Args:
            say: Reports what is being done.
            replace_other: Whether text that was prepared from other files or settings is replaced,
                or refused.

        Raises:
            CorpusError: a corpus cannot be read, or overlaps with the evaluation text.
            PreparationError: other text is there and must not be replaced.
        """
        files = self._fingerprint_read()
        fingerprint = self._fingerprint(files)
        try:
            text = self.open()
        except DragomanError:  # missing, or damaged
            text = None
        if text is None or (replace_other and text.summary.fingerprint != fingerprint):
            self._prepare(fingerprint, files, say)
            return self.open()
        if text.summary.fingerprint != fingerprint:
            raise PreparationError(self._refusal(text.summary.files, files))
        return text

    def _fingerprint_read(self) -> dict[str, str]:
        """Compute the SHA-256 of every file that is read.

        Release 0.1.0 recorded every file in the directory of a corpus, and none of `hf:DIRECTORY`.
        If no file that is read and was recorded has changed, the others count as they were
        recorded, so that such runs can continue.
        """
        files = fingerprint_files(self.corpora) | fingerprint_taken(self.tokenizer)
        try:
            before = Summary.read(self.directory)
        except TokenStoreError:  # missing, or damaged
            return files
        kept = {n: of for n, of in before.files.items() if n in files or not n.startswith(PREFIX)}
        recorded = kept | comparable(files, before.files)
        return recorded if self._fingerprint(recorded) == before.fingerprint else files

    def _fingerprint(self, files: dict[str, str]) -> str:
        """Compute the SHA-256 of all that determines the text."""
        corpora = to_table(self.corpora)
        for corpus in corpora["train"] + corpora["validation"] + corpora["test"]:
            for setting, usual in NEWER_SETTINGS.items():
                if corpus[setting] == usual:
                    del corpus[setting]
        settings = [corpora, to_table(self.cleaning), to_table(self.tokenizer)]
        decisive = [settings, files, self.languages, self.max_length]
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()

    def open(self) -> PreparedText:
        """Open the text as it was prepared, without looking at the files that it comes from.

        Raises:
            DragomanError: a part is missing or damaged.
        """
        return PreparedText.open(self.directory, self.tokenizer.kind)

    def _prepare(self, fingerprint: str, files: dict[str, str], say: Say) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / SUMMARY_NAME).unlink(missing_ok=True)
        text, validation = self.directory / "train.tsv", self.directory / VALIDATION_NAME
        summaries = write_clean_text(
            text, self.corpora, self.cleaning, languages=self.languages, say=say
        )
        blank = 0
        if self.corpora.validation:
            blank = self._write_validation(validation)
            if both := self._count_judged_twice():
                say(
                    "warning: the validation text, which decides what becomes the model, has "
                    f"{counted(both, 'source')} of the test text, whose scores are then too good"
                )
        else:
            summaries = self._hold_out(text, validation, summaries)
            held_out = sum(summary.held_out for summary in summaries)
            learnt = sum(summary.kept for summary in summaries if summary.held_out)
            rate = round((learnt + held_out) / held_out)
            say(f"no validation corpus is named: one sentence in {rate} is held out for validation")
        taken = self.tokenizer.from_model
        say(f"taking the vocabulary of {taken}" if taken else "learning the vocabulary")
        tokenizers = learn_or_take(self.tokenizer, lambda: read_tsv(text), self.directory)
        say(f"encoding, {_spoken_sizes(tokenizers)} vocabulary entries")
        summaries = self._encode_training(text, tokenizers, summaries, fingerprint)
        validated = self._encode_validation(validation, tokenizers, blank, fingerprint)
        text.unlink()
        for line in self._losses(summaries, validated):
            say(line)
        written = fingerprint_written(self.directory)
        Summary(fingerprint, files, tuple(summaries), validated, written).write(self.directory)

    def _hold_out(
        self, text: Path, validation: Path, summaries: list[CorpusSummary]
    ) -> list[CorpusSummary]:
        """Take the validation text from the training text."""
        allowed = [corpus.hold_out for corpus in self.corpora.train]
        counts = hold_out(text, validation, [summary.kept for summary in summaries], allowed)
        return [
            replace(summary, kept=summary.kept - count, held_out=count)
            if may
            else summary.without(count, "with a source that validates")
            for summary, count, may in zip(summaries, counts, allowed, strict=True)
        ]

    def _write_validation(self, path: Path) -> int:
        """Write the validation pairs that the recipe names, and count the blank ones."""
        blank = 0
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for corpus in self.corpora.validation:
                for pair in read_pairs(corpus, languages=self.languages):
                    source, target = learnable(pair.source), learnable(pair.target)
                    if source and target:
                        file.write(f"{source}\t{target}\n")
                    else:
                        blank += 1
        return blank

    def _count_judged_twice(self) -> int:
        """Count the sources that are in the validation text and in the test text."""
        validation = evaluation_sources(replace(self.corpora, test=()), self.languages)
        test = evaluation_sources(replace(self.corpora, validation=()), self.languages)
        return len(validation & test)

    def _encode_training(
        self,
        text: Path,
        tokenizers: TokenizerPair,
        summaries: list[CorpusSummary],
        fingerprint: str,
    ) -> list[CorpusSummary]:
        """Write the store of the training text, and count what does not fit in it."""
        corpora = [(summary.name, summary.weight, summary.kept) for summary in summaries]
        stored = self._encode(text, tokenizers, corpora, TRAIN_STORE, fingerprint)
        return [
            summary.without(corpus.too_long, TOO_LONG)
            for summary, corpus in zip(summaries, stored, strict=True)
        ]

    def _encode_validation(
        self, text: Path, tokenizers: TokenizerPair, blank: int, fingerprint: str
    ) -> ValidationSummary:
        """Write the store of the validation text, and count what does not fit in it."""
        corpora = [("validation", 1.0, None)]
        (stored,) = self._encode(text, tokenizers, corpora, VALIDATION_STORE, fingerprint)
        return ValidationSummary(stored.stop + stored.too_long, blank, stored.too_long)

    def _encode(
        self,
        text: Path,
        tokenizers: TokenizerPair,
        corpora: Sequence[tuple[str, float, int | None]],
        store: str,
        fingerprint: str,
    ) -> tuple[StoredCorpus, ...]:
        """Write a store; say what of each corpus is in it, and what does not fit.

        Args:
            text: Lines of source, tab and target.
            tokenizers: What encodes both sides.
            corpora: Name, weight and number of lines of each corpus, in the order of the text; None
                stands for all lines that are left.
            store: The name of its directory.
            fingerprint: A checksum of all that determines the text.
        """
        source, target = tokenizers.source, tokenizers.target
        pairs, directory = read_tsv(text), self.directory / store
        try:
            with TokenStoreWriter(
                directory,
                vocab_size=max(source.vocab_size, target.vocab_size),
                fingerprint=fingerprint,
                max_length=self.max_length,
            ) as writer:
                for name, weight, count in corpora:
                    writer.start_corpus(name, weight)
                    for block in batched(islice(pairs, count), ENCODED_AT_ONCE):
                        sources, targets = zip(*block, strict=True)
                        writer.add(source.encode_batch(sources), target.encode_batch(targets))
        except TokenStoreError:
            names = ", ".join(name for name, _, _ in corpora)
            raise CorpusError(
                f"{names}: every pair has a blank side or more than {self.max_length} tokens on a "
                "side; raise batching.max_length, or name other text"
            ) from None
        return read_description(directory).corpora

    def _losses(
        self, summaries: list[CorpusSummary], validation: ValidationSummary
    ) -> Iterator[str]:
        """Say which pairs were lost after cleaning, and which of the validation text."""
        limit = f"with more than {self.max_length} tokens on a side"
        for summary in summaries:
            if count := summary.dropped.get(TOO_LONG, 0):
                yield f"{summary.name}: {counted(count, 'pair')} {limit} left out"
        if validation.blank:
            yield f"validation: {counted(validation.blank, 'pair')} with a blank side left out"
        if validation.too_long:
            yield f"validation: {counted(validation.too_long, 'pair')} {limit} left out of the loss"

    def _refusal(self, before: dict[str, str], now: dict[str, str]) -> str:
        """Say what has changed since the text was prepared, and how to continue."""
        changed = [name for name in now if before.get(name) != now[name]]
        return (
            f"{self.directory / TRAIN_STORE}: prepared from other text, and checkpoints depend on "
            f"it ({', '.join(changed) or 'a setting'} changed since); undo the change, or name "
            "another directory with -o"
        )


def _spoken_sizes(tokenizers: TokenizerPair) -> str:
    if tokenizers.joint:
        return f"{tokenizers.source.vocab_size:,}"
    return f"{tokenizers.source.vocab_size:,} and {tokenizers.target.vocab_size:,}"
