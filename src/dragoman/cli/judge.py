"""`dragoman judge`: how sure a model is of translations, whoever has made them."""

import sys
from itertools import tee
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dragoman.cli.options import OutputIfAny
from dragoman.cli.text_output import check_outputs, open_output
from dragoman.device import Precision
from dragoman.engines.protocol import EngineKind
from dragoman.exit_codes import SOME_REJECTED

if TYPE_CHECKING:
    from dragoman.confidence import Judgement
    from dragoman.corpora.parallel_text import Pair

TOO_LONG = "it has more tokens than the model has seen; cut it into its sentences"


def judge(
    model: Path,
    pairs: str,
    /,
    *,
    output: OutputIfAny = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    engine: EngineKind = "auto",
    device: str = "auto",
    precision: Precision = "auto",
) -> int:
    """Tell how sure a model is of translations that are given, and of each of their words.

    They may be a person's, another program's or the model's own: to find those that should be
    looked at, the pairs of a corpus that are no translations, or the better one of two.

    For each pair a line is written: the confidence, from 0 to 1, a tab, and the log-probability.
    The confidence is the geometric mean of the probabilities that the model gives the tokens, the
    end included; so it does not depend on the length. With --json each pair gives one object with
    `pair` (its line, from 1), `source`, `translation`, `confidence`, `words`, each with its `text`
    and its `confidence`, `log_probability` and `num_tokens`. Words are spelt as the model sees
    them: in small letters if it knows no others, and a word that it does not know as its mark; but
    in capitals where the model is shown small letters for them.

    The model reads the source as `dragoman translate` shows it: without the mark of a list or the
    emoji around it, and in small letters, names and nouns, too, if it is in capitals. It reads the
    translation so where that has them, too; one that lacks them loses nothing by it. Tags are read
    as text. Of what stays as it is, as a number or an empty text does, the model is not asked: the
    confidence of a pair of the same is 1, of 0 tokens.

    Each pair is taken for one sentence. One of more tokens than the model has seen is not judged,
    which a warning says; it gets a confidence of 0, with --json no words, and `rejected` says why.
    The exit code is 3 then.

    For example:

        dragoman judge runs/en-it pairs.tsv -o judged.tsv

    The words that the model is not sure of, as a program reads them:

        dragoman judge runs/en-it pairs.tsv --json | jq '.words[] | select(.confidence < 0.1)'

    Parameters
    ----------
    model
        A model directory.
    pairs
        Sentences and their translations: TSV, CSV, JSON lines or TMX, plain or compressed.
    output
        Write to this file, which appears when it is complete, instead of standard output.
    json
        Write a JSON object for each pair.
    engine
        ctranslate2 needs the copy that `dragoman export` makes; auto takes it if it is there.
    device
        A name that PyTorch knows, such as cpu or cuda:1; auto takes a GPU if there is one.
    precision
        Of PyTorch's matrix products; auto is bf16 where the hardware has it, and else fp32.
    """
    from dragoman.corpora.config import CorpusConfig
    from dragoman.corpora.parallel_text import read_pairs
    from dragoman.corpora.signs import Signs
    from dragoman.corpora.text_file import expand
    from dragoman.model_directory import ModelDirectory
    from dragoman.translator import Translator

    if output is not None:
        check_outputs([output], model=model, read=[expand(pairs)])
    languages = ModelDirectory(model).description.languages
    corpus = CorpusConfig(path=pairs)
    signs = Signs(corpus, languages)
    read, written = tee(signs.watch(read_pairs(corpus, languages=languages)))
    translator = Translator(model, engine=engine, device=device, precision=precision)
    judged = translator.judge_pairs((pair.source, pair.target) for pair in read)
    write = _as_json if json else _as_columns
    exit_code = 0
    with open_output(output) as stream:
        for pair, judgement in zip(written, judged, strict=True):
            # A record may hold what no UTF-8 can, as a lone surrogate; JSON has an escape for it.
            stream.write(write(pair, judgement).encode(errors="backslashreplace"))
            if judgement is None:
                exit_code = SOME_REJECTED
                print(f"warning: {pairs}:{pair.line}: not judged: {TOO_LONG}", file=sys.stderr)
    for warning in signs.warnings():
        print(f"warning: {pairs}: {warning}", file=sys.stderr)
    return exit_code


def _as_columns(pair: "Pair", judgement: "Judgement | None") -> str:
    if judgement is None:
        return "0.0000\t-inf\n"
    return f"{judgement.confidence:.4f}\t{judgement.log_probability:.4f}\n"


def _as_json(pair: "Pair", judgement: "Judgement | None") -> str:
    table = {"pair": pair.line, "source": pair.source, "translation": pair.target}
    if judgement is None:
        table |= {"confidence": 0.0, "words": [], "rejected": TOO_LONG}
    else:
        table |= {
            "confidence": judgement.confidence,
            "words": list(map(vars, judgement.words)),
            "log_probability": judgement.log_probability,
            "num_tokens": judgement.num_tokens,
        }
    return dumps(table, ensure_ascii=False) + "\n"
