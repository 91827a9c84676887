"""Which layer and head of the cross-attention aligns words best."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product, repeat

from dragoman.alignment.links import AlignmentError, ErrorRate, GoldAlignment, Links
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


def measure(attention: Iterable[Weights], text: AlignedText) -> list[Candidate]:
    """Align a text by every head, and by the mean of the heads of every layer.

    Args:
        attention: For each pair, of shape (layers, heads, target words, source words); taken one by
            one, as those of a long text take much memory.
        text: The pairs.
    """
    tallies = defaultdict[tuple[int, int | None], _Tally](_Tally)
    gold = repeat(None, len(text.pairs)) if text.gold is None else text.gold
    for weights, of_pair in zip(attention, gold, strict=True):
        num_layers, num_heads = weights.shape[:2]
        heads = (*range(1, num_heads + 1), None)
        for layer, head in product(range(1, num_layers + 1), heads):
            directions = both_directions(of_head(weights, layer, head))
            tallies[layer, head].add(*directions, of_pair)
    return [
        Candidate(
            layer=layer,
            head=head,
            agreement=tally.agreement,
            error_rate=None if text.gold is None else tally.error_rate.value,
        )
        for (layer, head), tally in tallies.items()
    ]


@dataclass
class _Tally:
    """Counts of the links that a candidate finds."""

    shared: int = 0
    """By both directions."""

    linked: int = 0
    """By either, those of both twice."""

    error_rate: ErrorRate = field(default_factory=ErrorRate)

    def add(self, one: Links, other: Links, gold: GoldAlignment | None) -> None:
        """Count the links of a pair, which the two directions have found."""
        self.shared += len(one & other)
        self.linked += len(one) + len(other)
        if gold is not None:
            self.error_rate.add(one | other, gold)

    @property
    def agreement(self) -> float:
        """Dice's coefficient of the links of both directions."""
        return 2 * self.shared / self.linked if self.linked else 0.0


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
