"""`dragoman plan`: a recipe for a text, a machine and a time."""

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from dragoman.cli.options import Flag, Languages, Minutes, OutputFileIfAny
from dragoman.cli.termination import end_by_exit
from dragoman.cli.text_output import print_json, print_utf8
from dragoman.durable import check_written, open_whole


def plan(
    *pairs: str,
    languages: Languages = "en-it",
    minutes: Minutes = 60,
    output: OutputFileIfAny = None,
    json: Flag = False,
) -> None:
    """Choose vocabulary, model, batches and schedule for a text, and predict time and memory.

    The text is read, and a model that suits it and the time is trained for about a minute and
    validated, which takes one to five minutes in all, so that the prediction rests on a
    measurement. The recipe explains its choices, as a whole and next to each setting.

    For example:

        dragoman plan pairs.tsv --languages en-it --minutes 30 -o my.toml
        dragoman train my.toml

    Parameters
    ----------
    pairs
        The training text, in any form that a recipe's `corpora.train` accepts as a path.
    languages
        The language codes of source and target.
    minutes
        How long the whole training may take on this machine.
    output
        The recipe to write; standard output if left out. An existing file is replaced if it is
        unchanged since `dragoman plan` wrote it.
    json
        Print one JSON object, for programs.
    """
    from dragoman.corpora.fingerprint import refuse_pipes
    from dragoman.corpora.languages import parse_languages, warn_of_unknown
    from dragoman.planning.plan import make_plan
    from dragoman.recipe import recipe_from_table

    _check_pairs(pairs, minutes)
    train = [{"path": path} for path in pairs]
    if output is not None:
        _check_output(output, pairs)
    source, target = parse_languages(languages)
    given = {"source_language": source, "target_language": target, "corpora": {"train": train}}
    corpora = recipe_from_table(given).corpora  # refuses now what training would refuse later
    warn_of_unknown((source, target), _say)
    # An output that cannot be written must fail now, not at the end; and signals clean up.
    end_by_exit()
    with contextlib.nullcontext() if output is None else open_whole(output) as file:
        refuse_pipes(corpora)
        made = make_plan(given, minutes, _say)
        if file is not None:
            file.write(made.as_toml().encode())
            for line in made.reasons:
                _say(line)
            _say(made.prediction)
    if json:
        prediction = {"minutes": made.minutes, "peak_mib": made.peak_mib}
        why = {"reasons": made.reasons, "why": made.why}
        print_json({"recipe": made.recipe, **prediction, **why})
    elif output is None:
        print_utf8(made.as_toml().removesuffix("\n"))


def _say(message: str) -> None:
    print(message, file=sys.stderr)


def _check_pairs(pairs: Sequence[str], minutes: float) -> None:
    """Refuse to plan for nothing, or for a recipe.

    Raises:
        UsageError: that was asked for.
        DragomanError: there is no such recipe.
    """
    from dragoman.errors import UsageError
    from dragoman.planning.planned_run import sizes_of
    from dragoman.recipe import read_recipe

    if not pairs:
        raise UsageError("name the text to plan for: PAIRS")
    for path in pairs:
        if not path.endswith(".toml"):
            continue
        recipe, _, given = read_recipe(Path(path))
        if sizes := sizes_of(given):
            raise UsageError(
                f"{path}: name the text here, as in dragoman plan TEXT --languages "
                f"{'-'.join(recipe.languages)}; this recipe has sizes already ({', '.join(sizes)})"
            )
        raise UsageError(
            f"{path}: name the text here; a recipe without sizes is planned when it is "
            f"trained: dragoman train {quote(path)} --minutes {minutes:g}"
        )


def _check_output(output: Path, pairs: Sequence[str]) -> None:
    """Refuse to overwrite the text, or anything that is not a plan.

    Raises:
        UsageError: that is there.
        CorpusError: a path cannot be understood.
    """
    from dragoman.corpora.config import CorpusConfig
    from dragoman.corpora.fingerprint import files_of
    from dragoman.errors import UsageError
    from dragoman.planning.plan import is_planned

    corpora = [CorpusConfig(path=path) for path in pairs]
    check_written([output], [path for corpus in corpora for _, path in files_of(corpus)])
    if output.is_file() and output.stat().st_size and not is_planned(output):
        raise UsageError(
            f"{output}: it exists, and not as dragoman plan wrote it; name another file"
        )
