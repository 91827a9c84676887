"""Sentences about what somebody does: statements, negations and yes-or-no questions."""

from collections.abc import Sequence
from functools import cache

from dragoman.corpora.primer.adverbials import clock_time, manner, month, place_of, time_of
from dragoman.corpora.primer.clauses import clause
from dragoman.corpora.primer.derivation import Derivation, Phrase, Sentence, join
from dragoman.corpora.primer.english import THIRD_SINGULAR, Mood, Tense
from dragoman.corpora.primer.entries import Verb
from dragoman.corpora.primer.lexicon import verbs_where
from dragoman.corpora.primer.noun_phrases import person_name
from dragoman.corpora.primer.participants import (
    Complement,
    Pronoun,
    Subject,
    human_phrase,
    object_complement,
    object_phrase,
    pronouns,
    subject_for,
    with_phrases,
)

_MOODS = (Mood.STATEMENT,) * 6 + (Mood.NEGATION,) * 2 + (Mood.QUESTION,) * 2
_TENSES = {
    "action": (Tense.PRESENT,) * 3
    + (Tense.PROGRESSIVE,) * 2
    + (Tense.PAST,) * 3
    + (Tense.FUTURE,) * 2,
    "achievement": (Tense.PRESENT,) * 2 + (Tense.PAST,) * 4 + (Tense.FUTURE,) * 2,
    "state": (Tense.PRESENT,) * 5 + (Tense.PAST,) * 2 + (Tense.FUTURE,),
}


def draw_tense(derivation: Derivation, verb: Verb, subject: Subject, mood: Mood) -> Tense:
    """Draw a tense; where *I read* would leave present and past open, take the future."""
    tense = derivation.choose(_TENSES[verb.aspect])
    unclear = verb.same_past and mood is Mood.STATEMENT
    if unclear and tense in (Tense.PRESENT, Tense.PAST) and subject.person != THIRD_SINGULAR:
        return Tense.FUTURE
    return tense


def draw_mood(derivation: Derivation, subject: Subject | None = None) -> Mood:
    """Draw statement, negation or question; nobody asks whether *I* do something."""
    mood = derivation.choose(_MOODS)
    about_me = subject is not None and subject.person == 0
    return Mood.STATEMENT if mood is Mood.QUESTION and about_me else mood


def opening(derivation: Derivation, verbs: Sequence[Verb]) -> tuple[Verb, Subject, Mood]:
    """Draw one of the verbs, who does it, and whether that is said, denied or asked."""
    verb = derivation.choose(verbs)
    subject = subject_for(derivation, verb)
    return verb, subject, draw_mood(derivation, subject)


def finished(phrase: Phrase, mood: Mood) -> Sentence:
    """Close a sentence with the mark of its mood."""
    return Sentence(phrase.english, phrase.italian, "?" if mood is Mood.QUESTION else ".")


def transitive(derivation: Derivation) -> Sentence:
    """Derive pairs like *Anna is buying the bread*, *Anna sta comprando il pane*."""
    verb, subject, mood = opening(derivation, _transitive_verbs())
    complement = object_complement(derivation, verb, mood)
    return _with_time(derivation, subject, verb, mood, complement)


def intransitive(derivation: Derivation) -> Sentence:
    """Derive pairs like *We are sleeping in the garden*, *Stiamo dormendo in giardino*."""
    verb, subject, mood = opening(derivation, _intransitive_verbs())
    complement = Complement()
    if verb.frame == "manner" and derivation.chance(0.5):
        complement = with_phrases(complement, manner(derivation))
    elif verb.places and (verb.frame == "at" or verb.aspect == "state" or derivation.chance(0.7)):
        complement = with_phrases(complement, place_of(derivation, verb))
    return _with_time(derivation, subject, verb, mood, complement)


def transitive_somewhere(derivation: Derivation) -> Sentence:
    """Derive pairs like *I read the newspaper at the bar*, *Leggo il giornale al bar*."""
    verb, subject, mood = opening(derivation, _located_transitive_verbs())
    complement = object_complement(derivation, verb, mood)
    complement = with_phrases(complement, place_of(derivation, verb))
    tense = draw_tense(derivation, verb, subject, mood)
    return finished(clause(derivation, subject, verb, tense, mood, complement), mood)


def motion(derivation: Derivation) -> Sentence:
    """Derive pairs like *She went to the market with Anna*, *È andata al mercato con Anna*."""
    verb, subject, mood = opening(derivation, _motion_verbs())
    complement = with_phrases(Complement(), place_of(derivation, verb))
    if derivation.chance(0.3):
        friend, bit = person_name(derivation), derivation.link()
        company = Phrase((("with", bit), *friend.english), friend.after("con", bit))
        complement = with_phrases(complement, company)
    return _with_time(derivation, subject, verb, mood, complement)


