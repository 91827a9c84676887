"""`dragoman plot`: pictures of what a model is, what it does and how it was trained."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from dragoman.cli.options import Count, OutputFile, WholeNumber
from dragoman.cli.picture_output import (
    PRINTED,
    ending_of,
    warn_of_boxes,
    warn_of_size,
    write_figure_file,
    write_text,
)
from dragoman.cli.text_output import warn
from dragoman.errors import UsageError

if TYPE_CHECKING:
    from dragoman.model.config import TransformerConfig

app = App(name="plot", help="Draw attention, positions, masks, training curves or an architecture.")


@app.command
def attention(
    model: Path,
    sentence: str,
    /,
    *,
    output: OutputFile,
    translation: str | None = None,
    kind: Literal["encoder", "decoder", "cross", "all"] = "all",
    layer: WholeNumber | None = None,
    head: WholeNumber | None = None,
) -> None:
    """Draw what attends to what while a sentence is translated: every kind, layer and head.

    An .html page has buttons to choose a map and shows each weight; an .svg, .png or .pdf has
    everything that was asked for in one picture.

    For example:

        dragoman plot attention runs/en-it "The cat sleeps." -o cat.html
        dragoman plot attention runs/en-it "The cat sleeps." --kind cross --layer 2 -o cat.svg

    Parameters
    ----------
    model
        A model directory.
    sentence
        The sentence to translate; the model reads it as `dragoman translate` would show it. If it
        begins with a dash, put it last, after --.
    output
        The file to write; its ending decides the format.
    translation
        The translation to compute; if left out, the model's own. If you give one, the model reads
        both texts exactly as they are written.
    kind
        Attention of the encoder to itself, of the decoder to itself, or across to the source.
    layer
        Number of a layer, from 1; all layers if left out.
    head
        Number of a head, from 1; all heads if left out.
    """
    ending = ending_of(output, (*PRINTED, "html"))
    from dragoman.model_directory import ModelDirectory
    from dragoman.visualisation.attended_sentence import KINDS, attend, choose
    from dragoman.visualisation.attention_page import attention_page
    from dragoman.visualisation.shown_sentence import ShownSentence, shown_sentence

    directory = ModelDirectory(model)
    languages = directory.description.languages
    shown = ShownSentence(sentence, [])
    if translation is None:
        shown = shown_sentence(directory, sentence)
    maps = attend(directory, shown.text, translation)
    for note in shown.notes:
        warn(note)
    maps = choose(maps, kinds=KINDS if kind == "all" else (kind,), layer=layer, head=head)
    if ending == "html":
        page = attention_page(maps, languages=languages, notes=shown.notes)
        write_text(output, page)
        warn_of_size(page, output, "--kind, --layer and --head choose some of its maps")
        return
    from dragoman.visualisation.attention_figure import attention_figure

    write_figure_file(output, ending, attention_figure(maps))
    warn_of_boxes(ending, [label for each in maps for label in (*each.rows, *each.columns)])


@app.command
def positions(
    model: Path | None = None,
    /,
    *,
    output: OutputFile,
    length: WholeNumber = 100,
    d_model: WholeNumber | None = None,
    convention: Literal["interleaved", "marian", "tensor2tensor"] | None = None,
) -> None:
    """Draw the sinusoids that encode positions: values, similarity, wavelengths.

    For example:

        dragoman plot positions -o positions.png
        dragoman plot positions --d-model 64 --length 50 --convention marian -o positions.svg

    Parameters
    ----------
    model
        A model directory, which decides width and convention; if its positions are rotary, the
        sines and cosines of their angles are drawn.
    output
        The file to write; its ending, .svg, .png or .pdf, decides the format.
    length
        Number of positions.
    d_model
        Width of the encodings if no model is given; if left out, that of the paper.
    convention
        Which dimensions are sines and which are cosines, if no model is given.
    """
    ending = ending_of(output, PRINTED)
    from dragoman.model.config import TransformerConfig
    from dragoman.model_directory import ModelDirectory
    from dragoman.visualisation.positions import position_tables

    if model is not None and (d_model, convention) != (None, None):
        raise UsageError("a model has a --d-model and a --convention of its own; leave them out")
    config = TransformerConfig() if model is None else ModelDirectory(model).description.model
    if config.positional_encoding == "rotary":
        tables = position_tables(length, config.d_k)
        name = f"rotary, d_k = {config.d_k}: queries and keys are turned by these angles"
    else:
        d_model = config.d_model if d_model is None else d_model
        convention = convention or config.positional_encoding
        tables = position_tables(length, d_model, convention)
        name = f"{convention}, d_model = {d_model}"
    from dragoman.visualisation.position_figure import position_figure

    write_figure_file(output, ending, position_figure(tables, name))


@app.command
def masks(*, output: OutputFile) -> None:
    """Draw where attention may look in an example batch: padding mask, causal mask, and both.

    Parameters
    ----------
    output
        The file to write; its ending, .svg, .png, .pdf or .html, decides the format.
    """
    ending = ending_of(output, (*PRINTED, "html"))
    from dragoman.visualisation.mask_examples import mask_examples
    from dragoman.visualisation.mask_pictures import mask_figure, mask_page

    examples = mask_examples()
    if ending == "html":
        write_text(output, mask_page(examples))
    else:
        write_figure_file(output, ending, mask_figure(examples))


@app.command
def training(runs: Annotated[list[Path], Parameter(negative=())], /, *, output: OutputFile) -> None:
    """Draw loss, scores, learning rate and speed of one or several runs.

    For example:

        dragoman plot training runs/en-it -o curves.svg
        dragoman plot training runs/adamw runs/muon -o compared.html

    Parameters
    ----------
    runs
        Directories written by `dragoman train`, finished or not; at most six, as there are only six
        colours.
    output
        The file to write; its ending, .svg, .png, .pdf or .html, decides the format.
    """
    ending = ending_of(output, (*PRINTED, "html"))
    from dragoman.training.journal import JOURNAL, read_journal
    from dragoman.visualisation.training_curves import training_curves, training_panels

    names = [str(run) for run in runs]
    curves = [training_curves(str(run), read_journal(run / JOURNAL)) for run in runs]
    panels = training_panels(curves)
    if ending == "html":
        from dragoman.visualisation.line_chart import training_page

        write_text(output, training_page(panels, names))
        return
    from dragoman.visualisation.training_figure import training_figure

    write_figure_file(output, ending, training_figure(panels, names))


@app.command
def architecture(
    recipe_or_model: Path, /, *, output: OutputFile, vocab_size: Count | None = None
) -> None:
    """Draw the paper's figure 1 for a recipe or a model, with shapes and parameters by part.

    For example:

        dragoman plot architecture runs/en-it -o figure1.svg
        dragoman plot architecture my.toml --vocab-size 8000 -o figure1.html

    Parameters
    ----------
    recipe_or_model
        A recipe, or a model directory.
    output
        The file to write; its ending, .svg or .html, decides the format.
    vocab_size
        Size of the vocabulary, for a recipe that leaves it to the text.
    """
    ending = ending_of(output, ("svg", "html"))
    from dragoman.visualisation.architecture import architecture_of
    from dragoman.visualisation.architecture_drawing import (
        STYLE,
        architecture_page,
        draw_architecture,
    )
    from dragoman.visualisation.svg import standalone

    config, source, target = _sizes(recipe_or_model, vocab_size)
    model = architecture_of(config, source_vocab_size=source, target_vocab_size=target)
    if ending == "html":
        write_text(output, architecture_page(model))
    else:
        write_text(output, standalone(draw_architecture(model), style=STYLE))


def _sizes(recipe_or_model: Path, vocab_size: int | None) -> tuple["TransformerConfig", int, int]:
    """Read the architecture and the sizes of the vocabularies from a model or a recipe."""
    if recipe_or_model.is_dir():
        if vocab_size is not None:
            raise UsageError(f"{recipe_or_model}: a model has a vocabulary; leave out --vocab-size")
        from dragoman.model_directory import ModelDirectory

        directory = ModelDirectory(recipe_or_model)
        directory.refuse_ensemble()
        description = directory.description
        tokenizer = description.tokenizer
        return description.model, tokenizer.source_vocab_size, tokenizer.target_vocab_size
    from dragoman.planning.planned_run import sizes_of
    from dragoman.recipe import read_recipe

    recipe, _, given = read_recipe(recipe_or_model)
    if not sizes_of(given):
        raise UsageError(
            f"{recipe_or_model}: its sizes are chosen when it is trained; draw a recipe that "
            "dragoman plan has written, or the model"
        )
    of_recipe = recipe.tokenizer.vocab_size
    if vocab_size is not None and of_recipe is not None:
        raise UsageError(
            f"{recipe_or_model}: it sets tokenizer.vocab_size = {of_recipe}; leave out --vocab-size"
        )
    size = vocab_size or of_recipe
    if size is None:
        raise UsageError(
            f"{recipe_or_model}: it leaves the size of the vocabulary to the text; "
            "give --vocab-size"
        )
    return recipe.model, size, size


@app.command
def report(model: Path, /) -> None:
    """Write the report.html of a model directory again, as at the end of its training.

    Parameters
    ----------
    model
        A directory written by `dragoman train`.
    """
    from dragoman.pipeline.report import write_report

    print(f"wrote {write_report(model)}")
