"""`dragoman translate`: lines of text in, as many lines out; or a document in, a document out."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dragoman.cli.bulk_translation import BulkOptions, bulk_output, translate_in_bulk
from dragoman.cli.options import (
    FileToWrite,
    Flag,
    OutputFileIfAny,
    WholeNumber,
    settings_are_options,
)
from dragoman.cli.termination import end_by_exit
from dragoman.cli.text_output import check_outputs, open_output, warn_of
from dragoman.cli.translation_options import TranslationOptions, announce
from dragoman.durable import check_written
from dragoman.errors import UsageError

if TYPE_CHECKING:
    from dragoman.bulk.form import Form
    from dragoman.decoding.config import SearchConfig


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Changes to the search settings that come with the model."""

    beam_size: WholeNumber | None = None
    """Unfinished translations of a sentence that are followed at once; 1 is greedy search."""

    length_penalty: float | None = None
    """Exponent of the length penalty; 0 ranks by log-probability alone."""

    n_best: WholeNumber | None = None
    """How many translations of each line are written."""

    patience: WholeNumber | None = None
    """Finished translations, per place in the beam, that end a search; 1 is faster, a bit worse."""

    sampling_temperature: Annotated[float | None, Parameter(name="--sample")] = None
    """Sample at this temperature; 1 is the model's own distribution, 0 searches instead."""

    top_k: WholeNumber | None = None
    """Sample only from this many of the most probable tokens; 0 is all of them."""

    top_p: float | None = None
    """Sample only from the fewest tokens whose probabilities add up to at least this."""

    seed: WholeNumber | None = None
    """Another seed gives other samples."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is written, and where."""

    output: OutputFileIfAny = None
    """Write to this file instead of standard output; it appears only when it is complete."""

    scores: Flag = False
    """Write a tab and the score after each translation."""

    json: Flag = False
    """Write a JSON object for each line."""

    alignments: FileToWrite | None = None
    """Write the word alignment of each line to this file, as `0-0 1-2`; needs `dragoman align`."""


def translate(
    model: Path,
    /,
    *files: Path,
    translation: TranslationOptions = TranslationOptions(),
    search: SearchOptions = SearchOptions(),
    output: OutputOptions = OutputOptions(),
    bulk: BulkOptions = BulkOptions(),
) -> int:
    """Translate text, line by line, with the model in a directory.

    As many lines come out as went in, in the same order; a blank line stays blank. With --n-best
    above 1, each translation is written on a line of its own, as `number ||| text ||| score`, where
    the number is that of the input line, from 0.

    With --json, each input line gives one object with `line` (from 1), `source`, `text`, `score`,
    `confidence` (0 to 1, the geometric mean of the tokens' probabilities), `finished` (false if it
    stopped at the length limit), `cut` (whether a sentence was too long for the model), `faults`
    (in words, such as `is empty` or `repeats itself`), `parts` (what was translated at once) and
    `alternatives` with `text`, `score`, `confidence`, `log_probability`, `num_tokens`, `finished`,
    `faults` and `parts`. A line that was set aside has only `line`, `source`, an empty `text` and
    the reason as `rejected`.

    With --alignments, the words of each line and of its best translation are aligned, one line for
    each: `0-0 1-2` says that the second word of the source is the third word of the translation.
    Words are whatever white space separates or, in scripts without spaces, what the model writes at
    once. With --json, each object has the links as `alignment`, and the words as `source_words` and
    `target_words`.

    Each sentence of a line is translated on its own, and the white space between sentences is kept.
    A sentence that is too long for the model is cut, between clauses if possible, and a warning
    says so. Placeholders, numbers and addresses stay as they are; if a translation would lose one,
    another one that keeps it is searched for, or, with --sample, a warning says so.

    When files are translated to a file, finished work is kept beside the output, as `news.it.part`;
    after an interruption, the same command continues from there. A line that cannot be translated
    is set aside in `news.it.rejected.jsonl` and left empty; the exit code is then 3.

    A page, a book, subtitles and other documents (.html, .md, .epub, .srt, .vtt, .po, .xlf, .docx,
    .pptx, .xlsx, .odt, .odp, .ods) are translated as a whole: what is between their texts, such as
    tags, times and pictures, stays as it is.

    A file: dragoman translate runs/en-it news.en -o news.it

    A document: dragoman translate runs/en-it page.html -o page.it.html

    A long one: dragoman translate runs/en-it news.en -o news.it --jobs 4

    Records: dragoman translate runs/en-it news.jsonl --field title -o translated.jsonl

    A pipe: echo "The cat is on the table." | dragoman translate runs/en-it

    Parameters
    ----------
    model
        A model directory.
    files
        UTF-8 text, or one document; standard input if none is named.
    translation
        What translates, where, and what it keeps.
    search
        Changes to the search settings that come with the model.
    output
        What is written, and where.
    bulk
        Long files and records.
    """
    from dragoman.bulk.formats import check_names, check_names_of_records, choose_format

    if bulk.field is None:
        check_names(files, output.output, are_aligned=output.alignments is not None)
    else:
        check_names_of_records(files, output.output)
    written = [path for path in (output.output, output.alignments) if path is not None]
    read = [*files, *translation.files_read]
    check_outputs(written, models=[model], read=read)
    place = bulk_output(files, output.output, output.alignments, bulk)
    if place is None:
        return _translate_at_once(model, files, translation, search, output)
    from dragoman.bulk.files import rejections_path
    from dragoman.bulk.job import Job

    check_written([*written, rejections_path(place)], read=read)
    settings = _configure(model, search)
    form, reader = _form(output, settings), translation.reader(model)
    loading = translation.settings(model, settings)
    job = Job(
        translator=loading,
        files=choose_format(files, reader, form=form, field=bulk.field, into=bulk.into),
        output=place,
        alignments=output.alignments,
        lines_per_block=loading.lines_per_block,
    )
    return translate_in_bulk(job, bulk)


