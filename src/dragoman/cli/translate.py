"""`dragoman translate`: lines of text in, as many lines out."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, NamedTuple, cast

from cyclopts import Parameter

from dragoman.cli.alignment_file import Align, open_alignments
from dragoman.cli.translation_options import TranslationOptions, announce
from dragoman.durable import open_whole

if TYPE_CHECKING:
    from dragoman.alignment.links import Links
    from dragoman.decoding.config import SearchConfig
    from dragoman.translator import Translation, Translator

CHUNK_BYTES = 2**20
"""Most that is read at once. A pipe gives what it has, so a slow writer is answered at once."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What differs from the settings that the model brings along."""

    beam_size: int | None = None
    """Unfinished translations of a sentence that are followed at once; 1 is greedy search."""

    length_penalty: float | None = None
    """Exponent of the length penalty; 0 ranks by log-probability alone."""

    n_best: int | None = None
    """Translations of each line."""

    sampling_temperature: Annotated[float | None, Parameter(name="--sample")] = None
    """Draw from the model at this temperature instead of searching; 1 as the model says."""

    top_k: int | None = None
    """Draw from so many of the most probable tokens; 0 is all of them."""

    top_p: float | None = None
    """Draw from the fewest tokens that are at least so probable together."""

    seed: int | None = None
    """Another seed draws other samples."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is written, and where."""

    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Write to this file, which appears when it is complete, instead of standard output."""

    scores: Annotated[bool, Parameter(negative=())] = False
    """Write a tab and the score after each translation."""

    json: Annotated[bool, Parameter(negative=())] = False
    """Write a JSON object for each line."""

    alignments: Path | None = None
    """Write the word alignment of each line to this file, as `0-0 1-2`; needs `dragoman align`."""


class Line(NamedTuple):
    """A line of input."""

    place: str
    """File and number, for messages."""

    text: str
    ending: str
    """What ended it: a line feed, with a carriage return or not, or nothing."""


Write = Callable[[int, Line, "Translation", "Links | None"], str]
"""From the number of a line from 0, the line, its translation and its alignment to the output."""


def translate(
    model: Path,
    /,
    *files: Path,
    translation: TranslationOptions = TranslationOptions(),
    search: SearchOptions = SearchOptions(),
    output: OutputOptions = OutputOptions(),
) -> None:
    """Translate text, line by line, with the model in a directory.

    As many lines come out as went in, in the same order; a blank line stays blank. With --n-best
    above 1 the translations of a line are written one a line as `number ||| text ||| score`,
    where the number is that of the input line, from 0. With --json each input line gives one
    object with `line` (from 1), `source`, `text`, `score`, `confidence` (0 to 1, the geometric mean
    of the tokens' probabilities), `finished`, `faults`, `parts` and `alternatives`.

    With --alignments the words of each line and of its best translation are aligned, a line each:
    `0-0 1-2` says that the second word of the source is the third one of the translation. Words are
    what white space separates. With --json each object has them as `alignment`, too.

    The sentences of a line are translated each for itself, and the white space between them is
    kept. A sentence that is too long for the model is cut between clauses if it can be, which a
    warning says. Placeholders, numbers and addresses stay as they are; where a translation would
    lose one, another is searched that has it.

    A file: dragoman translate runs/en-it news.en -o news.it

    A pipe: echo "The cat is on the table." | dragoman translate runs/en-it

    Parameters
    ----------
    model
        A model directory.
    files
        UTF-8 text; standard input if none is named.
    translation
        What translates, where, and what it keeps.
    search
        What differs from the settings that the model brings along.
    output
        What is written, and where.
    """
    with (
        _open_output(output.output) as stream,
        open_alignments(model, output.alignments) as align,
    ):
        translator = translation.load(model, _configure(model, search))
        announce(translator)
        write = _writer(output, translator)
        _translate_lines(translator, _read_chunks(files), write, stream, align)


def _configure(model: Path, options: SearchOptions) -> "SearchConfig":
    """Change the settings of the model's search that were given."""
    from dragoman.config import RecipeError
    from dragoman.model_directory import ModelDirectory
    from dragoman.translator import default_search

    of_model = default_search(ModelDirectory(model))
    given = {name: value for name, value in vars(options).items() if value is not None}
    try:
        return replace(of_model, **given)
    except ValueError as error:
        raise RecipeError(str(error).replace("a sampling_temperature", "--sample")) from error


def _translate_lines(
    translator: "Translator",
    chunks: Iterator[list[Line]],
    write: Write,
    stream: BinaryIO,
    align: Align,
) -> None:
    """Translate and write chunk after chunk, and warn of what is incomplete."""
    number = 0
    for lines in chunks:
        translations = translator.translate(line.text for line in lines)
        for line, (translation, links) in zip(lines, align(translations), strict=True):
            stream.write(write(number, line, translation, links).encode())
            number += 1
            for warning in _warnings(translation):
                print(f"warning: {line.place}: {warning}", file=sys.stderr)
        stream.flush()


def _warnings(translation: "Translation") -> Iterator[str]:
    """Say what a reader of the translation should know."""
    if translation.cut:
        yield (
            "a sentence has more tokens than the model has seen, so it was cut and the line was "
            f"translated in {len(translation.parts)} parts"
        )
    for fault in translation.faults:
        yield f"the translation {fault}"
    if not translation.finished:
        yield "the translation stopped at the length limit"


def _writer(output: OutputOptions, translator: "Translator") -> Write:
    """Choose the form of the output."""
    if output.json:
        return _as_json
    if translator.search.n_best > 1:
        return _as_list
    return _with_score if output.scores else _as_text


def _as_text(number: int, line: Line, translation: "Translation", links: "Links | None") -> str:
    return translation.text + line.ending


def _with_score(number: int, line: Line, translation: "Translation", links: "Links | None") -> str:
    return f"{translation.text}\t{translation.score:.4f}{line.ending}"


def _as_list(number: int, line: Line, translation: "Translation", links: "Links | None") -> str:
    """Write the n-best list in the format of Moses."""
    return "".join(f"{number} ||| {a.text} ||| {a.score:.4f}\n" for a in translation.alternatives)


def _as_json(number: int, line: Line, translation: "Translation", links: "Links | None") -> str:
    table = {
        "line": number + 1,
        "source": line.text,
        "text": translation.text,
        "score": translation.score,
        "confidence": translation.confidence,
        "finished": translation.finished,
        "faults": translation.faults,
        "parts": translation.parts,
        "alternatives": [
            vars(alternative) | {"confidence": alternative.confidence}
            for alternative in translation.alternatives
        ],
    }
    if links is not None:
        table["alignment"] = sorted(links)
    return json.dumps(table, ensure_ascii=False) + "\n"


def _read_chunks(files: tuple[Path, ...]) -> Iterator[list[Line]]:
    """Read the lines of the files, or of standard input, as they become available."""
    if not files:
        yield from _lines(cast(BufferedReader, sys.stdin.buffer), "standard input")
    for number, path in enumerate(files, start=1):
        with path.open("rb") as stream:
            yield from _lines(stream, str(path), last_ending="" if number == len(files) else "\n")


def _lines(stream: BufferedReader, name: str, *, last_ending: str = "") -> Iterator[list[Line]]:
    """Cut a stream at line feeds, and at nothing else; give the complete lines of each read.

    A last line without a line feed gets `last_ending`, which keeps the next file's first apart.
    """
    from dragoman.corpora.text_file import MAX_LINE_BYTES, CorpusError

    number, rest = 1, b""
    while block := stream.read1(CHUNK_BYTES):
        *complete, rest = (rest + block).split(b"\n")
        if complete:
            yield [_decode(line, "\n", name, number + i) for i, line in enumerate(complete)]
        number += len(complete)
        if len(rest) > MAX_LINE_BYTES:
            raise CorpusError(
                f"{name}:{number}: a line of more than {MAX_LINE_BYTES} bytes; is this text?"
            )
    if rest:
        yield [_decode(rest, last_ending, name, number)]


def _decode(content: bytes, ending: str, name: str, number: int) -> Line:
    """Turn the bytes of one line into text, and set its ending apart."""
    from dragoman.corpora.text_file import BYTE_ORDER_MARK, CorpusError

    if number == 1:
        content = content.removeprefix(BYTE_ORDER_MARK)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{name}:{number}: not UTF-8 (byte 0x{content[error.start]:02x} at position "
            f"{error.start}); convert the text to UTF-8"
        ) from None
    if text.endswith("\r"):
        text, ending = text[:-1], "\r" + ending
    return Line(f"{name}:{number}", text, ending)


def _open_output(path: Path | None) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open standard output, or a file that takes its name only when it is complete."""
    return contextlib.nullcontext(sys.stdout.buffer) if path is None else open_whole(path)
