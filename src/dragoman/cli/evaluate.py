"""`dragoman evaluate`: scores of translations, with signatures and confidence intervals."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from dragoman.cli.bulk_translation import Report
from dragoman.cli.options import FileToWrite, Flag, Languages, WholeNumber, settings_are_options
from dragoman.cli.text_output import check_outputs, print_json, warn, warn_of
from dragoman.cli.translation_options import TranslationOptions, announce
from dragoman.counting import counted
from dragoman.durable import open_whole

if TYPE_CHECKING:
    from dragoman.corpora.config import CorpusConfig
    from dragoman.evaluation.config import EvaluationConfig
    from dragoman.translation import Translation
    from dragoman.translator import Translator

TRANSLATED_AT_ONCE = 512
"""Sentences; enough for full batches, and few enough to report progress often."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ScoringOptions:
    """Changes to the evaluation settings of the model's recipe, or to the usual ones."""

    metrics: Annotated[list[str] | None, Parameter(negative=())] = None
    """BLEU, chrF, chrF++ or TER; may be given several times."""

    lowercase: bool | None = None
    """Ignore case."""

    tokenize: str | None = None
    """How BLEU splits text: 13a, intl, zh, ja-mecab, char, or none for text that is split."""

    bootstrap_samples: WholeNumber | None = None
    """Resampled test sets for intervals, which need at least 40, and p-values; 0 omits both."""

    def settings(self, model: Path | None, languages: tuple[str, str]) -> "EvaluationConfig":
        """Complete the options from a model's recipe, or by what the language needs.

        Raises:
            UsageError: a value is unknown.
        """
        from dragoman.config import from_table, to_table
        from dragoman.evaluation.config import EvaluationConfig, usual_evaluation

        given = {name: value for name, value in vars(self).items() if value is not None}
        recorded = _recorded_settings(model) if model else None
        usual = to_table(recorded) if recorded else usual_evaluation(languages[1])
        with settings_are_options(vars(self)):
            return from_table(EvaluationConfig, {**usual, **given})


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TestSet:
    """What is translated, if not PAIRS."""

    source: Path | None = None
    """The source side of a test set in two plain text files, one sentence per line."""

    reference: Path | None = None
    """The other side: the reference translations."""

    languages: Languages | None = None
    """JSON fields or codes in TMX, PO and XLIFF, such as en-it; by default those of the model."""

    def corpus(self, pairs: Path | None) -> "CorpusConfig":
        """Say what is read.

        Raises:
            UsageError: it is not one test set, or languages have no effect.
        """
        from dragoman.corpora.config import CorpusConfig
        from dragoman.corpora.parallel_text import has_named_sides
        from dragoman.errors import UsageError
        from dragoman.model_directory import DESCRIPTION_NAME

        given = [path is not None for path in (pairs, self.source, self.reference)]
        if given not in ([True, False, False], [False, True, True]):
            raise UsageError(
                "give a model, or a file of translations, and then a test set: either PAIRS.tsv, "
                "or both --source and --reference"
            )
        if pairs is not None and (pairs / DESCRIPTION_NAME).is_file():
            raise UsageError(f"{pairs}: it is a model, which comes first, and then the test set")
        corpus = CorpusConfig(
            path=str(pairs) if pairs else None,
            source=str(self.source) if self.source else None,
            target=str(self.reference) if self.reference else None,
        )
        if self.languages is not None and not has_named_sides(corpus):
            raise UsageError(
                f"--languages {self.languages}: it names the sides of JSON lines, TMX, PO and "
                "XLIFF, and this text has sides without names; leave it out"
            )
        return corpus


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What is written."""

    sentences: FileToWrite | None = None
    """A file for all sentences with their translations and the chrF of each, the worst first; with
    --compare, those where the first system lost most. A TSV, which spreadsheets open."""

    json: Flag = False
    """Print one JSON object, for programs."""


class System(NamedTuple):
    """What is scored."""

    engine: str | None
    """What translates; None for a file of translations."""

    translate: Callable[[], list[str]]


def evaluate(
    model: Path,
    pairs: Path | None = None,
    /,
    *,
    test_set: TestSet = TestSet(),
    compare: Path | None = None,
    translation: TranslationOptions = TranslationOptions(),
    output: ReportOptions = ReportOptions(),
    scoring: ScoringOptions = ScoringOptions(),
) -> None:
    """Translate a test set and score it: BLEU, chrF and TER with signatures and 95 % intervals.

    With --compare, a second model or a file with its translations, one per line, is scored on the
    same sentences, and the difference is tested by paired bootstrap.

    Of one system, the exact match is printed, too: the percentage of translations that equal their
    reference. With --json there is one object with `sentences`, `engines` (null for a file),
    `exact_match` and, by metric, `scores` with `score`, `low` and `high` (the interval) and
    `signature`; or, with --compare, `comparisons` with `a`, `b`, `delta`, `p_value` and
    `signature`.

    Parameters
    ----------
    model
        A model directory, or a file with translations, one per line.
    pairs
        The test set as TSV, CSV, JSON lines, TMX, PO or XLIFF; or give --source and --reference.
    test_set
        What is translated, if not PAIRS.
    compare
        A second model directory or file of translations.
    translation
        What translates, where, and what it keeps.
    output
        What is written.
    scoring
        Changes to the evaluation settings of the model's recipe, or to the usual ones.
    """
    from dragoman.corpora.fingerprint import files_of
    from dragoman.errors import UsageError
    from dragoman.evaluation.sentences import compare_sentences
    from dragoman.evaluation.statistics import require_packages

    compared = [path for path in (model, compare) if path]
    corpus = test_set.corpus(pairs)
    if output.sentences is not None:
        read = [*compared, *(path for _, path in files_of(corpus)), *translation.files_read]
        check_outputs([output.sentences], models=compared, read=read)
    _check_systems(compared, translation)
    first_model = next(filter(Path.is_dir, compared), None)
    languages = _languages(test_set, first_model)
    settings = scoring.settings(first_model, languages)
    require_packages(settings)
    if compare is not None and not settings.bootstrap_samples:
        raise UsageError(
            "without resampled test sets there is nothing to compare the systems on; give "
            "--bootstrap-samples"
        )
    sources, references = _read_test_set(corpus, languages, settings)
    systems = [_system(path, sources, translation) for path in compared]
    # A file that cannot be written must fail now, not after the long work.
    with nullcontext() if output.sentences is None else open_whole(output.sentences) as file:
        translations = [system.translate() for system in systems]
        if file is not None:
            for row in compare_sentences(
                sources, references, translations, settings, [str(path) for path in compared]
            ):
                file.write(row.encode(errors="backslashreplace"))
    table, text = _score(compared, translations, references, settings)
    engines = [system.engine for system in systems]
    if output.json:
        print_json({"sentences": len(references), "engines": engines, **table})
    else:
        print(text + _note_of_engines(compared, engines))


def _note_of_engines(compared: Sequence[Path], engines: Sequence[str | None]) -> str:
    """Say which engines two models had, if they differ: that alone changes some translations."""
    if None in engines or len(set(engines)) == 1:
        return ""
    used = (f"{path} with {engine}" for path, engine in zip(compared, engines, strict=True))
    return (
        f"translated by different engines: {' and '.join(used)}; --engine pytorch makes them equal"
    )


def _score(
    compared: list[Path],
    translations: list[list[str]],
    references: list[str],
    settings: "EvaluationConfig",
) -> tuple[dict[str, Any], str]:
    """Score one system or compare two, for programs and for people."""
    from dragoman.evaluation import doubts, report
    from dragoman.evaluation.metrics import exact_match, score
    from dragoman.evaluation.significance import compare, few_sentences

    for path, of_system in zip(compared, translations, strict=True):
        warn_of(doubts.of_case(str(path), of_system, references, settings))
    ours, *others = translations
    if not others:
        scores = score(ours, references, settings)
        exact = exact_match(ours, references, settings)
        table = {"scores": report.scores_to_table(scores), "exact_match": exact}
        return table, f"{report.scores_to_text(scores)}\nexact match {exact:.1f} %"
    if reservation := few_sentences(len(references)):
        warn(f"{reservation}; compare on more")
    (theirs,) = others
    comparisons = compare(ours, theirs, references, settings)
    first, second = map(str, compared)
    text = report.comparisons_to_text(comparisons, (first, second))
    return {"comparisons": report.comparisons_to_table(comparisons)}, text


def _recorded_settings(model: Path) -> "EvaluationConfig | None":
    """Read the evaluation settings of a model's recipe; an import has none."""
    from dragoman.config import from_table
    from dragoman.errors import DragomanError, UsageError
    from dragoman.evaluation.config import EvaluationConfig
    from dragoman.model_directory import DESCRIPTION_NAME, ModelDirectory

    table = ModelDirectory(model).description.training
    try:
        for section in ("recipe", "evaluation"):
            if section not in table:
                return None
            table = table[section]
            if not isinstance(table, dict):
                raise UsageError(f"{section} = {table!r} should be a section")
        return from_table(EvaluationConfig, table, at="evaluation.")
    except UsageError as error:
        raise DragomanError(f"{model / DESCRIPTION_NAME}: {error}") from error


