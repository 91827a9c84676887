"""What day it is and what the weather is like."""

from functools import cache

from dragoman.corpora.primer.adverbials import at, day_name, month
from dragoman.corpora.primer.derivation import NOTHING, Derivation, Sentence, join
from dragoman.corpora.primer.entries import Place
from dragoman.corpora.primer.lexicon import lexicon
from dragoman.corpora.primer.tables import read_table


def calendar(derivation: Derivation) -> Sentence:
    """Derive pairs like *Tomorrow is Monday*, *Domani è lunedì*."""
    when, oggi, be_form, essere = derivation.choose(
        (
            ("today", "oggi", "is", "è"),
            ("tomorrow", "domani", "is", "è"),
            ("yesterday", "ieri", "was", "era"),
        )
    )
    adverb, verb = derivation.pair(when, oggi), derivation.pair(be_form, essere)
    return Sentence(*join(adverb, verb, day_name(derivation)))


def weather(derivation: Derivation) -> Sentence:
    """Derive pairs like *It is raining in Rome*, *Piove a Roma*."""
    row = derivation.choose(read_table("weather.tsv"))
    phrase = derivation.pair(row["english"], row["italian"])
    where, when = at(derivation, derivation.choose(_large_places())), NOTHING
    if row["tense"] != "progressive" and derivation.chance(0.5):
        when = month(derivation, row["season"])
    return Sentence(*join(phrase, where, when))


@cache
def _large_places() -> tuple[Place, ...]:
    names = ("mountains", "countryside", "beach")
    return tuple(p for p in lexicon().places if not p.residents or p.key in names)
