"""`dragoman shortlist`: learn which target tokens a source sentence may need."""

from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from dragoman.cli.options import Flag, WholeNumber, settings_are_options
from dragoman.cli.text_output import print_json
from dragoman.counting import counted

if TYPE_CHECKING:
    from dragoman.shortlist.learning import Learnt


def shortlist(
    model: Path,
    pairs: str,
    /,
    *more_pairs: str,
    frequent: WholeNumber = 100,
    translations: WholeNumber = 100,
    json: Flag = False,
) -> None:
    """Learn a lexical shortlist from sentence pairs, and keep it in the model's directory.

    `dragoman translate --shortlist` then considers only a few tokens for each sentence, not the
    whole vocabulary: the most frequent ones, the best translations of each source token (IBM Model
    1; Brown et al. 1993), and the source tokens themselves, so that names and numbers can be
    copied. Give it the text that the model was trained on.

    5 % of the pairs, but at most 1,000, are held out. The command prints how much of their
    translations the lists contain, and how long the lists are.

    For example:

        dragoman shortlist runs/en-it train.tsv

    Parameters
    ----------
    model
        A model directory.
    pairs
        Sentence pairs: TSV, CSV, JSON lines, TMX, PO or XLIFF, plain or compressed.
    more_pairs
        More files of sentence pairs.
    frequent
        How many of the most frequent target tokens are on every list.
    translations
        How many translations of each source token are on a list.
    json
        Print one JSON object, for programs.
    """
    from dragoman.model_directory import ModelDirectory
    from dragoman.shortlist.learning import learn_for_model
    from dragoman.shortlist.shortlist import ShortlistConfig

    directory = ModelDirectory(model)
    with settings_are_options(["frequent", "translations"]):
        config = ShortlistConfig(frequent=frequent, translations=translations)
    learnt = learn_for_model(directory, (pairs, *more_pairs), config)
    if json:
        print_json(asdict(learnt))
    else:
        _print(learnt, directory.description.tokenizer.target_vocab_size, model)


def _print(learnt: "Learnt", vocab_size: int, model: Path) -> None:
    coverage = learnt.coverage
    without = f"; {learnt.left_out:,} too long or empty ones were left out" * bool(learnt.left_out)
    pairs, others = counted(learnt.pairs, "pair"), counted(coverage.pairs, "other")
    print(f"learnt from {pairs}, measured on {others}{without}")
    print(f"a list has {coverage.mean_length:,.0f} of {vocab_size:,} tokens on average")
    print(
        f"it contains {coverage.tokens:.1%} of the tokens of the translations, and all tokens of "
        f"{coverage.sentences:.1%} of them"
    )
    print(f'\n"dragoman translate {quote(str(model))} --shortlist" uses it')
