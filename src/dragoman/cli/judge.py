"""`dragoman judge`: how sure a model is of translations, whoever made them."""

from itertools import tee
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.options import Flag, OutputFileIfAny
from dragoman.cli.text_output import check_outputs, open_output, warn
from dragoman.cli.translation_options import EngineOptions
from dragoman.exit_codes import SOME_REJECTED

if TYPE_CHECKING:
    from dragoman.confidence import Judgement
    from dragoman.corpora.parallel_text import Pair

TOO_LONG = "it has more tokens than the model has seen; split it into sentences"


def judge(
    model: Path,
    pairs: str,
    /,
    *,
    output: OutputFileIfAny = None,
    json: Flag = False,
    computation: EngineOptions = EngineOptions(),
) -> int:
    """Tell how sure a model is of given translations, and of each of their words.

    They may come from a person, another program or the model itself. Use it to find translations
    that need a review, pairs of a corpus that are not translations, or the better one of two.

    For each pair a line is written: the confidence, from 0 to 1, a tab, and the log-probability.
    The confidence is the geometric mean of the probabilities that the model gives the tokens, the
    end included, so it does not depend on the length. With --json, each pair gives one object with
    `pair` (its line, from 1), `source`, `translation`, `confidence`, `words` (each with its `text`
    and `confidence`), `log_probability` and `num_tokens`. Words are spelt as the model sees them:
    in lower case if it knows nothing else, and an unknown word as the model's mark for such words;
    but in capitals where the model is shown them in lower case. In scripts without spaces, a word
    is what the model writes at once.

    The model reads the source as `dragoman translate` shows it: without a list marker or emoji
    around it, and in lower case, names and nouns included, if it is in capitals. It reads the
    translation the same way where that has these too; one that lacks them is not penalised. Tags
    are read as text. The model is not asked about text that stays as it is, such as a number or an
    empty text: the confidence of a pair with the same text on both sides is then 1, for 0 tokens.

    Each pair is treated as one sentence. A pair with more tokens than the model has seen is not
    judged, and a warning says so; it gets a confidence of 0 and, with --json, no words, and
    `rejected` says why. The exit code is then 3.

    For example:

        dragoman judge runs/en-it pairs.tsv -o judged.tsv

    To list the words that the model is not sure of:

        dragoman judge runs/en-it pairs.tsv --json | jq '.words[] | select(.confidence < 0.1)'

    Parameters
    ----------
    model
        A model directory.
    pairs
        Sentences and their translations: TSV, CSV, JSON lines, TMX, PO or XLIFF, plain or
        compressed.
    output
        Write to this file instead of standard output; it appears only when it is complete.
    json
        Write a JSON object for each pair.
    computation
        What computes, and where.
    """
    from dragoman.bulk.job import TranslatorSettings
    from dragoman.corpora.config import CorpusConfig
    from dragoman.corpora.fingerprint import files_of
    from dragoman.corpora.parallel_text import read_pairs
    from dragoman.corpora.signs import Signs

    corpus = CorpusConfig(path=pairs)
    if output is not None:
        check_outputs([output], models=[model], read=[path for _, path in files_of(corpus)])
    directory = computation.find(model)
    languages = directory.description.languages
    signs = Signs(corpus, languages)
    read, written = tee(signs.watch(read_pairs(corpus, languages=languages)))
    search = directory.search.without_sampling()  # nothing is drawn, so any engine will do
    translator = TranslatorSettings(model=model, search=search, **vars(computation)).load()
    judged = translator.judge_pairs((pair.source, pair.target) for pair in read)
    write = _as_json if json else _as_columns
    exit_code = 0
    with open_output(output) as stream:
        for pair, judgement in zip(written, judged, strict=True):
            # A record may hold what UTF-8 cannot, such as a lone surrogate; JSON can escape it.
            stream.write(write(pair, judgement).encode(errors="backslashreplace"))
            if judgement is None:
                exit_code = SOME_REJECTED
                warn(f"{pairs}:{pair.line}: not judged: {TOO_LONG}")
    for warning in signs.warnings():
        warn(f"{pairs}: {warning}")
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