def _translate_at_once(
    model: Path,
    files: tuple[Path, ...],
    translation: TranslationOptions,
    search: SearchOptions,
    output: OutputOptions,
) -> int:
    """Translate text as it arrives, or a document to standard output; nothing is kept."""
    from dragoman.bulk.document_file import DocumentFile
    from dragoman.bulk.form import WRITERS
    from dragoman.bulk.formats import choose_format
    from dragoman.bulk.stream import (
        open_alignments,
        read_chunks,
        translate_document,
        translate_stream,
    )

    end_by_exit()  # else what was begun of a file stays behind, and no run takes it up
    with (
        open_output(output.output) as stream,
        open_alignments(model, output.alignments) as align,
    ):
        settings = _configure(model, search)
        form, reader = _form(output, settings), translation.reader(model)
        text = choose_format(files, reader, form=form)
        if isinstance(text, DocumentFile) and text.is_archive and stream.isatty():
            raise UsageError(f"{files[0]}: what is written is no text; name the output with -o")
        translator = translation.load(model, settings)
        announce(translator)
        if isinstance(text, DocumentFile):
            warnings = translate_document(translator, text, stream)
        else:
            warnings = translate_stream(
                translator, read_chunks(files), WRITERS[form], stream, align
            )
        warn_of(warnings)
    return 0


def _form(output: OutputOptions, search: "SearchConfig") -> "Form":
    """Choose what is written for a line.

    Raises:
        UsageError: another option makes --scores superfluous.
    """
    if output.scores and output.json:
        raise UsageError("--json writes the scores by itself; leave out --scores")
    if output.scores and search.n_best > 1:
        raise UsageError(
            f"{search.n_best} translations of each line come with their scores; leave out "
            "--scores, or give --n-best 1"
        )
    if output.json:
        return "json"
    if search.n_best > 1:
        return "list"
    return "scores" if output.scores else "text"


def _configure(model: Path, options: SearchOptions) -> "SearchConfig":
    """Apply the options that were given to the model's search settings."""
    from dragoman.model_directory import ModelDirectory

    of_model = ModelDirectory(model).search
    given = {name: value for name, value in vars(options).items() if value is not None}
    with settings_are_options(vars(options)):
        config = replace(of_model, **given)
    if config.samples and not given.keys().isdisjoint(("beam_size", "patience")):
        raise UsageError("sampling uses no beam; leave out --beam-size and --patience")
    return config