def giving(derivation: Derivation) -> Sentence:
    """Derive pairs like *Marco gave the book to Anna*, *Marco ha dato il libro ad Anna*."""
    verb, subject, mood = opening(derivation, _giving_verbs())
    thing = object_phrase(derivation, verb, mood)
    tense = draw_tense(derivation, verb, subject, mood)
    bit = derivation.link()
    if derivation.chance(0.5):
        one = derivation.choose(_others_than(subject.person))
        complement = Complement(
            (*thing.english, (f"to {one.english_object}", bit)),
            thing.italian,
            clitic=((one.dative, bit),),
        )
    else:
        receiver = human_phrase(derivation)
        complement = Complement(
            (*thing.english, ("to", bit), *receiver.english),
            (*thing.italian, *receiver.after("a", bit)),
        )
    return finished(clause(derivation, subject, verb, tense, mood, complement), mood)


def object_pronoun(derivation: Derivation) -> Sentence:
    """Derive pairs like *I saw her yesterday*, *L'ho vista ieri*."""
    verb, subject, mood = opening(derivation, _pronoun_verbs())
    one = derivation.choose(_others_than(subject.person))
    bit = derivation.link()
    third = one.accusative not in ("mi", "ti", "ci")
    complement = Complement(
        ((one.english_object, bit),),
        (),
        clitic=((one.accusative, bit),),
        agreement=(one.gender, one.plural) if third else None,
    )
    return _with_time(derivation, subject, verb, mood, complement)


@cache
def _others_than(person: int) -> tuple[Pronoun, ...]:
    overlapping: tuple[int, ...] = (0, 3) if person in (0, 3) else (person,)  # not *we see me*
    if person == THIRD_SINGULAR:  # he sees him: two people
        overlapping = ()
    return tuple(one for one in pronouns() if one.person not in overlapping)


def already(derivation: Derivation) -> Sentence:
    """Derive pairs like *I have already eaten the apple*, *Ho già mangiato la mela*."""
    verb = derivation.choose(_action_verbs())
    subject = subject_for(derivation, verb)
    complement = object_complement(derivation, verb, Mood.STATEMENT)
    adverb = derivation.choose(("already", "already", "just"))
    phrase = clause(derivation, subject, verb, Tense.PERFECT, Mood.STATEMENT, complement, adverb)
    return finished(phrase, Mood.STATEMENT)


def _with_time(
    derivation: Derivation, subject: Subject, verb: Verb, mood: Mood, complement: Complement
) -> Sentence:
    """Add a tense and perhaps an expression of time, at either end, or an adverb of frequency."""
    tense = draw_tense(derivation, verb, subject, mood)
    adverb = ""
    habit = tense is Tense.PRESENT and verb.aspect == "action"
    if habit and derivation.chance(0.3):
        adverb = derivation.choose(_FREQUENCIES[mood])
    phrase = clause(derivation, subject, verb, tense, mood, complement, adverb)
    timeless = verb.aspect == "state" or (tense is Tense.PRESENT and not habit)
    if adverb or timeless or not derivation.chance(0.45):
        return finished(phrase, mood)
    momentary = not verb.objects and verb.frame != "at" and tense is not Tense.PROGRESSIVE
    clock = momentary and derivation.chance(0.4)
    time = clock_time(derivation) if clock else time_of(derivation, tense, far=not verb.objects)
    if verb.frame == "to" and tense in (Tense.PAST, Tense.FUTURE) and derivation.chance(0.4):
        time = month(derivation)
    if mood is Mood.STATEMENT and not clock and derivation.chance(0.3):
        return Sentence(*join(time, phrase))
    return finished(join(phrase, time), mood)


_FREQUENCIES = {
    Mood.STATEMENT: ("always", "often", "never", "rarely"),
    Mood.NEGATION: ("often",),  # not *I don't always eat any apples*
    Mood.QUESTION: ("always", "often"),
}


_transitive_verbs = verbs_where(lambda verb: bool(verb.objects) and verb.frame != "recipient")
_located_transitive_verbs = verbs_where(
    lambda verb: verb in _transitive_verbs() and bool(verb.places)
)
_intransitive_verbs = verbs_where(lambda verb: not verb.objects and verb.frame != "to")
_motion_verbs = verbs_where(lambda verb: verb.frame == "to")
_giving_verbs = verbs_where(lambda verb: verb.frame == "recipient")
_pronoun_verbs = verbs_where(
    lambda verb: (
        verb in _transitive_verbs()
        and verb.human_object
        and verb.human_subject
        and not verb.italian_preposition
    )
)
_action_verbs = verbs_where(
    lambda verb: verb.aspect != "state" and verb.frame not in ("to", "at", "manner", "recipient")
)
