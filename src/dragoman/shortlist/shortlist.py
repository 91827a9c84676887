"""A table of the target tokens that each source token calls for (Jean et al. 2015, section 3.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dragoman.shortlist.lexicon import TokenPairs, learn_lexicon
from dragoman.tokenizers.pair import TokenizerPair


@dataclass(frozen=True, kw_only=True)
class ShortlistConfig:
    """How long the lists are."""

    frequent: int = 100
    """How many of the most frequent target tokens are on every list."""

    translations: int = 100
    """How many of the best translations of each source token are on a list."""

    def __post_init__(self) -> None:
        if min(self.frequent, self.translations) < 0:
            raise ValueError(
                f"frequent = {self.frequent} and translations = {self.translations} "
                "should not be below zero"
            )


@dataclass(frozen=True, kw_only=True)
class Shortlist:
    """Which target tokens a sentence may be translated with."""

    frequent: npt.NDArray[np.int32]
    """The tokens of every list, the end of the sentence first."""

    translations: npt.NDArray[np.int32]
    """For each source token, a row of the target tokens that it calls for, including itself if the
    target vocabulary has it, so that names and numbers can be copied. Rows are padded with EOS."""

    def tokens(self, source: Sequence[int]) -> list[int]:
        """List the target tokens for a sentence, each once, in ascending order."""
        called_for = self.translations[np.asarray(source, dtype=np.int64)]
        tokens: list[int] = np.unique(np.append(self.frequent, called_for)).tolist()
        return tokens


def learn_shortlist(
    pairs: TokenPairs, tokenizers: TokenizerPair, config: ShortlistConfig
) -> Shortlist:
    """Learn which target tokens source tokens call for.

    Args:
        pairs: Sentence pairs as token ids, at least one of them without an empty side.
        tokenizers: Those that the ids belong to.
        config: How long the lists are to be.
    """
    num_sources, num_targets = tokenizers.source.vocab_size, tokenizers.target.vocab_size
    eos = tokenizers.target.special_ids.eos
    lexicon = learn_lexicon(pairs, num_sources=num_sources, num_targets=num_targets)
    counts = np.bincount([token for _, target in pairs for token in target], minlength=num_targets)
    order = np.argsort(-counts, kind="stable")[: config.frequent]
    best = lexicon.best(config.translations, num_sources, filling=eos)
    return Shortlist(
        frequent=np.append(eos, order[counts[order] > 0]).astype(np.int32),
        translations=np.column_stack([best, _copies(tokenizers)]),
    )


def _copies(tokenizers: TokenizerPair) -> npt.NDArray[np.int32]:
    """Map each source token to the target token with the same spelling, or EOS if there is none."""
    source, target = tokenizers.source, tokenizers.target
    spelt = {piece: token for token, piece in enumerate(target.pieces(range(target.vocab_size)))}
    pieces = source.pieces(range(source.vocab_size))
    return np.array([spelt.get(piece, target.special_ids.eos) for piece in pieces], dtype=np.int32)