def _check_systems(paths: list[Path], translation: TranslationOptions) -> None:
    """Refuse options that have no effect, and systems that cannot be compared.

    Raises:
        UsageError: options say how to translate, but only files are scored; both systems are one;
            or languages differ.
    """
    from dragoman.errors import UsageError

    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError(f"--compare {paths[1]}: it is what is scored; name another one")
    if translation != TranslationOptions() and all(path.is_file() for path in paths):
        raise UsageError(
            f"{paths[0]}: it has translations, and --engine, --device, --whole-lines, --glossary, "
            "--no-protect, --shortlist and --precision say how to make them; leave these out, or "
            "name a model"
        )
    if len(models := [path for path in paths if path.is_dir()]) > 1:
        ours, theirs = map(_languages_of, models)
        if ours != theirs:
            raise UsageError(
                f"{models[1]} translates {'-'.join(theirs)} and {models[0]} {'-'.join(ours)}; "
                "compare models of the same languages"
            )


def _languages_of(model: Path) -> tuple[str, str]:
    """Read which languages a model translates between."""
    from dragoman.model_directory import ModelDirectory

    return ModelDirectory(model).description.languages


def _languages(test_set: TestSet, model: Path | None) -> tuple[str, str]:
    """Choose the languages of a test set: those that are given, or those of a model."""
    from dragoman.corpora.languages import parse_languages

    if test_set.languages is not None:
        return parse_languages(test_set.languages)
    return _languages_of(model) if model else ("source", "target")


