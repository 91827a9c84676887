"""Noun phrases in both languages: determiner, adjective, noun, possessor."""

from functools import cache
from typing import NamedTuple

from dragoman.corpora.primer import english, italian
from dragoman.corpora.primer.derivation import Derivation, Token, Tokens
from dragoman.corpora.primer.entries import Adjective, Noun
from dragoman.corpora.primer.italian import Gender
from dragoman.corpora.primer.lexicon import lexicon
from dragoman.corpora.primer.tables import read_table


class NounPhrase(NamedTuple):
    """A noun phrase; the Italian article is kept apart, because prepositions merge with it."""

    english: Tokens
    article: str
    """The Italian definite article, or nothing."""
    article_bit: int
    rest: Tokens
    """The Italian words after the article."""
    gender: Gender
    plural: bool

    @property
    def italian(self) -> Tokens:
        """The Italian words."""
        return ((self.article, self.article_bit), *self.rest) if self.article else self.rest

    @property
    def person(self) -> int:
        """The person of a verb whose subject it is: 2 is he, she or it, 5 is they."""
        return 5 if self.plural else 2

    def after(self, preposition: str, bit: int) -> Tokens:
        """Return the Italian words after a preposition, joined with the article: *della casa*.

        A partitive article disappears after *di*: *delle chiavi*, but *ho bisogno di chiavi*.
        """
        if not preposition:
            return self.italian
        first, first_bit = self.rest[0]
        if preposition == "di" and first in italian.PARTITIVES:
            return ((preposition, bit | first_bit), *self.rest[1:])
        if not self.article:
            return ((italian.euphonic(preposition, first), bit), *self.rest)
        joined = italian.articulated(preposition, self.article)
        return ((joined, bit | self.article_bit), *self.rest)


_DEMONSTRATIVES = {
    "this": italian.questo,
    "these": italian.questo,
    "that": italian.quello,
    "those": italian.quello,
}


@cache
def _rows(table: str) -> dict[str, dict[str, str]]:
    """Return the rows of a table by their English words."""
    return {row["english"]: row for row in read_table(table)}


def noun_phrase(
    derivation: Derivation,
    noun: Noun,
    determiner: str,
    *,
    plural: bool = False,
    adjective: Adjective | None = None,
) -> NounPhrase:
    """Build a noun phrase.

    ``determiner`` is an English word of ``determiners.tsv`` or ``numbers.tsv``, or one of *the*,
    *this*, *these*, *that*, *those*, *a* (*some* in the plural and with mass nouns), *any* in
    questions, *no* for the *any* of negations, which Italian leaves out, and *generic*: *cats*,
    *i gatti*.
    """
    noun_bit = derivation.link()
    plural = plural or noun.number == "plural"
    gender = noun.plural_gender if plural else noun.gender
    noun_token = (noun.italian[plural], noun_bit)
    english_words: Tokens = ((noun.english[plural], noun_bit),)
    italian_words: Tokens = (noun_token,)
    if adjective is not None:
        derivation.combine("adjective-noun", adjective.key, noun.key)
        bit = derivation.link()
        english_words = ((adjective.english, bit), *english_words)
        italian_words = _with_adjective(adjective, bit, noun_token, gender, plural)
    if noun.number == "bare" and determiner == "the":
        determiner = "generic"
    many = plural or noun.number == "mass"
    word = _english_determiner(determiner, english_words[0][0], many)
    # Italian has no word for the *any* of negations: it is linked to the noun
    bit = derivation.link() if word and determiner != "no" else noun_bit
    if word:
        english_words = ((word, bit), *english_words)
    kin = noun.noun_class in ("family", "spouse") and adjective is None and not plural
    article, before = _italian_determiner(
        determiner, italian_words[0][0], gender, plural, many, kin
    )
    if before:
        italian_words = ((before, bit), *italian_words)
    return NounPhrase(english_words, article, bit, italian_words, gender, plural)


def _with_adjective(
    adjective: Adjective, bit: int, noun: Token, gender: Gender, plural: bool
) -> Tokens:
    if adjective.position == "after":
        return (noun, (adjective.form(gender, plural), bit))
    return ((_before_noun(adjective, noun[0], gender, plural), bit), noun)


def _before_noun(adjective: Adjective, noun: str, gender: Gender, plural: bool) -> str:
    if adjective.italian == "bello":
        return italian.bello(noun, gender, plural)
    if adjective.italian == "buono":
        return italian.buono(noun, gender, plural)
    return adjective.form(gender, plural)


def _english_determiner(determiner: str, next_word: str, many: bool) -> str:
    if determiner == "generic":
        return ""
    if determiner == "a":
        return "some" if many else english.indefinite_article(next_word)
    return "any" if determiner == "no" else determiner


@cache
def _italian_determiner(
    determiner: str, next_word: str, gender: Gender, plural: bool, many: bool, kin: bool
) -> tuple[str, str]:
    """Return the definite article, or nothing, and the other word before adjective and noun."""
    if determiner in ("the", "generic"):
        return italian.definite_article(next_word, gender, plural), ""
    if determiner == "no":
        return "", ""
    if determiner in ("a", "any"):
        return "", _indefinite(next_word, gender, plural, many)
    if determiner in _DEMONSTRATIVES:
        return "", _DEMONSTRATIVES[determiner](next_word, gender, plural)
    row = (_rows("determiners.tsv") | _rows("numbers.tsv"))[determiner]
    named = "feminine" if gender == "f" else "masculine"
    form = row.get("italian") or row[f"italian_{named}_{'plural' if plural else 'singular'}"]
    if row.get("kind") != "possessive" or (kin and determiner != "their"):
        return "", form
    return italian.definite_article(form, gender, plural), form


def _indefinite(next_word: str, gender: Gender, plural: bool, many: bool) -> str:
    if many:
        return italian.partitive(next_word, gender, plural)
    return italian.indefinite_article(next_word, gender)


@cache
def _people() -> tuple[tuple[str, Gender], ...]:
    return tuple(
        (row["name"], "m" if row["gender"] == "m" else "f") for row in read_table("names.tsv")
    )


def person_name(derivation: Derivation) -> NounPhrase:
    """Draw a first name, the same in both languages and not yet in the sentence."""
    name, gender = derivation.choose_new(_people())
    bit = derivation.link()
    return NounPhrase(((name, bit),), "", 0, ((name, bit),), gender, False)


def possessed(derivation: Derivation, owner: NounPhrase, thing: NounPhrase) -> NounPhrase:
    """Return *Anna's book*, *il libro di Anna*; the thing must have the definite article."""
    *before, (last, bit) = owner.english
    link = derivation.link()
    of_owner = owner.after("di", link)
    return NounPhrase(
        (*before, (last + "'s", bit | link), *thing.english[1:]),
        thing.article,
        thing.article_bit | link,
        (*thing.rest, *of_owner),
        thing.gender,
        thing.plural,
    )


def adjective_for(derivation: Derivation, noun: Noun) -> Adjective | None:
    """Draw an adjective that can stand beside the noun, if there is one."""
    options = attributive(noun.key)
    return derivation.choose(options) if options else None


@cache
def described_nouns() -> tuple[Noun, ...]:
    """Return the nouns that adjectives can describe."""
    return tuple(noun for noun in lexicon().nouns if lexicon().adjectives_of[noun.key])


@cache
def attributive(key: str) -> tuple[Adjective, ...]:
    """Return the adjectives that can stand beside a noun."""
    return tuple(one for one in lexicon().adjectives_of[key] if one.position != "predicate")
