"""Corpora to one text that is worth learning from: read, clean, keep the evaluation text out."""

from collections.abc import Callable
from pathlib import Path

from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.overlap import EvaluationSentences, OverlapReport, check
from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.prepared_text import CorpusSummary
from dragoman.corpora.seen import SeenPairs
from dragoman.corpora.signs import Signs
from dragoman.corpora.text_file import CorpusError
from dragoman.corpora.truecasing import Truecaser
from dragoman.tokenizers.normalisation import normalise

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
        corpora: What is read, and the evaluation text that it must not give away.
        cleaning: The thresholds.
        languages: The codes of the source and of the target.
        say: Is told what is kept of each corpus.

    Raises:
        CorpusError: a corpus cannot be read, or overlaps with the evaluation text, or nothing is
            left.
    """
    evaluation = evaluation_sentences(corpora, languages)
    seen = SeenPairs()
    casing = Casing(needed=any(corpus.truecase for corpus in corpora.train))
    summaries = []
    with text.open("w", encoding="utf-8", newline="\n") as file:
        for corpus in corpora.train:
            cleaned = CleaningReport()
            overlap = OverlapReport(corpus.name)
            signs = Signs(languages)
            pairs = signs.watch(read_pairs(corpus, languages=languages))
            pairs = clean(pairs, cleaning, cleaned, languages=languages, seen=seen)
            written = 0
            for pair in check(pairs, evaluation, corpora.overlap, overlap):
                sides = casing.of(corpus, (normalise(pair.source), normalise(pair.target)))
                file.write("\t".join(sides) + "\n")
                written += 1
            summary = CorpusSummary(
                name=corpus.name,
                weight=corpus.weight,
                read=cleaned.read,
                kept=written,
                dropped=dict(cleaned.dropped),
                overlap=overlap.sources,
            )
            notes = summary.notes(corpora.overlap)
            say(
                f"{summary.name}: {summary.read:,} pairs read, {summary.kept:,} kept"
                + (f" ({notes})" if notes else "")
            )
            for warning in signs.warnings():
                say(f"warning: {corpus.name}: {warning}")
            summaries.append(summary)
    if not any(summary.kept for summary in summaries):
        if any(summary.overlap for summary in summaries):
            raise CorpusError(
                "every training pair that cleaning keeps has a sentence of the validation or test "
                "text; name other text"
            )
        raise CorpusError("cleaning leaves no training pair; loosen the thresholds of cleaning")
    return summaries


def evaluation_sentences(corpora: CorporaConfig, languages: tuple[str, str]) -> EvaluationSentences:
    """Read what training text must not give away."""
    return EvaluationSentences(
        pair
        for corpus in (*corpora.validation, *corpora.test)
        for pair in read_pairs(corpus, languages=languages)
    )


class Casing:
    """The case of the words of both languages, learnt from the corpora that have one."""

    def __init__(self, *, needed: bool) -> None:
        self._needed = needed
        self._truecasers = (Truecaser(), Truecaser())

    def of(self, corpus: CorpusConfig, sides: tuple[str, str]) -> tuple[str, str]:
        """Learn from a pair, or give it back with its case restored."""
        source, target = self._truecasers
        if corpus.truecase:
            return source.restore(sides[0]), target.restore(sides[1])
        if self._needed:
            source.learn(sides[0])
            target.learn(sides[1])
        return sides