def _read_test_set(
    corpus: "CorpusConfig", languages: tuple[str, str], settings: "EvaluationConfig"
) -> tuple[list[str], list[str]]:
    """Read both sides of a test set."""
    from dragoman.corpora.parallel_text import read_pairs
    from dragoman.corpora.signs import Signs
    from dragoman.evaluation import doubts

    signs = Signs(corpus, languages)
    read = list(signs.watch(read_pairs(corpus, languages=languages)))
    warn_of(f"{corpus.file}: {warning}" for warning in signs.warnings())
    warn_of(doubts.of_pairs(read))
    sources, references = [pair.source for pair in read], [pair.target for pair in read]
    warn_of(doubts.of_splitting(references, settings))
    return sources, references


def _system(path: Path, sources: list[str], translation: TranslationOptions) -> System:
    """Prepare to translate with a model directory, or to return the translations of a file.

    Whatever is wrong with it is found here, before any system begins its long work.
    """
    from dragoman.evaluation import doubts

    if path.is_dir():
        warn_of(doubts.of_model(path, sources))
        translator = translation.load(path)
        announce(translator)
        warn_of(doubts.of_glossary(translator.glossary, sources))
        return System(translator.engine, lambda: _translate(translator, sources))
    from dragoman.corpora.text_file import read_lines
    from dragoman.evaluation.statistics import EvaluationError

    translations = list(read_lines(path))
    while len(translations) > len(sources) and not translations[-1].strip():
        del translations[-1]  # as at the end of a test set
    if len(translations) != len(sources):
        raise EvaluationError(
            f"{path} has {counted(len(translations), 'line')} and the test set "
            f"{counted(len(sources), 'sentence')}; "
            "each sentence needs its translation on the line with the same number"
        )
    if translations and all("\t" in line for line in translations):
        raise EvaluationError(
            f"{path} has a tab in each line, as pairs have; give the translations alone, as "
            f"cut -f 2 {path} prints them"
        )
    warn_of(doubts.of_letters(translations, f"lines of {path}"))
    return System(None, lambda: translations)


def _translate(translator: "Translator", sources: list[str]) -> list[str]:
    """Translate, and report progress to whoever waits."""
    from dragoman.bulk.files import Progress
    from dragoman.translation import remark_on_cut

    report = Report()
    report(Progress(0, len(sources)))
    translations: list[Translation] = []
    for begin in range(0, len(sources), TRANSLATED_AT_ONCE):
        translations += translator.translate(sources[begin : begin + TRANSLATED_AT_ONCE])
        report(Progress(len(translations), len(sources), engine=translator.engine))
    if remark := remark_on_cut(translations):
        warn(remark)
    return [translation.text for translation in translations]
