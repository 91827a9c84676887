"""A random part of the text, which a plan examines closely and a rehearsal trains on."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.corpora.clean_text import clean_corpora
from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.reservoir import Reservoir
from dragoman.corpora.text_file import as_setting
from dragoman.durable import open_whole

SAMPLE_PAIRS = 30_000
"""The most pairs that are drawn."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Pairs that were drawn, and how many there are to draw from."""

    pairs: list[tuple[str, str]]
    """Source and target, cleaned and truecased."""

    corpus_of: npt.NDArray[np.int64]
    """For each pair, the number of its corpus."""

    counts: npt.NDArray[np.int64]
    """How many clean pairs each corpus has."""

    weights: npt.NDArray[np.float64]
    """How often an epoch takes each corpus."""

    characters: int
    """Of all clean pairs, both sides."""

    warnings: tuple[str, ...]
    """Signs that the text is not what it should be."""

    def totals(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Estimate a sum over all pairs of each corpus.

        Args:
            values: One for each pair of the sample. A corpus without pairs there is taken to be
                like the others.
        """
        size = len(self.counts)
        drawn = np.bincount(self.corpus_of, minlength=size)
        sums = np.bincount(self.corpus_of, weights=values, minlength=size)
        means = np.where(drawn > 0, sums / np.maximum(drawn, 1), values.mean())
        return means * self.counts

    def write(self, directory: Path) -> tuple[CorpusConfig, ...]:
        """Write what was drawn from each corpus to a TSV file, and return it with its weight.

        Weights that average below one are raised together, so that an epoch of the sample is not
        needlessly smaller than one of the text: an update holds at most an epoch.
        """
        share = len(self.pairs) / self.counts.sum()
        raised = min(max(1.0, 1 / self.weights[self.corpus_of].mean()), 1 / share)
        written = []
        for number in np.unique(self.corpus_of).tolist():
            path = directory / f"sample-{number}.tsv"
            with open_whole(path) as file:
                for place in np.flatnonzero(self.corpus_of == number).tolist():
                    file.write("\t".join(self.pairs[place]).encode() + b"\n")
            weight = float(raised * self.weights[number])
            written.append(CorpusConfig(path=as_setting(path), weight=weight))
        return tuple(written)


def draw_sample(corpora: CorporaConfig, languages: tuple[str, str]) -> Sample:
    """Read, clean and truecase all of the training text, and draw pairs from it.

    Raises:
        CorpusError: a corpus cannot be read, or overlaps with the evaluation text.
    """
    drawn = Reservoir[tuple[int, tuple[str, str]]](SAMPLE_PAIRS)
    counts = [0] * len(corpora.train)
    warnings: list[str] = []
    characters = 0
    for number, corpus in enumerate(clean_corpora(corpora, CleaningConfig(), languages)):
        for sides in corpus.pairs:
            characters += len(sides[0]) + len(sides[1])
            drawn.add((number, sides))
            counts[number] += 1
        warnings += [f"{corpus.config.file}: {warning}" for warning in corpus.signs.warnings()]
    return Sample(
        pairs=[sides for _, sides in drawn.items],
        corpus_of=np.array([number for number, _ in drawn.items], dtype=np.int64),
        counts=np.array(counts, dtype=np.int64),
        weights=np.array([corpus.weight for corpus in corpora.train]),
        characters=characters,
        warnings=tuple(warnings),
    )
