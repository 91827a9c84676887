"""Modal verbs, imperatives and wishes: *must*, *can*, *want to*, *open the door*."""

from dragoman.corpora.primer import english
from dragoman.corpora.primer.adverbials import place_of
from dragoman.corpora.primer.clauses import in_order, verb_tokens
from dragoman.corpora.primer.conjugation import REFLEXIVE_PRONOUNS, conjugate
from dragoman.corpora.primer.derivation import Derivation, Phrase, Sentence, Tokens, non, token
from dragoman.corpora.primer.english import Mood
from dragoman.corpora.primer.entries import Verb
from dragoman.corpora.primer.lexicon import verbs_where
from dragoman.corpora.primer.participants import (
    Complement,
    Subject,
    governed,
    known_object,
    object_complement,
    with_phrases,
)
from dragoman.corpora.primer.statements import finished, opening

_SKILLS = ("speak", "play", "sew", "teach")
_MODALS = (("must", "dovere"), ("can", "potere"), ("want to", "volere"))


def modal(derivation: Derivation) -> Sentence:
    """Derive pairs like *Can you open the window?*, *Puoi aprire la finestra?*."""
    verb, subject, mood = opening(derivation, _action_verbs())
    word, infinitive = derivation.choose(_MODALS)
    if word == "must" and mood is not Mood.STATEMENT:
        word, infinitive = "can", "potere"
    is_skill = verb.pastime or verb.english.infinitive in _SKILLS
    if word == "can" and is_skill:  # that would be *sapere*
        word, infinitive = "want to", "volere"
    complement = _complement(derivation, verb, mood)
    negation_bit = derivation.link() if mood is Mood.NEGATION else 0
    modal_bit = subject.verb_bit
    bit = derivation.link()
    start = _modal_words(word, subject, mood, modal_bit, negation_bit)
    finite = conjugate(infinitive).present[subject.person]
    english_verb = verb_tokens(verb, verb.english.infinitive, bit, complement)
    return finished(
        Phrase(
            (*start, *english_verb, *complement.english),
            (
                *subject.italian,
                *non(negation_bit),
                (finite, modal_bit),
                (infinitive_of(verb, subject.person), bit),
                *complement.italian,
            ),
        ),
        mood,
    )


def _modal_words(word: str, subject: Subject, mood: Mood, bit: int, negation_bit: int) -> Tokens:
    """Return the English subject and modal in their order."""
    if word != "want to":
        text = english.negated(word) if negation_bit else word
        return in_order(subject.english, token(text, bit | negation_bit), mood)
    auxiliary, form = english.auxiliary_and_verb(_WANT, subject.person, english.Tense.PRESENT, mood)
    start = in_order(subject.english, token(auxiliary, bit | negation_bit), mood)
    return (*start, (f"{form} to", bit))


_WANT = english.EnglishVerb(
    infinitive="want", third_singular="wants", past="wanted", participle="wanted", gerund="wanting"
)


def infinitive_of(verb: Verb, person: int) -> str:
    """Return the infinitive with the reflexive pronoun of a person: *devo alzarmi*.

    >>> (verb,) = verbs_where(lambda verb: verb.infinitive == "alzarsi")()
    >>> infinitive_of(verb, 0)
    'alzarmi'
    """
    if not verb.reflexive:
        return verb.infinitive
    return verb.infinitive.removesuffix("si") + REFLEXIVE_PRONOUNS[person]


def _complement(derivation: Derivation, verb: Verb, mood: Mood) -> Complement:
    complement = object_complement(derivation, verb, mood)
    if verb.places and (not verb.objects or derivation.chance(0.15)):
        complement = with_phrases(complement, place_of(derivation, verb))
    return complement


def imperative(derivation: Derivation) -> Sentence:
    """Derive pairs like *Open the door, please*, *Apri la porta, per favore*."""
    verb = derivation.choose(_orders())
    thing = known_object(derivation, verb)
    complement = governed(derivation, verb, thing)
    bit = derivation.link()
    english_verb = verb_tokens(verb, verb.english.infinitive, bit, complement)
    if derivation.chance(0.3):
        negation_bit = derivation.link()
        english_words: Tokens = (("don't", negation_bit), *english_verb)
        italian_words: Tokens = (("non", negation_bit), (verb.infinitive, bit))
    else:
        english_words = english_verb
        italian_words = ((verb.conjugation.imperative, bit),)
    english_words += complement.english
    italian_words += complement.italian
    if derivation.chance(0.4):
        comma, please = derivation.pair(",", ","), derivation.pair("please", "per favore")
        english_words += comma.english + please.english
        italian_words += comma.italian + please.italian
        return Sentence(english_words, italian_words)
    return Sentence(english_words, italian_words, "!")


_action_verbs = verbs_where(
    lambda verb: (
        verb.aspect == "action" and verb.human_subject and verb.frame not in ("recipient", "manner")
    )
)
_orders = verbs_where(
    lambda verb: (
        verb.aspect == "action" and verb.human_subject and bool(verb.objects) and not verb.frame
    )
)
