"""The sentences of a test set, one by one, for people who want to read what is wrong."""

from collections.abc import Iterator, Sequence

from dragoman.corpora.text_file import on_one_line
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.statistics import collect


def compare_sentences(
    sources: Sequence[str],
    references: Sequence[str],
    systems: Sequence[Sequence[str]],
    config: EvaluationConfig,
    names: Sequence[str],
) -> Iterator[str]:
    """Yield the lines of a table: a head, then each sentence with its translations and their chrF.

    The worst come first: those of the lowest chrF, or if there are two systems, those where the
    first lost most to the second. chrF is the usual metric that says something about one sentence.

    Args:
        sources: What was translated.
        references: The other side.
        systems: The translations of each system, one or two of them.
        config: Whether case matters.
        names: Of the systems; two of them are named in the head, so that each column has a name of
            its own.

    Raises:
        EvaluationError: there is nothing to compare, or the numbers of sentences differ.
    """
    scores = [
        collect("chrF", translations, references, config).of_sentences() for translations in systems
    ]
    of_each = [f" of {name}" for name in names] if len(systems) > 1 else [""]
    columns = [f"{column}{of}" for of in of_each for column in ("chrF", "translation")]
    yield _row(["sentence", "source", "reference", *columns])
    lost = [first - sum(others) for first, *others in zip(*scores, strict=True)]
    for i in sorted(range(len(sources)), key=lost.__getitem__):
        row = [str(i + 1), sources[i], references[i]]
        for translations, of_system in zip(systems, scores, strict=True):
            row += [f"{of_system[i]:.1f}", translations[i]]
        yield _row(row)


def _row(cells: Sequence[str]) -> str:
    """Write a row, in whose texts a tabulator is a space."""
    return "\t".join(on_one_line(cell).replace("\t", " ") for cell in cells) + "\n"
