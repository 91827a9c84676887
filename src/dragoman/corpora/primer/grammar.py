"""The synchronous grammar: a weighted choice among the constructions."""

from bisect import bisect
from collections.abc import Callable
from itertools import accumulate
from random import Random

from dragoman.corpora.primer import (
    comparisons,
    copulas,
    days_and_weather,
    how_questions,
    joined,
    liking,
    modals,
    pain,
    questions,
    statements,
    whereabouts,
)
from dragoman.corpora.primer.derivation import Derivation, Sentence

Construction = Callable[[Derivation], Sentence]

CONSTRUCTIONS: dict[Construction, int] = {
    statements.transitive: 220,
    statements.transitive_somewhere: 40,
    statements.intransitive: 80,
    statements.motion: 40,
    statements.giving: 40,
    statements.object_pronoun: 40,
    statements.already: 25,
    copulas.quality: 150,
    copulas.profession: 20,
    whereabouts.location: 35,
    whereabouts.existence: 45,
    comparisons.comparison: 30,
    comparisons.superlative: 15,
    copulas.feeling: 15,
    copulas.age: 10,
    days_and_weather.calendar: 1,
    days_and_weather.weather: 5,
    liking.like_thing: 60,
    liking.like_doing: 15,
    modals.modal: 60,
    modals.imperative: 25,
    whereabouts.where_is: 40,
    whereabouts.here_is: 40,
    whereabouts.this_is: 40,
    pain.hurt: 20,
    questions.where_or_when: 20,
    questions.when_object: 10,
    questions.why: 20,
    questions.what: 15,
    questions.whom: 10,
    questions.who: 20,
    how_questions.how_many: 15,
    how_questions.how_much: 15,
    how_questions.how_is: 8,
    joined.buy_and_use: 20,
    joined.because: 5,
    joined.relative: 25,
    joined.reported: 20,
}
"""Each construction and its weight."""

_CONSTRUCTIONS = tuple(CONSTRUCTIONS)
_CUMULATIVE_WEIGHTS = tuple(accumulate(CONSTRUCTIONS.values()))


def derive(random: Random) -> tuple[Sentence, list[str]]:
    """Derive one sentence; return it with the lexical combinations in it."""
    derivation = Derivation(random)
    drawn = random.random() * _CUMULATIVE_WEIGHTS[-1]
    sentence = _CONSTRUCTIONS[bisect(_CUMULATIVE_WEIGHTS, drawn)](derivation)
    return sentence, derivation.combinations
