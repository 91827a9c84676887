"""Questions with where, when, why, what, whom and who."""

from dragoman.corpora.primer import english
from dragoman.corpora.primer.adverbials import place_of
from dragoman.corpora.primer.clauses import clause, italian_verb, verb_tokens
from dragoman.corpora.primer.conjugation import REFLEXIVE_PRONOUNS
from dragoman.corpora.primer.derivation import Derivation, Phrase, Sentence, Tokens, token
from dragoman.corpora.primer.english import Mood, Tense
from dragoman.corpora.primer.entries import Verb
from dragoman.corpora.primer.lexicon import verbs_where
from dragoman.corpora.primer.participants import (
    ASKED,
    Complement,
    Subject,
    asked_subject,
    object_complement,
    pronoun_subject,
    with_phrases,
)
from dragoman.corpora.primer.statements import draw_tense

_NO_ANSWER_TO_WHAT = {"human", "language"}
_WHEN, _WHERE = ("when", "quando"), ("where", "dove")


def where_or_when(derivation: Derivation) -> Sentence:
    """Derive pairs like *Where does Marco work?*, *Dove lavora Marco?*."""
    verb = derivation.choose(_intransitive_verbs())
    subject = asked_subject(derivation, verb)
    word = derivation.pair(*derivation.choose(_askable_adverbs(verb)))
    return asked_about(derivation, word, verb, subject, Complement())


def _askable_adverbs(verb: Verb) -> tuple[tuple[str, str], ...]:
    if verb.aspect == "state" or verb.english.infinitive == "go":
        return (_WHERE,)
    if verb.places and verb.frame != "to":  # *where do you come* would be wrong
        return (_WHEN, _WHERE, _WHERE)
    return (_WHEN,)


def when_object(derivation: Derivation) -> Sentence:
    """Derive pairs like *When will you buy the car?*, *Quando comprerai la macchina?*."""
    verb = derivation.choose(_transitive_actions())
    subject = pronoun_subject(derivation, ASKED)
    complement = object_complement(derivation, verb, Mood.STATEMENT)
    word = derivation.choose((_WHEN, _WHERE) if verb.places else (_WHEN,))
    return asked_about(derivation, derivation.pair(*word), verb, subject, complement)


def why(derivation: Derivation) -> Sentence:
    """Derive pairs like *Why is Anna crying?*, *Perché Anna sta piangendo?*."""
    verb = derivation.choose(_transitive_actions() + _intransitive_verbs())
    subject = asked_subject(derivation, verb)
    complement = object_complement(derivation, verb, Mood.STATEMENT)
    if verb.places and not verb.objects:
        complement = with_phrases(complement, place_of(derivation, verb))
    return asked_about(derivation, derivation.pair("why", "perché"), verb, subject, complement)


def what(derivation: Derivation) -> Sentence:
    """Derive pairs like *What did Anna buy?*, *Che cosa ha comprato Anna?*."""
    verb = derivation.choose(verbs_with_things())
    subject = asked_subject(derivation, verb)
    stranded = Complement(preposition_bit=subject.verb_bit)
    return asked_about(derivation, derivation.pair("what", "che cosa"), verb, subject, stranded)


def whom(derivation: Derivation) -> Sentence:
    """Derive pairs like *Who are you looking for?*, *Chi stai cercando?*."""
    verb = derivation.choose(_verbs_with_people())
    subject = asked_subject(derivation, verb)
    asked, bit = derivation.pair("who", "chi"), subject.verb_bit
    if verb.italian_preposition:
        bit = derivation.link()
        asked = Phrase(asked.english, ((verb.italian_preposition, bit), *asked.italian))
    return asked_about(derivation, asked, verb, subject, Complement(preposition_bit=bit))


def asked_about(
    derivation: Derivation,
    asked: Phrase,
    verb: Verb,
    subject: Subject,
    complement: Complement,
) -> Sentence:
    """Build a question; in Italian the subject ends it, after *perché* it stays before the verb."""
    tense = draw_tense(derivation, verb, subject, Mood.QUESTION)
    word = asked.english[0][0]
    if word == "when" and tense is Tense.PROGRESSIVE:
        tense = Tense.FUTURE
    bit = subject.verb_bit
    auxiliary, form = english.auxiliary_and_verb(verb.english, subject.person, tense, Mood.QUESTION)
    finite, rest = italian_verb(verb, subject, tense, None)
    reflexive: Tokens = ((REFLEXIVE_PRONOUNS[subject.person], bit),) if verb.reflexive else ()
    verb_words = (*reflexive, (finite, bit), *token(rest, bit))
    if word == "why":
        italian_words = (*asked.italian, *subject.italian, *verb_words, *complement.italian)
    else:
        italian_words = (*asked.italian, *verb_words, *complement.italian, *subject.italian)
    return Sentence(
        (
            *asked.english,
            (auxiliary, bit),
            *subject.english,
            *verb_tokens(verb, form, bit, complement),
            *complement.english,
        ),
        italian_words,
        "?",
    )


def who(derivation: Derivation) -> Sentence:
    """Derive pairs like *Who opened the door?*, *Chi ha aperto la porta?*."""
    verb = derivation.choose(_transitive_actions())
    bit, verb_bit = derivation.link(), derivation.link()
    chi = Subject((("who", bit),), (("chi", bit),), 2, "m", False, verb_bit)
    tense = draw_tense(derivation, verb, chi, Mood.STATEMENT)
    complement = object_complement(derivation, verb, Mood.STATEMENT)
    return Sentence(*clause(derivation, chi, verb, tense, Mood.STATEMENT, complement), "?")


_intransitive_verbs = verbs_where(lambda verb: not verb.objects)
_transitive_actions = verbs_where(
    lambda verb: (
        bool(verb.objects) and verb.aspect != "state" and verb.human_subject and not verb.frame
    )
)
verbs_with_things = verbs_where(
    lambda verb: (
        any(not noun.groups & _NO_ANSWER_TO_WHAT for noun in verb.objects)
        and not verb.human_object
        and not verb.italian_preposition
        and not verb.frame
    )
)
"""Those whose objects answer *what*."""

_verbs_with_people = verbs_where(lambda verb: verb.human_object and verb.human_subject)
