"""A verb with its subject and complement, in every tense and mood."""

from functools import cache

from dragoman.corpora.primer import english
from dragoman.corpora.primer.conjugation import REFLEXIVE_PRONOUNS, Conjugation, conjugate
from dragoman.corpora.primer.derivation import Derivation, Phrase, Tokens, non, token
from dragoman.corpora.primer.english import Mood, Tense
from dragoman.corpora.primer.entries import Verb
from dragoman.corpora.primer.italian import Gender, agree
from dragoman.corpora.primer.participants import Complement, Subject
from dragoman.corpora.primer.tables import read_table

_ESSERE = conjugate("essere")
_AVERE = conjugate("avere")
_STARE = conjugate("stare")


def clause(
    derivation: Derivation,
    subject: Subject,
    verb: Verb,
    tense: Tense,
    mood: Mood,
    complement: Complement,
    adverb: str = "",
) -> Phrase:
    """Build a clause. ``adverb`` is the English of a frequency adverb, or *already* or nothing."""
    negation_bit = derivation.link() if mood is Mood.NEGATION or adverb == "never" else 0
    adverb_bit = (derivation.link() if adverb else 0) | (negation_bit if adverb == "never" else 0)
    bit = subject.verb_bit
    auxiliary, form = english.auxiliary_and_verb(verb.english, subject.person, tense, mood)
    auxiliary_bit = bit | negation_bit if mood is Mood.NEGATION else bit
    english_words = (
        *in_order(subject.english, token(auxiliary, auxiliary_bit), mood),
        *token(adverb, adverb_bit),
        *verb_tokens(verb, form, bit, complement),
        *complement.english,
    )
    finite, rest = italian_verb(verb, subject, tense, complement.agreement)
    italian_words = (
        *subject.italian,
        *non(negation_bit),
        *clitics(verb, subject, complement, finite),
        (finite, bit),
        *token(frequency_adverbs()[adverb] if adverb else "", adverb_bit),
        *token(rest, bit),
        *complement.italian,
    )
    return Phrase(english_words, italian_words)


def in_order(subject: Tokens, auxiliary: Tokens, mood: Mood) -> Tokens:
    """Put an English auxiliary before the subject in questions, and behind it elsewhere."""
    return auxiliary + subject if mood is Mood.QUESTION else subject + auxiliary


def verb_tokens(verb: Verb, form: str, bit: int, complement: Complement) -> Tokens:
    """Return the English main verb and its preposition, linked with the Italian one."""
    preposition_bit = complement.preposition_bit
    if not verb.english_preposition:
        return ((form, bit | preposition_bit),)
    if not complement.english and not complement.clitic and not preposition_bit:
        return ((form, bit),)
    return ((form, bit), (verb.english_preposition, preposition_bit or bit))


def clitics(verb: Verb, subject: Subject, complement: Complement, finite: str) -> Tokens:
    """Return the unstressed pronouns before the finite verb; lo and la elide."""
    if verb.reflexive:
        return ((REFLEXIVE_PRONOUNS[subject.person], subject.verb_bit),)
    return tuple((_elided(text, finite), bit) for text, bit in complement.clitic)


def _elided(pronoun: str, finite: str) -> str:
    """Elide lo and la before the auxiliary: *l'ho*, but *lo aiuto*."""
    return "l'" if pronoun in ("lo", "la") and finite in _AVERE.present else pronoun


def italian_verb(
    verb: Verb, subject: Subject, tense: Tense, agreement: tuple[Gender, bool] | None
) -> tuple[str, str]:
    """Return the finite form and what follows it: gerund or participle, and the verb's own words.

    Participles agree with the subject after *essere*, and with an object pronoun after *avere*.
    """
    forms, person = verb.conjugation, subject.person
    if tense is Tense.PROGRESSIVE:
        return _STARE.present[person], spaced(forms.gerund, verb.complement)
    if tense is Tense.PERFECT or (tense is Tense.PAST and verb.aspect != "state"):
        finite, participle = compound_past(forms, subject, verb.auxiliary == "essere", agreement)
        return finite, spaced(participle, verb.complement)
    if tense is Tense.PAST:
        return forms.imperfect[person], verb.complement
    simple = forms.future if tense is Tense.FUTURE else forms.present
    return simple[person], verb.complement


def compound_past(
    forms: Conjugation, subject: Subject, with_essere: bool, agreement: tuple[Gender, bool] | None
) -> tuple[str, str]:
    """Return the auxiliary and the participle of the passato prossimo."""
    if with_essere:
        participle = agree(forms.participle, subject.gender, subject.plural)
        return _ESSERE.present[subject.person], participle
    participle = agree(forms.participle, *agreement) if agreement else forms.participle
    return _AVERE.present[subject.person], participle


def spaced(first: str, second: str) -> str:
    """Join two texts, the second of which may be empty."""
    return f"{first} {second}" if second else first


@cache
def frequency_adverbs() -> dict[str, str]:
    """Return the adverbs that stand beside the finite verb, from English to Italian."""
    return {
        row["english"]: row["italian"]
        for row in read_table("adverbs.tsv")
        if row["kind"] in ("frequency", "perfect")
    }
