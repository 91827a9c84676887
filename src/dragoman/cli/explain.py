"""`dragoman explain`: one translation, walked through."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.options import Flag, OutputFileIfAny, WholeNumber, settings_are_options
from dragoman.cli.text_output import print_utf8, warn

if TYPE_CHECKING:
    from dragoman.decoding.config import SearchConfig
    from dragoman.model_directory import ModelDirectory


def explain(
    model: Path,
    sentence: str,
    /,
    *,
    output: OutputFileIfAny = None,
    beam_size: WholeNumber | None = None,
    json: Flag = False,
) -> None:
    """Show how a sentence is translated: every head, every sublayer, every candidate.

    Writes one page that walks through the model in the order of "Attention Is All You Need", with
    the numbers of this model and this sentence. The page needs no network and no script.

    For example:

        dragoman explain runs/en-it "The cat is on the table." -o cat.html

    Parameters
    ----------
    model
        A model directory.
    sentence
        The sentence to translate; the model reads it as `dragoman translate` would show it. If it
        begins with a dash, put it last, after --.
    output
        The HTML page to write.
    beam_size
        Unfinished translations that are followed at once; the model's own beam size if left out.
    json
        Print everything as one JSON object, for programs.
    """
    from dragoman.cli.picture_output import ending_of, warn_of_size
    from dragoman.durable import write_atomically
    from dragoman.errors import UsageError
    from dragoman.model_directory import ModelDirectory
    from dragoman.visualisation.explain_page import explain_page
    from dragoman.visualisation.shown_sentence import shown_sentence
    from dragoman.visualisation.trace import trace_translation
    from dragoman.visualisation.trace_json import trace_json

    if output is None and not json:
        raise UsageError("name the page with -o FILE.html, or ask for --json")
    if output is not None:
        ending_of(output, ("html",))
    directory = ModelDirectory(model)
    shown = shown_sentence(directory, sentence)
    trace = trace_translation(directory, shown.text, _configure(directory, beam_size))
    for note in shown.notes:
        warn(note)
    if output is not None:
        page = explain_page(trace, shown.notes)
        write_atomically(output, page)
        warn_of_size(page, output, "a shorter sentence makes a smaller one")
    if json:
        print_utf8(trace_json(trace))
    else:
        print(f"wrote {output}")


def _configure(directory: "ModelDirectory", beam_size: int | None) -> "SearchConfig":
    """Take the model's search settings, with another beam size if one was given.

    Samples have no candidates to show: where a model draws, what it is sure of is searched for.
    """
    search = directory.search.without_sampling() if directory.search.samples else directory.search
    if beam_size is None:
        return search
    with settings_are_options(["beam_size"]):
        return replace(search, beam_size=beam_size, n_best=min(search.n_best, beam_size))
