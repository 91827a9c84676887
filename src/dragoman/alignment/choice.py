"""Which layer and head of the cross-attention aligns words best."""

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.alignment.links import AlignmentError, GoldAlignment, Links, error_rate
from dragoman.alignment.words import Weights, both_directions, of_head
from dragoman.corpora.primer.corpus import generate
from dragoman.corpora.primer.spelling import words
from dragoman.model_directory import AlignmentDescription

PRIMER_LANGUAGES = ("en", "it")
PRIMER_PAIRS = 500


@dataclass(frozen=True, kw_only=True)
class AlignedText:
    """Sentence pairs, with gold alignments if there are any."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    gold: tuple[GoldAlignment, ...] | None


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """How well one layer and head aligns a text."""

    layer: int
    """From 1, as is the head."""

    head: int | None
    """None is the mean of all heads of the layer."""

    agreement: float
    """Dice coefficient of the links that the two directions find."""

    error_rate: float | None
    """AER, if there are gold alignments."""


def command_to_align(languages: tuple[str, str], model: str) -> str:
    """Write the command that finds the attention, which needs text unless the embedded fits.

    Args:
        languages: Source and target of the model.
        model: Its directory, as a shell takes it.
    """
    return f"dragoman align {model}{'' if _is_of_primer(languages) else ' PAIRS'}"


def _is_of_primer(languages: tuple[str, str]) -> bool:
    """Tell whether the embedded corpus has these languages, in either direction."""
    return sorted(languages) == sorted(PRIMER_LANGUAGES)


def primer_text(languages: tuple[str, str]) -> AlignedText:
    """Take test sentences of the embedded corpus, whose alignments are known.

    Its words are finer than what white space separates; a link between two of them counts for the
    words that contain them. All links are sure.

    Raises:
        AlignmentError: it is in other languages.
    """
    if not _is_of_primer(languages):
        raise AlignmentError(
            f"the embedded corpus is English and Italian, the model is {'-'.join(languages)}; name "
            "a file of sentence pairs"
        )
    pairs, gold = [], []
    for pair in generate(PRIMER_PAIRS, seed=0, split="test"):
        english, italian = _standing_in(pair.source), _standing_in(pair.target)
        links = {(english[i], italian[j]) for i, j in pair.alignment}
        if languages == PRIMER_LANGUAGES:
            pairs.append((pair.source, pair.target))
        else:
            pairs.append((pair.target, pair.source))
            links = {(j, i) for i, j in links}
        gold.append(GoldAlignment(sure=frozenset(links), possible=frozenset(links)))
    return AlignedText(name="the embedded corpus", pairs=tuple(pairs), gold=tuple(gold))


def _standing_in(text: str) -> list[int]:
    """Tell which word, as white space separates them, contains each word of the embedded corpus."""
    return [place for place, token in enumerate(text.split()) for _ in words(token)]


def check_pairs(text: AlignedText, num_words: Sequence[tuple[int, int]]) -> None:
    """Refuse text that every head aligns alike.

    Args:
        text: The pairs.
        num_words: How many words the source and the target of each pair have.

    Raises:
        AlignmentError: no pair has several words on both sides.
    """
    if not any(min(both) > 1 for both in num_words):
        raise AlignmentError(
            f"no pair of {text.name} has several words on both sides, so it cannot show which "
            "head aligns them"
        )


def measure(attention: Sequence[Weights], text: AlignedText) -> list[Candidate]:
    """Align a text by every head, and by the mean of the heads of every layer.

    Args:
        attention: For each pair, of shape (layers, heads, target words, source words).
        text: The pairs.
    """
    num_layers, num_heads = attention[0].shape[:2]
    return [
        _measure(layer, head, attention, text.gold)
        for layer in range(1, num_layers + 1)
        for head in (*range(1, num_heads + 1), None)
    ]


def _measure(
    layer: int,
    head: int | None,
    attention: Sequence[Weights],
    gold: Sequence[GoldAlignment] | None,
) -> Candidate:
    directions = [both_directions(of_head(each, layer, head)) for each in attention]
    links: list[Links] = [one | other for one, other in directions]
    return Candidate(
        layer=layer,
        head=head,
        agreement=_agreement(directions),
        error_rate=None if gold is None else error_rate(zip(links, gold, strict=True)),
    )


def _agreement(directions: Sequence[tuple[Links, Links]]) -> float:
    """Compute Dice's coefficient of the links of both directions, over all pairs."""
    shared = sum(len(one & other) for one, other in directions)
    total = sum(len(one) + len(other) for one, other in directions)
    return 2 * shared / total if total else 0.0


def choose(candidates: Sequence[Candidate], text: AlignedText) -> AlignmentDescription:
    """Choose the candidate with the fewest errors.

    Without gold alignments, it is the layer whose heads' mean agrees most. Single heads are then
    left out: where gold is known, those that agree most are further from the best, on average.
    """

    def badness(candidate: Candidate) -> float:
        if candidate.error_rate is None:
            return -candidate.agreement
        return candidate.error_rate

    best = min((each for each in candidates if text.gold or each.head is None), key=badness)
    return AlignmentDescription(**vars(best), text=text.name, pairs=len(text.pairs))
