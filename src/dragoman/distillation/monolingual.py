"""Text that nobody has translated: a teacher translates it, too, for its student."""

from collections.abc import Iterator, Set
from pathlib import Path

from dragoman.corpora.clean_text import Say
from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, OverlapPolicy
from dragoman.corpora.expected_language import ExpectedLanguage, language_warnings
from dragoman.corpora.overlap import OverlapReport, check
from dragoman.corpora.parallel_text import Pair
from dragoman.corpora.prepared_text import CorpusSummary
from dragoman.corpora.text_file import CorpusError, read_lines
from dragoman.tokenizers.normalisation import learnable
from dragoman.tokenizers.sentences import split_sentences


def clean_sentences(
    path: Path,
    evaluation: Set[str],
    policy: OverlapPolicy,
    cleaning: CleaningConfig,
    *,
    languages: tuple[str, str],
    say: Say,
) -> Iterator[str]:
    """Yield the sentences of a plain text that are worth translating.

    Lines are split into sentences, as they are when they are translated. A sentence goes through
    the cleaning of pairs as a pair of itself, in which no rule that compares two sides finds fault.

    Args:
        path: A text in the source language.
        evaluation: What the student is judged by, from `canonical_sources`.
        policy: What happens to sentences that occur in it.
        cleaning: The thresholds.
        languages: The codes of the source and of the target.
        say: Reports what is kept, when all of it has passed.

    Raises:
        CorpusError: the text cannot be read, has sentences of the evaluation text and must not, or
            nothing of it is left.
    """
    language = languages[0]
    report, overlap = CleaningReport(), OverlapReport(str(path))
    expected = ExpectedLanguage(language)
    good = clean(_read(path, expected), cleaning, report, languages=(language, language))
    kept = 0
    for sentence in check(good, evaluation, policy, overlap):
        kept += 1
        yield learnable(sentence.source)
    summary = CorpusSummary(
        name=str(path),
        weight=1.0,
        read=report.read,
        kept=kept,
        dropped=dict(report.dropped),
        overlap=overlap.sources,
    )
    found = summary.kept_of("sentence", policy)
    if not kept:
        raise CorpusError(f"{found}; name another text")
    say(found)
    for warning in language_warnings(languages, (expected.other(), None), swapped=0.0):
        say(f"warning: {path}: {warning}")


def _read(path: Path, expected: ExpectedLanguage) -> Iterator[Pair]:
    """Read the sentences of a text, each as a pair of itself.

    Raises:
        CorpusError: the text cannot be read, or seems to be pairs.
    """
    for number, line in enumerate(read_lines(path), start=1):
        if number == 1 and "\t" in line.strip():
            raise CorpusError(f"{path}: it has pairs, so name it without --monolingual")
        if line and not line.isspace():  # paragraphs may stand apart
            expected.add(line)
            for sentence in split_sentences(line, expected.language):
                yield Pair(sentence, sentence, number)
