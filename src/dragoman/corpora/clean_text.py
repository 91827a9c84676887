"""Make one text worth learning from: read corpora, clean them, keep the evaluation text out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.overlap import OverlapReport, canonical_sources, check
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.prepared_text import CorpusSummary
from dragoman.corpora.seen import SeenTexts
from dragoman.corpora.signs import Signs
from dragoman.corpora.text_file import CorpusError
from dragoman.corpora.truecasing import Truecaser
from dragoman.tokenizers.normalisation import learnable

Say = Callable[[str], None]


def write_clean_text(
    text: Path,
    corpora: CorporaConfig,
    cleaning: CleaningConfig,
    *,
    languages: tuple[str, str],
    say: Say,
) -> list[CorpusSummary]:
    """Write the training text worth learning from as one TSV file, corpus after corpus.

    Args:
        text: The file to write.
        corpora: What is read, and the evaluation text that must not leak into it.
        cleaning: The thresholds.
        languages: The codes of the source and of the target.
        say: Reports what is kept of each corpus.

    Raises:
        CorpusError: a corpus cannot be read, or overlaps with the evaluation text, or nothing is
            left.
    """
    summaries = []
    with text.open("w", encoding="utf-8", newline="\n") as file:
        for corpus in clean_corpora(corpora, cleaning, languages):
            written = 0
            for sides in corpus.pairs:
                file.write("\t".join(sides) + "\n")
                written += 1
            summary = CorpusSummary(
                name=corpus.config.name,
                weight=corpus.config.weight,
                read=corpus.cleaned.read,
                kept=written,
                dropped=dict(corpus.cleaned.dropped),
                overlap=corpus.overlap.sources,
            )
            say(summary.kept_of("pair", corpora.overlap))
            for warning in corpus.signs.warnings():
                say(f"warning: {corpus.config.file}: {warning}")
            summaries.append(summary)
    if not any(summary.kept for summary in summaries):
        if any(summary.overlap for summary in summaries):
            raise CorpusError(
                "every training pair that cleaning keeps has a sentence of the validation or test "
                "text; name other text"
            )
        raise CorpusError("cleaning leaves no training pair; loosen the thresholds of cleaning")
    return summaries


@dataclass(frozen=True, kw_only=True)
class CleanCorpus:
    """A corpus that is read once; the other fields are complete when all its pairs are read."""

    config: CorpusConfig
    pairs: Iterator[tuple[str, str]]
    """Source and target, normalised and truecased."""

    cleaned: CleaningReport
    overlap: OverlapReport
    signs: Signs


def clean_corpora(
    corpora: CorporaConfig, cleaning: CleaningConfig, languages: tuple[str, str]
) -> Iterator[CleanCorpus]:
    """Read the training text, corpus after corpus; read all pairs of one before taking the next.

    Raises:
        CorpusError: a corpus cannot be read, or overlaps with the evaluation text.
    """
    evaluation = evaluation_sources(corpora, languages)
    seen = SeenTexts()
    casing = _Casing(languages, needed=any(corpus.truecase for corpus in corpora.train))
    for corpus in corpora.train:
        cleaned, overlap = CleaningReport(), OverlapReport(corpus.file)
        signs = Signs(corpus, languages)
        read = signs.watch(read_pairs(corpus, languages=languages))
        kept = clean(read, cleaning, cleaned, languages=languages, seen=seen)
        yield CleanCorpus(
            config=corpus,
            pairs=casing.of_pairs(corpus, check(kept, evaluation, corpora.overlap, overlap)),
            cleaned=cleaned,
            overlap=overlap,
            signs=signs,
        )


def evaluation_sources(corpora: CorporaConfig, languages: tuple[str, str]) -> set[str]:
    """Collect the sources of validation and test text; see `canonical_sources`."""
    return canonical_sources(
        pair for corpus in corpora.evaluation for pair in read_pairs(corpus, languages=languages)
    )


class _Casing:
    """The case of the words of both languages, learnt from the corpora that are cased."""

    def __init__(self, languages: tuple[str, str], *, needed: bool) -> None:
        self._needed = needed
        self._truecasers = (Truecaser(languages[0]), Truecaser(languages[1]))

    def of_pairs(self, corpus: CorpusConfig, pairs: Iterable[Pair]) -> Iterator[tuple[str, str]]:
        """Normalise the pairs of a corpus and learn their case, or restore it."""
        source, target = self._truecasers
        for pair in pairs:
            sides = learnable(pair.source), learnable(pair.target)
            if corpus.truecase:
                sides = source.restore(sides[0]), target.restore(sides[1])
            elif self._needed:
                source.learn(sides[0])
                target.learn(sides[1])
            yield sides
