"""Which sentences of a test set a model has seen in training, so that its scores say little."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from dragoman.config import from_table
from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.corpora.fingerprint import fingerprint_corpus
from dragoman.corpora.overlap import canonical, canonical_sources
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.prepared_text import VALIDATION_NAME, read_tsv
from dragoman.corpora.text_file import CorpusError
from dragoman.errors import UsageError

MOST_PAIRS = 1_000_000
"""Reading so many takes several seconds, as a short evaluation does; of longer text the beginning
has to do."""


def count_learnt(
    sources: Sequence[str], models: Iterable[Mapping[str, Any]], languages: tuple[str, str]
) -> int:
    """Count the sentences that are also in the training text of a model.

    That text is read where it was. What is gone or has changed, or is on the Hugging Face hub, is
    left out.

    Args:
        sources: The sentences.
        models: The model and those that it began with, as `trainings_behind` yields them. What was
            made of several models has learnt what any of them has.
        languages: The codes of the source and of the target.
    """
    judged = _canonical(sources)
    return _count(sources, (text.learnt(judged) for text in _texts(models, languages)))


def count_validated(
    sources: Sequence[str], models: Iterable[Mapping[str, Any]], languages: tuple[str, str]
) -> int:
    """Count the sentences that are in the validation text, by which weights were chosen.

    Arguments are as above, and so is what is left out.
    """
    judged = _canonical(sources)
    return _count(sources, (judged & text.validation() for text in _texts(models, languages)))


def _canonical(sources: Sequence[str]) -> set[str]:
    return set(map(canonical, sources)) - {""}


def _count(sources: Sequence[str], found: Iterable[set[str]]) -> int:
    seen = set[str]().union(*found)
    return sum(canonical(source) in seen for source in sources)


@dataclass(frozen=True)
class _Text:
    """What one training was given."""

    model: Path
    corpora: CorporaConfig
    files: Mapping[str, str]
    """The checksums of those files."""

    languages: tuple[str, str]

    def learnt(self, judged: set[str]) -> set[str]:
        """Find the canonical sentences that the model has learnt from."""
        if self.corpora.overlap == "drop":  # these were kept out of what was learnt
            judged = judged - canonical_sources(self._read(self.corpora.evaluation))
        if not self.corpora.validation:
            judged = judged - self._held_out()
        pairs = islice(self._read(self.corpora.train), MOST_PAIRS)
        return {known for pair in pairs if (known := canonical(pair.source)) in judged}

    def validation(self) -> set[str]:
        """Collect the canonical sentences by which the weights were chosen."""
        if self.corpora.validation:
            return canonical_sources(self._read(self.corpora.validation))
        return self._held_out()

    def _held_out(self) -> set[str]:
        """Read what was moved from the text to the validation text, if that is still there."""
        with suppress(CorpusError):
            moved = read_tsv(self.model / "data" / VALIDATION_NAME)
            return {canonical(source) for source, _ in moved}
        return set()

    def _read(self, corpora: Sequence[CorpusConfig]) -> Iterator[Pair]:
        """Read the pairs of those corpora whose files have the recorded checksums."""
        for corpus in corpora:
            with suppress(CorpusError):
                found = fingerprint_corpus(corpus)
                if found and all(self.files.get(name) == sha256 for name, sha256 in found.items()):
                    yield from read_pairs(corpus, languages=self.languages)


def _texts(models: Iterable[Mapping[str, Any]], languages: tuple[str, str]) -> Iterator[_Text]:
    """Yield the text of each training; an import has none, nor one with settings of old."""
    for model in models:
        training = model["training"]
        if parts := training.get("models"):
            yield from _texts(parts, languages)
            continue
        with suppress(KeyError, TypeError, UsageError):
            corpora = from_table(CorporaConfig, training["recipe"]["corpora"])
            yield _Text(Path(model["model"]), corpora, training.get("sha256", {}), languages)
