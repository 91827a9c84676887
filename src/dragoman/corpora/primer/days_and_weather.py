"""What day it is and what the weather is like."""

from functools import cache

from dragoman.corpora.primer.adverbials import at, day_name, month
from dragoman.corpora.primer.derivation import NOTHING, Derivation, Sentence
from dragoman.corpora.primer.entries import Place
from dragoman.corpora.primer.lexicon import lexicon
from dragoman.corpora.primer.tables import read_table


def calendar(derivation: Derivation) -> Sentence:
    """Derive pairs like *Tomorrow is Monday*, *Domani è lunedì*."""
    when, be_form, essere = derivation.choose(
        (("today", "is", "è"), ("tomorrow", "is", "è"), ("yesterday", "was", "era"))
    )
    adverb = {"today": "oggi", "tomorrow": "domani", "yesterday": "ieri"}[when]
    parts = (derivation.pair(when, adverb), derivation.pair(be_form, essere), day_name(derivation))
    return Sentence(
        tuple(token for part in parts for token in part.english),
        tuple(token for part in parts for token in part.italian),
    )


def weather(derivation: Derivation) -> Sentence:
    """Derive pairs like *It is raining in Rome*, *Piove a Roma*."""
    row = derivation.choose(read_table("weather.tsv"))
    phrase = derivation.pair(row["english"], row["italian"])
    where, when = at(derivation, derivation.choose(_large_places())), NOTHING
    if row["tense"] != "progressive" and derivation.chance(0.5):
        when = month(derivation, row["season"])
    return Sentence(
        phrase.english + where.english + when.english,
        phrase.italian + where.italian + when.italian,
    )


@cache
def _large_places() -> tuple[Place, ...]:
    names = ("mountains", "countryside", "beach")
    return tuple(p for p in lexicon().places if not p.residents or p.key in names)
