"""Which sentences of a test set a model has learnt from, so that its scores on them say little."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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
    judged = set(map(canonical, sources)) - {""}
    learnt = set[str]().union(*(_learnt(judged, each, languages) for each in models))
    return sum(canonical(source) in learnt for source in sources)


def _learnt(judged: set[str], model: Mapping[str, Any], languages: tuple[str, str]) -> set[str]:
    """Find the canonical sentences that a model has learnt from."""
    training = model["training"]
    if parts := training.get("models"):
        return set().union(*(_learnt(judged, part, languages) for part in parts))
    files = training.get("sha256", {})
    try:
        corpora = from_table(CorporaConfig, training["recipe"]["corpora"])
    except (KeyError, TypeError, UsageError):  # imported, or of a version with other settings
        return set()
    if corpora.overlap == "drop":  # these were kept out of what was learnt
        judged = judged - canonical_sources(_read_unchanged(corpora.evaluation, files, languages))
    if not corpora.validation:
        judged = judged - _held_out(Path(model["model"]))
    pairs = islice(_read_unchanged(corpora.train, files, languages), MOST_PAIRS)
    return {known for pair in pairs if (known := canonical(pair.source)) in judged}


def _held_out(model: Path) -> set[str]:
    """Read what a training moved from its text to its validation text, if that is still there."""
    with suppress(CorpusError):
        return {canonical(source) for source, _ in read_tsv(model / "data" / VALIDATION_NAME)}
    return set()


def _read_unchanged(
    corpora: Sequence[CorpusConfig], files: Mapping[str, str], languages: tuple[str, str]
) -> Iterator[Pair]:
    """Read the pairs of those corpora whose files have the recorded checksums."""
    for corpus in corpora:
        with suppress(CorpusError):
            found = fingerprint_corpus(corpus)
            if found and all(files.get(name) == sha256 for name, sha256 in found.items()):
                yield from read_pairs(corpus, languages=languages)
