from collections.abc import Sequence

import pytest
from tests.fake_engine import FakeEngine

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis, build_hypothesis
from dragoman.decoding.phrase import Phrase, Spelling
from dragoman.engines.drafts import search_with_drafts

BEGIN, END = 0, 1
USUAL = {BEGIN: 2, 2: 3, 3: 4, 4: 5, 5: END, 7: 4, 8: END}
"""What follows a token, so that the engine by itself says 2 3 4 5."""

SEARCH = SearchConfig(max_length_ratio=1.0, max_length_extra=5)


class Bigrams(FakeEngine):
    """An engine to which a token depends on the one before: -1 if it is usual, else -50."""

    def __init__(self, others: dict[tuple[int, int], float]) -> None:
        self._log_probabilities = dict.fromkeys(USUAL.items(), -1.0) | others

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        assert prefixes
        assert required is None
        return [[self._go_on(prefix, config)] for prefix in prefixes]

    def continue_in_ways(
        self, source: Sequence[int], prefix: Sequence[int], config: SearchConfig, *, count: int
    ) -> list[Hypothesis]:
        return [self._go_on([*prefix, token], config) for token in (4, 5)]

    def log_probabilities(
        self, sources: Sequence[Sequence[int]], translations: Sequence[Sequence[int]]
    ) -> list[tuple[float, ...]]:
        return [
            tuple(
                self._log_probabilities.get(pair, -50.0)
                for pair in zip([BEGIN, *translation], [*translation, END], strict=True)
            )
            for translation in translations
        ]

    def _go_on(self, prefix: Sequence[int], config: SearchConfig) -> Hypothesis:
        tokens = list(prefix)
        while tokens[-1:] != [END]:
            tokens.append(USUAL[tokens[-1] if tokens else BEGIN])
        (values,) = self.log_probabilities([[]], [tokens[:-1]])
        return build_hypothesis(tokens, values, eos=END, config=config)


SEVEN, EIGHT = (Phrase(spellings=(Spelling((token,)),)) for token in (7, 8))


@pytest.mark.parametrize(
    ("required", "others", "expected"),
    [
        ([SEVEN], {(3, 7): -2.0}, (2, 3, 7, 4, 5)),
        ([Phrase(spellings=(Spelling((4,)),))], {}, (2, 3, 4, 5)),  # there already
        # The easier one is tried first, but does not keep the other from its place.
        (
            [EIGHT, SEVEN],
            {(5, 8): -0.1, (3, 7): -2.0} | {(i, 8): -1.5 for i in (0, 2, 3, 4)},
            (2, 3, 7, 4, 5, 8),
        ),
        # What is cut off is required again.
        (
            [EIGHT, Phrase(spellings=(Spelling((4,)),))],
            {(2, 8): -0.1, (8, 4): -1.0},
            (2, 8, 4, 5),
        ),
        # Whatever would continue its word is avoided, before it...
        (
            [Phrase(spellings=(Spelling((7,), frozenset({3})),))],
            {(2, 7): -3.0, (3, 7): -2.0},
            (2, 7, 4, 5),
        ),
        ([Phrase(spellings=(Spelling((4,), frozenset({3})),))], {(5, 4): -2.0}, (2, 3, 4, 5, 4, 5)),
        # ...and behind it.
        (
            [Phrase(spellings=(Spelling((7,)),), not_before=frozenset({4}))],
            {(0, 7): -2.0, (7, 5): -1.0},
            (7, 5),
        ),
        # Only before the first end of a sentence.
        (
            [Phrase(spellings=(Spelling((7,)),), only_behind=frozenset({2}))],
            {(0, 7): -6.0, (3, 7): -2.0},
            (7, 4, 5),
        ),
    ],
)
def test_a_phrase_is_written_where_it_is_most_probable(
    required: list[Phrase], others: dict[tuple[int, int], float], expected: tuple[int, ...]
) -> None:
    found, of_other = search_with_drafts(
        Bigrams(others), [[2] * 8, [2] * 9], SEARCH, [required, []], [[], []]
    )

    assert found[0].ids == expected
    assert [each.ids for each in of_other] == [(2, 3, 4, 5)]  # nothing is required of it


def test_what_has_begun_with_an_end_of_a_sentence_takes_a_phrase() -> None:
    phrase = Phrase(spellings=(Spelling((7,)),), only_behind=frozenset({2}))

    (found,) = search_with_drafts(Bigrams({(2, 7): -2.0}), [[2] * 8], SEARCH, [[phrase]], [[2]])

    assert found[0].ids == (2, 7, 4, 5)


def test_what_has_begun_stays_and_no_translation_becomes_too_long() -> None:
    engine = Bigrams({(BEGIN, 7): -0.1, (5, 7): -0.1})

    found, too_long = search_with_drafts(
        engine, [[2] * 5, [2]], SEARCH, [[SEVEN], [SEVEN]], [[2, 3], [2, 3, 4, 5]]
    )

    assert found
    assert all(each.ids[:2] == (2, 3) and 7 in each.ids[2:] for each in found)
    assert too_long == []
