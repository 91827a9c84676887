"""The head that aligns is found, with gold and without."""

from collections.abc import Sequence

import numpy as np
import pytest

from dragoman.alignment.choice import AlignedText, check_pairs, choose, measure, primer_text
from dragoman.alignment.links import AlignmentError, GoldAlignment
from dragoman.alignment.words import Weights
from dragoman.corpora.primer.corpus import generate
from dragoman.corpora.primer.spelling import words

LAYERS, HEADS = 3, 4


def attention_in_which_one_head_aligns(
    gold: Sequence[GoldAlignment], sizes: Sequence[tuple[int, int]], *, layer: int, head: int
) -> list[Weights]:
    """Draw all weights at random, but those of one head, which looks at its partners."""
    random = np.random.default_rng(4)
    found = []
    for aligned, (source, target) in zip(gold, sizes, strict=True):
        weights = random.dirichlet(np.ones(source), size=(LAYERS, HEADS, target))
        for i, j in aligned.sure:
            weights[layer, head, j] *= 0.2
            weights[layer, head, j, i] += 1.0
        found.append(weights.astype(np.float32))
    return found


@pytest.mark.parametrize(("is_known", "head"), [(True, 3), (False, None)])
def test_the_layer_that_looks_at_the_partners_is_found_and_with_gold_the_head(
    is_known: bool, head: int | None
) -> None:
    text = primer_text(("en", "it"))
    assert text.gold is not None
    sizes = [(len(source.split()), len(target.split())) for source, target in text.pairs]
    attention = attention_in_which_one_head_aligns(text.gold, sizes, layer=1, head=2)
    if not is_known:
        text = AlignedText(name="some", pairs=text.pairs, gold=None)

    candidates = measure(attention, text)
    chosen = choose(candidates, text)

    assert (chosen.layer, chosen.head) == (2, head)
    assert (chosen.error_rate is not None) == is_known
    assert chosen.pairs == 500
    assert len(candidates) == LAYERS * (HEADS + 1)


def test_measures_of_a_case_worked_by_hand() -> None:
    # Layer 1, head 1: the target's words look at 0 and 1; so do the source's: all agree.
    # Head 2: both target words look at 0; source word 1 is looked at most by target word 1.
    # Their mean: 0.6 0.4 / 0.4 0.6.
    heads = [[[0.6, 0.4], [0.2, 0.8]], [[0.6, 0.4], [0.6, 0.4]]]
    gold = GoldAlignment(sure=frozenset({(0, 0)}), possible=frozenset({(0, 0), (1, 1)}))
    text = AlignedText(name="hand", pairs=(("a b", "c d"),), gold=(gold,))

    first, second, mean = measure([np.array([heads], dtype=np.float32)], text)

    assert [(each.layer, each.head) for each in (first, second, mean)] == [
        (1, 1),
        (1, 2),
        (1, None),
    ]
    assert (first.agreement, mean.agreement) == (1.0, 1.0)
    # links of targets 0-0 0-1, of sources 0-0 1-0: one of both, 2 * 1 / 4
    assert second.agreement == 0.5
    assert first.error_rate == 1 - (1 + 2) / (2 + 1)
    assert second.error_rate == pytest.approx(1 - (1 + 1) / (3 + 1))


def test_the_gold_of_the_embedded_corpus_links_what_white_space_separates() -> None:
    text = primer_text(("en", "it"))
    assert text.gold is not None

    for pair, (source, target), gold in zip(
        generate(500, seed=0, split="test"), text.pairs, text.gold, strict=True
    ):
        assert (source, target) == (pair.source, pair.target)
        english, italian = source.split(), target.split()
        fine_english, fine_italian = words(source), words(target)
        for i, j in pair.alignment:
            assert any(
                fine_english[i] in english[k] and fine_italian[j] in italian[m]
                for k, m in gold.sure
            )
        assert (len(english) - 1, len(italian) - 1) in gold.sure  # the mark at the end
        assert len(gold.sure) <= len(pair.alignment)


def test_the_embedded_corpus_serves_both_directions_and_no_other_languages() -> None:
    there, back = primer_text(("en", "it")), primer_text(("it", "en"))

    assert there.gold is not None
    assert back.gold is not None
    assert back.pairs[7] == there.pairs[7][::-1]
    assert back.gold[7].sure == {(j, i) for i, j in there.gold[7].sure}
    with pytest.raises(AlignmentError, match="the model is en-de; name a file of sentence pairs"):
        primer_text(("en", "de"))


def test_pairs_of_one_word_on_a_side_cannot_show_which_head_aligns() -> None:
    text = AlignedText(name="words", pairs=(("a", "b c d"), ("a b", "c")), gold=None)

    with pytest.raises(AlignmentError, match="no pair of words has several words on both sides"):
        check_pairs(text, [(1, 3), (2, 1)])
    check_pairs(text, [(1, 3), (2, 2)])
