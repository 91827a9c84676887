"""From sentence pairs to the shortlist of a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.held_out import choose
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.text_file import CorpusError
from dragoman.errors import DragomanError
from dragoman.model_directory import ModelDirectory
from dragoman.shortlist.coverage import Coverage, measure_coverage
from dragoman.shortlist.file import save_shortlist
from dragoman.shortlist.shortlist import ShortlistConfig, learn_shortlist


class ShortlistError(DragomanError):
    """A shortlist cannot be learnt from a text."""


@dataclass(frozen=True, kw_only=True)
class Learnt:
    """What a shortlist was learnt from, and what it is good for."""

    pairs: int
    """Pairs that it was learnt from."""

    left_out: int
    """Pairs with an empty side, or with more tokens than the model has seen."""

    coverage: Coverage
    """Measured on the pairs that were held out."""


def learn_for_model(
    directory: ModelDirectory, paths: Sequence[str], config: ShortlistConfig
) -> Learnt:
    """Learn a shortlist from files of sentence pairs, and keep it with the model.

    Some pairs, whose sources differ from all others, are held out to measure it.

    Raises:
        ShortlistError: there are too few pairs.
        ModelError: the model is an ensemble.
        DragomanError: a file cannot be read, or the model cannot be used.
    """
    directory.refuse_ensemble()
    description = directory.description
    tokenizers = directory.load_tokenizers()
    corpora = [CorpusConfig(path=path) for path in paths]
    languages = description.languages
    read = [pair for corpus in corpora for pair in read_pairs(corpus, languages=languages)]
    sources = tokenizers.source.encode_batch([pair.source for pair in read])
    targets = tokenizers.target.encode_batch([pair.target for pair in read])
    usable = [
        (pair, sides)
        for pair, *sides in zip(read, sources, targets, strict=True)
        if all(0 < len(side) <= description.max_length for side in sides)
    ]
    is_held_out = _hold_out([pair for pair, _ in usable], paths)
    learnt, held_out = (
        [
            (source, target)
            for (_, (source, target)), is_held in zip(usable, is_held_out, strict=True)
            if is_held is to
        ]
        for to in (False, True)
    )
    shortlist = learn_shortlist(learnt, tokenizers, config)
    coverage = measure_coverage(shortlist, held_out)
    names = ", ".join(corpus.name for corpus in corpora)
    save_shortlist(directory, shortlist, text=names, pairs=len(learnt), coverage=coverage)
    return Learnt(pairs=len(learnt), left_out=len(read) - len(usable), coverage=coverage)


def _hold_out(pairs: Sequence[Pair], paths: Sequence[str]) -> list[bool]:
    """Choose which pairs to measure by."""
    try:
        if pairs:
            chosen: list[bool] = choose(pair.source for pair in pairs).tolist()
            return chosen
    except CorpusError:  # nearly all have the same source
        pass
    raise ShortlistError(
        f"{', '.join(paths)}: too few different sentences to learn from and to measure by"
    )
