"""What makes scores say less about a translator than they seem to."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from dragoman.corpora.cleaning import is_empty
from dragoman.corpora.learnt import count_learnt, count_validated
from dragoman.corpora.parallel_text import Pair
from dragoman.corpora.statistics import MAX_EXAMPLES
from dragoman.counting import counted
from dragoman.evaluation.config import EvaluationConfig
from dragoman.languages.scripts import is_unspaced
from dragoman.model_directory import ModelDirectory
from dragoman.model_directory.lineage import trainings_behind
from dragoman.terms.glossary import Glossary
from dragoman.terms.glossary_use import GlossaryUse
from dragoman.tokenizers.normalisation import normalise


def of_pairs(pairs: Sequence[Pair]) -> Iterator[str]:
    """Doubt a test set for pairs that lack a side, and for its letters.

    Such pairs are scored, but their scores do not measure quality.
    """
    if blank := [str(pair.line) for pair in pairs if is_empty(pair)]:
        lines = ", ".join(blank[:MAX_EXAMPLES]) + (", …" if len(blank) > MAX_EXAMPLES else "")
        yield (
            f"{len(blank)} of {counted(len(pairs), 'pair')} with a blank side, scored like any "
            f"other (line {lines}); remove them if that is not wanted"
        )
    yield from of_letters([pair.target for pair in pairs], "references")


def of_letters(texts: Sequence[str], what: str) -> Iterator[str]:
    """Doubt that scores are those that sacreBLEU gives for the same files."""
    changed = [text for text in texts if normalise(text) != " ".join(text.split())]
    if changed:
        yield (
            f"{len(changed)} of {len(texts)} {what} are not in Unicode's composed form (NFC); they "
            "are scored in it, as our translations are, so sacreBLEU by itself gives other scores "
            "for the same files"
        )


def of_splitting(references: Sequence[str], settings: EvaluationConfig) -> Iterator[str]:
    """Doubt BLEU and TER where they would take sentences for words."""
    affected = [name for name in ("BLEU", "TER") if name in settings.metrics]
    splits_at_spaces = affected and settings.tokenize in ("13a", "intl")
    if splits_at_spaces and is_unspaced("".join(references)):
        yield (
            f"the references have no spaces between words, and {' and '.join(affected)} with "
            f"{settings.tokenize} would split them at spaces; give --tokenize char, or zh for "
            "Chinese, ja-mecab for Japanese"
        )


def of_case(
    name: str, translations: Sequence[str], references: Sequence[str], settings: EvaluationConfig
) -> Iterator[str]:
    """Doubt scores where one side is in lower case and the other is not.

    Each capital is a mistake then.
    """
    judging = [metric for metric in settings.metrics if metric != "TER"]  # which ignores case
    ours, theirs = (
        sum(any(map(str.isupper, text)) for text in texts) for texts in (translations, references)
    )
    is_alike = min(ours, theirs) > 0 or 2 * max(ours, theirs) < len(references)
    if judging and not settings.lowercase and not is_alike:
        with_capitals, without = "translations", "references"
        if theirs:
            with_capitals, without = without, with_capitals
        yield (
            f"{name}: the {with_capitals} have capitals and the {without} have none, which "
            f"{' and '.join(judging)} count as mistakes; --lowercase ignores case"
        )


def of_model(model: Path, sources: Sequence[str]) -> Iterator[str]:
    """Doubt a model that only has to remember, or was chosen by how it translates these."""
    directory = ModelDirectory(model)
    languages = directory.description.languages
    own, *earlier = trainings_behind(directory)
    of_all = f"of {counted(len(sources), 'sentence')}"
    if count := count_learnt(sources, [own, *earlier], languages):
        yield (
            f"{model} was trained on {count} {of_all}, so its scores are too good; test it on "
            "others, or name these as corpora.test in the recipe, set corpora.overlap to "
            '"drop", and train again'
        )
    if count := count_validated(sources, [own], languages):
        yield (
            f"{count} {of_all} are of the validation text, by which the weights of {model} were "
            "chosen, so its scores may be too good; test it on others"
        )


def of_glossary(glossary: Glossary | None, sources: Sequence[str]) -> Iterator[str]:
    """Doubt a glossary of which no term occurs in the test set."""
    use = GlossaryUse(glossary)
    all(map(use.look_at, sources))  # until it has seen enough
    yield from use.warnings()
