"""Where it hurts: *my head hurts*, *mi fa male la testa*."""

from dragoman.corpora.primer.clauses import in_order
from dragoman.corpora.primer.derivation import Derivation, Phrase, Sentence, Tokens, non, token
from dragoman.corpora.primer.english import EnglishVerb, Mood, Tense, auxiliary_and_verb
from dragoman.corpora.primer.lexicon import nouns_of
from dragoman.corpora.primer.noun_phrases import NounPhrase, noun_phrase, person_name, possessed
from dragoman.corpora.primer.participants import is_plural, pronouns
from dragoman.corpora.primer.statements import finished

_HURT = EnglishVerb(
    infinitive="hurt", third_singular="hurts", past="hurt", participle="hurt", gerund="hurting"
)
_OWNERS = {"I": "my", "you": "your", "he": "his", "she": "her"}
_MOODS = (Mood.STATEMENT, Mood.STATEMENT, Mood.NEGATION, Mood.QUESTION)


def hurt(derivation: Derivation) -> Sentence:
    """Derive pairs like *My head hurts*, *Mi fa male la testa*."""
    noun = derivation.choose(nouns_of("body"))
    plural = is_plural(derivation, noun, 0.5)
    part = noun_phrase(derivation, noun, "the", plural=plural)
    if derivation.chance(0.5):
        one = derivation.choose(tuple(p for p in pronouns() if p.english in _OWNERS))
        owner_bit = derivation.link()
        english: Tokens = ((_OWNERS[one.english], owner_bit), *part.english[1:])
        sufferer: Tokens = ((one.dative, owner_bit),)
        return _sentence(derivation, part, english, pronoun=sufferer)
    owner = person_name(derivation)
    owned = possessed(derivation, owner, part)
    bit = owned.english[0][1]
    return _sentence(derivation, part, owned.english, name=owner.after("a", bit))


def _sentence(
    derivation: Derivation,
    part: NounPhrase,
    english: Tokens,
    *,
    name: Tokens = (),
    pronoun: Tokens = (),
) -> Sentence:
    """Put it together; who suffers is a name before *non*, or a pronoun after it."""
    mood = derivation.choose(_MOODS)
    negation_bit = derivation.link() if mood is Mood.NEGATION else 0
    bit = derivation.link()
    auxiliary, form = auxiliary_and_verb(_HURT, part.person, Tense.PRESENT, mood)
    start = in_order(english, token(auxiliary, bit | negation_bit), mood)
    fa_male = "fanno male" if part.plural else "fa male"
    phrase = Phrase(
        (*start, (form, bit)),
        (*name, *non(negation_bit), *pronoun, (fa_male, bit), *part.italian),
    )
    return finished(phrase, mood)
