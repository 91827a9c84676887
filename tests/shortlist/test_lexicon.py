"""IBM Model 1, worked by hand and beside an implementation with loops."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from dragoman.shortlist import lexicon
from dragoman.shortlist.lexicon import Lexicon, TokenPairs, learn_lexicon


def as_dict(learnt: Lexicon) -> dict[tuple[int, int], float]:
    keys = zip(learnt.sources.tolist(), learnt.targets.tolist(), strict=True)
    return dict(zip(keys, learnt.probabilities.tolist(), strict=True))


def test_two_rounds_give_what_they_give_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs "a: x" and "a b: x y".

    First every token of a sentence is as good: a and NULL have 1/2 + 1/3 of x and 1/3 of y, b has
    1/3 of each. So t(x|a) = t(x|NULL) = 5/7 and t(x|b) = 1/2. In the second round b has
    (1/2) / (27/14) = 7/27 of x and (1/2) / (15/14) = 7/15 of y, so t(y|b) = 9/14.
    """
    a, b, null, x, y = 0, 1, 2, 0, 1
    monkeypatch.setattr(lexicon, "ITERATIONS", 2)
    learnt = as_dict(learn_lexicon([([a], [x]), ([a, b], [x, y])], num_sources=2, num_targets=2))
    assert learnt[b, y] == pytest.approx(9 / 14)
    assert learnt[b, x] == pytest.approx(5 / 14)
    of_x = 1 / 2 + 10 / 27
    assert learnt[a, x] == pytest.approx(of_x / (of_x + 4 / 15))
    assert learnt[null, x] == pytest.approx(learnt[a, x])


def test_it_learns_what_loops_learn_however_the_pairs_are_cut_into_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = random.Random(5)
    pairs = [
        (
            [draw.randrange(6) for _ in range(draw.randrange(5))],
            [draw.randrange(30) for _ in range(draw.randrange(5))],
        )
        for _ in range(40)
    ]
    usable = [pair for pair in pairs if all(pair)]
    assert len(usable) < len(pairs)
    monkeypatch.setattr(lexicon, "PAIRS_AT_ONCE", 7)
    learnt = as_dict(learn_lexicon(pairs, num_sources=6, num_targets=30))
    entries = [(e, f) for source, target in usable for e in (6, *source) for f in target]
    of_source = Counter(e for e, _ in set(entries))
    assert len(set(of_source.values())) > 1  # or it would not matter where they begin
    uniform = {(e, f): 1 / of_source[e] for e, f in entries}
    assert learnt == pytest.approx(with_loops(usable, 6, uniform), abs=1e-12)


def with_loops(
    pairs: TokenPairs, null: int, table: dict[tuple[int, int], float]
) -> dict[tuple[int, int], float]:
    for _ in range(lexicon.ITERATIONS):
        counts: dict[tuple[int, int], float] = defaultdict(float)
        totals: dict[int, float] = defaultdict(float)
        for source, target in pairs:
            for f in target:
                whole = sum(table[e, f] for e in (null, *source))
                for e in (null, *source):
                    counts[e, f] += table[e, f] / whole
                    totals[e] += table[e, f] / whole
        table = {(e, f): count / totals[e] for (e, f), count in counts.items()}
    return table


def test_the_best_translations_come_first_and_gaps_are_filled() -> None:
    learnt = Lexicon(
        sources=np.array([0, 0, 0, 2, 2, 3]),
        targets=np.array([4, 5, 6, 4, 9, 8]),
        probabilities=np.array([0.2, 0.5, 0.3, 0.5, 0.5, 1.0]),
    )
    assert learnt.best(2, num_sources=3, filling=7).tolist() == [[5, 6], [7, 7], [4, 9]]
    for more in (3, 10**12):  # than there are of any takes no room
        assert learnt.best(more, num_sources=3, filling=7)[0].tolist() == [5, 6, 4]
    assert learnt.best(0, num_sources=3, filling=7).shape == (3, 0)
