"""`dragoman import`: other people's models, turned into model directories."""

from dataclasses import asdict
from pathlib import Path

from cyclopts import App

from dragoman.cli.options import Flag, OutputIfAny
from dragoman.cli.text_output import print_json, warn
from dragoman.counting import counted

app = App(name="import", help="Convert other people's models into model directories.")


@app.command
def marian(
    directory: Path,
    /,
    *,
    output: OutputIfAny = None,
    languages: str | None = None,
    language_token: str | None = None,
    json: Flag = False,
) -> None:
    """Import a Marian model in Hugging Face's format, such as those of OPUS-MT.

    If transformers is installed, both then translate sentences, and the results must be equal.

    For example:

        dragoman import marian opus-mt-en-it -o models/en-it
        dragoman import marian opus-mt-en-ROMANCE -o models/en-it --language-token ">>ita<<"

    Parameters
    ----------
    directory
        A directory with config.json, model.safetensors, source.spm, target.spm and vocab.json.
    output
        The model directory to write, which must not exist yet; `models/` and the name of the
        imported directory if left out.
    languages
        The codes of source and target, such as en-it; if left out, tokenizer_config.json and the
        language token decide.
    language_token
        The target language of a model with several, as its vocabulary writes it; "" is none, and
        in the text such a token is plain text.
    json
        Print one JSON object, for programs.
    """
    from dragoman.corpora.languages import parse_languages
    from dragoman.interop.marian_import import import_marian

    made = output or Path("models") / directory.resolve().name
    result = import_marian(
        directory,
        made,
        languages=None if languages is None else parse_languages(languages),
        language_token=language_token,
    )
    if json:
        print_json({"output": str(made), **asdict(result)})
        return
    agreement, others, bad_words = result.proof, result.texts_cut_otherwise, result.bad_words_ids
    if agreement is None:
        print("not proved: install transformers")
    else:
        print(
            f"proved: {agreement.num_equal} of {agreement.num_sentences} translations equal those "
            "of transformers, log-probabilities differ by at most "
            f"{agreement.largest_difference:.1e}"
        )
    if others:
        warn(
            f"MarianTokenizer cuts or joins {len(others)} of the texts differently, such as "
            f"{others[0]!r}"
        )
    if bad_words:
        warn(
            f"its bad_words_ids keep {counted(len(bad_words), 'sequence')} of tokens out of "
            f"translations, such as {bad_words[0]}; here translations may have them"
        )
    print(f"imported {directory} into {made}")
