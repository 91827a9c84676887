"""Keep the sentences that a model is judged by out of the text that it learns from."""

import unicodedata
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field

from dragoman.corpora.config import OverlapPolicy
from dragoman.corpora.parallel_text import Pair
from dragoman.corpora.text_file import CorpusError
from dragoman.counting import counted
from dragoman.tokenizers.normalisation import visible

MAX_EXAMPLES = 3


class OverlapError(CorpusError):
    """Training text translates sentences that the model is judged by."""


@dataclass
class OverlapReport:
    """How much of the evaluation text one training corpus has."""

    corpus: str
    """The file of the training corpus, for messages: others may have its name elsewhere."""

    sources: int = 0
    """Training pairs whose source is an evaluation source."""

    lines: list[int] = field(default_factory=list)
    """The first few lines counted in `sources`."""


def canonical_sources(pairs: Iterable[Pair]) -> set[str]:
    """Collect the sources of validation and test sets, as `canonical` writes them.

    A training pair that has one of them is a leak. That is what inflates a score: the model is
    asked a question whose answer it was shown, whether the translation in the training text is word
    for word the reference or another one. A shared target alone is no leak: the question was never
    shown, and short targets such as "Thank you." answer many sources.
    """
    sources = {canonical(pair.source) for pair in pairs}
    return sources - {""}  # punctuation alone is not a sentence, and not a leak


def check(
    pairs: Iterable[Pair],
    evaluation: Set[str],
    policy: OverlapPolicy,
    report: OverlapReport,
) -> Iterator[Pair]:
    """Yield training pairs, and count those that leak.

    Args:
        pairs: Training pairs.
        evaluation: The sources that the model is judged by, from `canonical_sources`.
        policy: "allow" yields the leaks too, "drop" leaves them out, and "refuse" reads to the
            end and then raises, so that the message can say how many there are.
        report: Filled in as pairs are read.

    Raises:
        OverlapError: there are leaks and the policy refuses them.
    """
    for pair in pairs:
        if evaluation and canonical(pair.source) in evaluation:
            report.sources += 1
            if len(report.lines) < MAX_EXAMPLES:
                report.lines.append(pair.line)
            if policy == "drop":
                continue
        yield pair
    if policy == "refuse" and report.sources:
        raise OverlapError(_refusal(report))


def _refusal(report: OverlapReport) -> str:
    """Say how much leaks, where, and how to go on."""
    lines = ", ".join(map(str, report.lines))
    more = ", …" if report.sources > len(report.lines) else ""
    where = f"line{'s' if report.sources > 1 else ''} {lines}{more}"
    return (
        f"{report.corpus}: {counted(report.sources, 'pair')} of the training text would give away "
        f"validation or test sentences ({where}); set "
        'corpora.overlap to "drop" to leave them out, or to "allow" to keep them'
    )


def canonical(text: str) -> str:
    """Reduce a sentence to what makes it the same sentence.

    Case, white space, compatibility forms (NFKC) and the punctuation around it make no difference,
    nor do invisible characters, which no model is shown.
    """
    words = unicodedata.normalize("NFKC", visible(text)).casefold().split()
    text = " ".join(words)
    start, end = 0, len(text)
    while start < end and _is_around(text[start]):
        start += 1
    while start < end and _is_around(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_around(character: str) -> bool:
    """Say whether a character is punctuation, a symbol or a separator."""
    return unicodedata.category(character)[0] in "PSZ"
