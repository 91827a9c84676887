"""Which tokens are on the list of a sentence."""

import numpy as np
import pytest

from dragoman.shortlist.coverage import Coverage, measure_coverage
from dragoman.shortlist.shortlist import Shortlist, ShortlistConfig, learn_shortlist
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import EOS_ID
from dragoman.tokenizers.words import WordTokenizer

ENGLISH = WordTokenizer(["cat", "dog", "the", "Rex", "&"])
ITALIAN = WordTokenizer(["&", "cane", "Rex", "il", "gatto", "!"])
PAIRS = [
    ("the cat", "il gatto"),
    ("the dog", "il cane"),
    ("cat", "gatto"),
    ("the dog !", "il cane !"),
]


def learn(config: ShortlistConfig) -> Shortlist:
    pairs = [(ENGLISH.encode(source), ITALIAN.encode(target)) for source, target in PAIRS]
    return learn_shortlist(pairs, TokenizerPair(ENGLISH, ITALIAN), config)


def listed(shortlist: Shortlist, text: str) -> set[str]:
    tokens = shortlist.tokens(ENGLISH.encode(text))
    assert tokens == sorted(set(tokens))
    assert tokens[0] == EOS_ID  # so neither padding nor a beginning is listed
    return set(ITALIAN.pieces([token for token in tokens if token > EOS_ID]))


def test_a_list_has_the_best_translations_of_the_tokens_of_the_sentence() -> None:
    shortlist = learn(ShortlistConfig(frequent=0, translations=1))
    assert listed(shortlist, "cat") == {"gatto"}
    assert listed(shortlist, "dog the dog") == {"il", "cane"}
    assert listed(shortlist, "") == set()


def test_a_list_has_the_frequent_tokens_whatever_the_sentence() -> None:
    shortlist = learn(ShortlistConfig(frequent=1, translations=0))
    assert shortlist.frequent.tolist() == [EOS_ID, *ITALIAN.encode("il")]
    assert listed(shortlist, "cat") == {"il"}
    assert len(learn(ShortlistConfig(frequent=100)).frequent) == 5  # what the text has, and the end


def test_a_token_that_both_vocabularies_have_can_be_copied() -> None:
    """Though no pair has it, and its numbers in the vocabularies differ."""
    shortlist = learn(ShortlistConfig(frequent=0, translations=3))
    assert ENGLISH.encode("Rex &") != ITALIAN.encode("Rex &")
    assert listed(shortlist, "Rex &") == {"Rex", "&"}


def test_lengths_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="translations = -1 should not be below zero"):
        ShortlistConfig(translations=-1)


def test_what_is_covered_is_counted_token_by_token() -> None:
    shortlist = Shortlist(
        frequent=np.array([EOS_ID, 4], dtype=np.int32),
        translations=np.array([[5], [6], [EOS_ID]], dtype=np.int32),
    )
    pairs = [([0], [4, 5]), ([0, 1], [4, 4, 6, 7]), ([2], [9])]
    assert measure_coverage(shortlist, pairs) == Coverage(
        pairs=3, tokens=5 / 7, sentences=1 / 3, mean_length=(3 + 4 + 2) / 3
    )
