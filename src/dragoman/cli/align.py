"""`dragoman align`: find the attention that aligns words."""

from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.options import Flag
from dragoman.cli.text_output import print_json
from dragoman.counting import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dragoman.alignment.choice import AlignedText, Candidate
    from dragoman.model_directory import AlignmentDescription


def align(
    model: Path,
    pairs: str | None = None,
    /,
    *,
    gold: Path | None = None,
    json: Flag = False,
) -> None:
    """Find the layer and head whose attention to the source aligns words best.

    The choice is saved in the model's description, and `dragoman translate --alignments` uses it.
    The model computes given translations, and each head is judged by its alignment error rate (Och
    and Ney 2003). Where nobody has aligned the words, the mean of the heads of each layer is judged
    by how often a source and a target word give each other their largest weight.

    A model between English and Italian is judged on 500 test sentences of the embedded corpus,
    whose alignments are known:

        dragoman align runs/en-it

    Other models need sentence pairs, a few hundred that the model was not trained on:

        dragoman align runs/en-de test.tsv

    Parameters
    ----------
    model
        A model directory.
    pairs
        Sentence pairs to judge by: TSV, CSV, JSON lines, TMX, PO or XLIFF, plain or compressed.
    gold
        The word alignments of the pairs, one per line: `0-0 1?2` is a sure link and a possible one,
        between words that are separated by white space and counted from 0; in scripts without
        spaces, between those that `dragoman translate --alignments` counts.
    json
        Print one JSON object, for programs.
    """
    from dragoman.alignment.aligner import Aligner
    from dragoman.alignment.choice import check_pairs, choose, measure
    from dragoman.alignment.links import check_gold
    from dragoman.model_directory import update_description

    aligner = Aligner(model)
    description = aligner.directory.description
    text = _text(description.languages, pairs, gold)
    num_words = [(len(source), len(target)) for source, target in aligner.words(text.pairs)]
    if gold is not None and text.gold is not None:
        check_gold(gold, text.gold, num_words)
    check_pairs(text, num_words)
    candidates = measure(aligner.attention(text.pairs), text)
    chosen = choose(candidates, text)
    update_description(model, alignment=chosen)
    if json:
        print_json({"candidates": list(map(vars, candidates)), "chosen": vars(chosen)})
    else:
        _print_table(candidates, chosen, text)


def _text(languages: tuple[str, str], pairs: str | None, gold: Path | None) -> "AlignedText":
    """Read what to judge by."""
    from dragoman.alignment.choice import AlignedText, primer_text
    from dragoman.alignment.links import AlignmentError, read_gold
    from dragoman.corpora.config import CorpusConfig
    from dragoman.corpora.parallel_text import read_pairs
    from dragoman.errors import UsageError

    if pairs is None:
        if gold is not None:
            raise UsageError("--gold needs PAIRS, the sentence pairs that it aligns")
        return primer_text(languages)
    corpus = CorpusConfig(path=pairs)
    read = tuple((pair.source, pair.target) for pair in read_pairs(corpus, languages=languages))
    aligned = None if gold is None else tuple(read_gold(gold))
    if aligned is not None and len(aligned) != len(read):
        raise AlignmentError(
            f"{gold}: {counted(len(aligned), 'line')}, but {pairs} has "
            f"{counted(len(read), 'sentence pair')}"
        )
    return AlignedText(name=corpus.name, pairs=read, gold=aligned)


def _print_table(
    candidates: "Sequence[Candidate]", chosen: "AlignmentDescription", text: "AlignedText"
) -> None:
    """Print a row for each layer, a column for each head, and the choice."""
    what = "agreement of both directions" if text.gold is None else "alignment error rate"
    print(f"{what} on {counted(len(text.pairs), 'pair')} of {text.name}\n")
    num_heads = max(each.head or 0 for each in candidates)
    names = [f"head {number}" for number in range(1, num_heads + 1)]
    print("".join(f"{name:>9}" for name in ("", *names, "mean")))
    for layer in range(1, candidates[-1].layer + 1):
        values = [
            each.agreement if each.error_rate is None else each.error_rate
            for each in candidates
            if each.layer == layer
        ]
        print(f"{f'layer {layer}':>9}" + "".join(f"{value:9.3f}" for value in values))
    head = "the mean of its heads" if chosen.head is None else f"head {chosen.head}"
    print(f"\nwords are aligned by layer {chosen.layer}, {head}")
