"""Comparatives and superlatives: *più veloce di*, *meno interessante di*, *la più alta*."""

from functools import cache

from dragoman.corpora.primer import italian
from dragoman.corpora.primer.copulas import be_clause, quality
from dragoman.corpora.primer.derivation import Derivation, Phrase, Sentence
from dragoman.corpora.primer.english import Tense
from dragoman.corpora.primer.entries import Adjective, Noun
from dragoman.corpora.primer.lexicon import lexicon
from dragoman.corpora.primer.noun_phrases import NounPhrase, noun_phrase, person_name
from dragoman.corpora.primer.participants import Subject, is_plural, subject_of
from dragoman.corpora.primer.statements import draw_mood, finished


def comparison(derivation: Derivation) -> Sentence:
    """Derive pairs like *the train is faster than the bus*, *... più veloce dell'autobus*."""
    if derivation.chance(0.4):
        adjective = derivation.choose(_comparable_people_adjectives())
        first, second = person_name(derivation), person_name(derivation)
    else:
        adjective = derivation.choose(_comparable_adjectives())
        one, other = _two_alike(derivation, adjective.nouns)
        if one is other or one.noun_class == "spouse":
            return quality(derivation)
        derivation.combine("adjective-noun", adjective.key, one.key)
        plural = is_plural(derivation, one, 0.3)
        first = _known(derivation, one, plural)
        second = _known(derivation, other, plural and other.number == "count")
    subject = subject_of(derivation, first)
    predicate = _compared(derivation, subject, adjective, second)
    mood = draw_mood(derivation, subject)
    return finished(be_clause(derivation, subject, predicate, Tense.PRESENT, mood), mood)


def _known(derivation: Derivation, noun: Noun, plural: bool) -> NounPhrase:
    if noun.noun_class in ("family", "spouse"):
        return noun_phrase(derivation, noun, "my")
    return noun_phrase(derivation, noun, "the", plural=plural)


def _two_alike(derivation: Derivation, nouns: tuple[Noun, ...]) -> tuple[Noun, Noun]:
    one = derivation.choose(nouns)
    return one, derivation.choose(tuple(n for n in nouns if n.noun_class == one.noun_class))


def _compared(
    derivation: Derivation, subject: Subject, adjective: Adjective, second: NounPhrase
) -> Phrase:
    form = adjective.form(subject.gender, subject.plural)
    bit, than = derivation.link(), derivation.link()
    kind = derivation.choose(("more", "more", "less", "as"))
    if kind == "less" and not adjective.comparative.startswith("more "):
        kind = "more"  # less tall is no English
    if kind == "as":
        return Phrase(
            ((f"as {adjective.english}", bit), ("as", than), *second.english),
            ((form, bit), *second.after("come", than)),
        )
    words = adjective.comparative if kind == "more" else f"less {adjective.english}"
    degree = "più" if kind == "more" else "meno"
    return Phrase(
        ((words, bit), ("than", than), *second.english),
        ((f"{degree} {form}", bit), *second.after("di", than)),
    )


def superlative(derivation: Derivation) -> Sentence:
    """Derive pairs like *this is the oldest church*, *questa è la chiesa più vecchia*."""
    adjective = derivation.choose(_comparable_adjectives())
    noun = derivation.choose(tuple(n for n in adjective.nouns if n.number == "count"))
    if noun.noun_class == "family":
        return quality(derivation)
    derivation.combine("adjective-noun", adjective.key, noun.key)
    bit, noun_bit, degree_bit, verb_bit = (derivation.link() for _ in range(4))
    head = noun.italian[0]
    article = italian.definite_article(head, noun.gender, False)
    degree = f"più {adjective.form(noun.gender, False)}"
    predicate = Phrase(
        (("the", bit), (adjective.superlative, degree_bit), (noun.english[0], noun_bit)),
        ((article, bit), (head, noun_bit), (degree, degree_bit)),
    )
    this_bit = derivation.link()
    this = italian.agree("questo", noun.gender, False)
    subject = Subject((("this", this_bit),), ((this, this_bit),), 2, noun.gender, False, verb_bit)
    mood = draw_mood(derivation, subject)
    return finished(be_clause(derivation, subject, predicate, Tense.PRESENT, mood), mood)


@cache
def _comparable_adjectives() -> tuple[Adjective, ...]:
    return tuple(
        one for one in lexicon().adjectives if one.comparative and one.position != "predicate"
    )


@cache
def _comparable_people_adjectives() -> tuple[Adjective, ...]:
    return tuple(one for one in _comparable_adjectives() if one.describes_people)
