"""Leave out the pairs that teach nothing or the wrong thing, and count them by reason."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from dragoman.batched import batched
from dragoman.corpora.config import CleaningConfig
from dragoman.corpora.parallel_text import Pair
from dragoman.corpora.seen import SeenTexts
from dragoman.languages.scripts import (
    are_varieties,
    letters_outside,
    share_in_script,
    weighted_length,
)
from dragoman.tokenizers.normalisation import learnable

BLOCK = 4096  # pairs examined together, so that duplicates are found with array operations
SHORT = 20  # characters up to which a ratio of lengths says nothing

CONTROL_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
"""All but tab, line feed and carriage return, which become spaces when text is normalised."""

ENCODED_TWICE = re.compile("[ÂÃ][\x80-\xba\xbc-\xbf‚ƒ„†‡ˆ‰Š‹ŒŽ•˜™šœžŸ]|â€")
"""What the UTF-8 of European letters and marks becomes when it is read as Windows-1252, such as Ã¨
for è; without what a word in capitals and a mark or dash after it may form."""

DUPLICATE = "duplicate"

Fault = Callable[[Pair], bool]


class CleaningReport:
    """What cleaning did: the pairs that it read and did not drop are those that it has kept."""

    def __init__(self) -> None:
        self.read = 0
        self.dropped: Counter[str] = Counter()
        """How many were left out for each reason; a pair counts for its first reason only."""

    def drop(self, pair: Pair, reason: str) -> None:
        """Count a pair that is left out."""
        self.dropped[reason] += 1


def clean(
    pairs: Iterable[Pair],
    config: CleaningConfig,
    report: CleaningReport,
    *,
    languages: tuple[str, str],
    seen: SeenTexts | None = None,
) -> Iterator[Pair]:
    """Yield the pairs worth learning from, in their order and as they are.

    Args:
        pairs: What was read.
        config: The thresholds.
        report: Filled in block by block; it is consistent whenever a pair is yielded.
        languages: The codes of the source and of the target, for their scripts.
        seen: The pairs that came before; share it to find duplicates across corpora.
    """
    faults = _faults(config, languages)
    seen = SeenTexts() if seen is None else seen
    for block in batched(pairs, BLOCK):
        good = list(_without_faults(block, faults, report))
        if config.drop_duplicates:
            good = list(_without_duplicates(good, seen, report))
        report.read += len(block)
        yield from good


def _faults(config: CleaningConfig, languages: tuple[str, str]) -> dict[str, Fault]:
    """Return the enabled rules by the reason they give, cheap ones first."""
    faults: dict[str, Fault] = {
        "empty": is_empty,
        "too long": lambda pair: is_too_long(pair, config.max_characters, config.max_words),
        "length ratio": lambda pair: length_ratio(pair) > config.max_length_ratio,
    }
    if config.drop_identical and not are_varieties(*languages):
        faults["identical sides"] = lambda pair: pair.source.strip() == pair.target.strip()
    if config.drop_control_characters:
        faults["control characters"] = lambda pair: _occurs(CONTROL_CHARACTER, pair)
        faults["encoded twice"] = lambda pair: _occurs(ENCODED_TWICE, pair)
    outside = [letters_outside(language) for language in languages]
    faults["wrong script"] = lambda pair: any(
        foreign is not None and is_in_other_script(text, other, foreign, config.min_script_share)
        for text, other, foreign in zip(pair[:2], pair[1::-1], outside, strict=True)
    )
    return faults


def _without_faults(
    pairs: list[Pair], faults: dict[str, Fault], report: CleaningReport
) -> Iterator[Pair]:
    """Leave out each pair that a rule finds fault with."""
    for pair in pairs:
        for reason, has_fault in faults.items():
            if has_fault(pair):
                report.drop(pair, reason)
                break
        else:
            yield pair


def _without_duplicates(
    pairs: list[Pair], seen: SeenTexts, report: CleaningReport
) -> Iterator[Pair]:
    """Leave out each pair that came before."""
    texts = [f"{len(pair.source)} {pair.source}{pair.target}" for pair in pairs]
    for pair, is_new in zip(pairs, seen.add(texts), strict=True):
        if is_new:
            yield pair
        else:
            report.drop(pair, DUPLICATE)


def is_empty(pair: Pair) -> bool:
    """Say whether nothing of a side can be learnt."""
    return not learnable(pair.source).strip() or not learnable(pair.target).strip()


def is_in_other_script(text: str, other: str, foreign: re.Pattern[str], least_share: float) -> bool:
    """Say whether too few letters of a side belong to the scripts of its language.

    Names that stand on both sides do not count, as in *Google Chrome の設定*, unless there is
    nothing else; what begins with a small letter is no name.

    Args:
        text: The side.
        other: The other one.
        foreign: What `letters_outside` returns for its language.
        least_share: From 0 to 1, of the letters.
    """
    share = share_in_script(text, foreign)
    if share >= least_share or share == 0:
        return share < least_share
    words = re.compile(f"{foreign.pattern}+")
    names = {word for word in words.findall(other) if not word[0].islower()}
    besides = words.sub(lambda found: "" if found[0] in names else found[0], text)
    return share_in_script(besides, foreign) < least_share


def is_too_long(pair: Pair, max_characters: int, max_words: int) -> bool:
    """Say whether a side has too many characters or words."""
    longest = max(len(pair.source), len(pair.target))
    if longest > max_characters:
        return True
    if longest < 2 * max_words:  # each word but the last has a space after it
        return False
    return len(pair.source.split()) > max_words or len(pair.target.split()) > max_words


def length_ratio(pair: Pair) -> float:
    """Return how many times longer the longer side is; 1 when both are short."""
    source, target = weighted_length(pair.source), weighted_length(pair.target)
    longer = max(source, target)
    return longer / max(min(source, target), 1) if longer > SHORT else 1.0


def _occurs(pattern: re.Pattern[str], pair: Pair) -> bool:
    """Say whether a pattern occurs on a side."""
    return (pattern.search(pair.source) or pattern.search(pair.target)) is not None
