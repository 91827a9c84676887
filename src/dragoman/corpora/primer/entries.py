"""The entries of the lexicon: a noun, an adjective, a place, a verb, each in both languages."""

from dataclasses import dataclass
from typing import Literal

from dragoman.corpora.primer.conjugation import Conjugation
from dragoman.corpora.primer.english import EnglishVerb
from dragoman.corpora.primer.italian import Gender


@dataclass(frozen=True, eq=False, kw_only=True, slots=True)
class Noun:
    """A noun in both languages. Missing forms are empty."""

    key: str
    """The English singular, or the plural of a noun that has no singular."""
    english: tuple[str, str]
    """Singular and plural."""
    italian: tuple[str, str]
    gender: Gender
    plural_gender: Gender
    """Differs in *l'uovo, le uova*."""
    number: Literal["count", "mass", "singular", "plural", "bare"]
    """A bare noun has an article in Italian and none in English: *dinner, la cena*."""
    noun_class: str
    groups: frozenset[str]
    """The class and the wider groups it belongs to."""
    ownable: bool
    feminine: str
    """What the same profession is called when a woman has it."""


@dataclass(frozen=True, eq=False, kw_only=True, slots=True)
class Adjective:
    """An adjective, and the nouns it can sensibly describe."""

    key: str
    english: str
    comparative: str
    superlative: str
    italian: str
    forms: tuple[str, str, str, str]
    """Masculine and feminine singular, masculine and feminine plural."""
    position: Literal["before", "after", "predicate"]
    changing: bool
    """Whether the quality comes and goes: *tired*, not *Italian*."""
    nouns: tuple[Noun, ...]
    describes_people: bool

    def form(self, gender: Gender, plural: bool) -> str:
        """Return the Italian form that agrees, as it stands after a noun or a verb."""
        return self.forms[2 * plural + (gender == "f")]


@dataclass(frozen=True, eq=False, kw_only=True, slots=True)
class Place:
    """Where things are and people go: *at the market, al mercato*."""

    key: str
    english_at: str
    italian_at: str
    english_to: str
    italian_to: str
    residents: tuple[Noun, ...]


@dataclass(frozen=True, eq=False, kw_only=True, slots=True)
class Verb:
    """A verb in both languages with the nouns it goes with."""

    key: str
    english: EnglishVerb
    english_preposition: str
    infinitive: str
    """The whole Italian infinitive: *fare colazione*, *alzarsi*."""
    conjugation: Conjugation
    complement: str
    """Italian words that follow every form: *colazione* in *fare colazione*."""
    reflexive: bool
    italian_preposition: str
    auxiliary: Literal["avere", "essere"]
    aspect: Literal["action", "achievement", "state"]
    """Actions have a progressive; the past of states is the imperfetto."""
    subjects: tuple[Noun, ...]
    human_subject: bool
    objects: tuple[Noun, ...]
    human_object: bool
    places: tuple[Place, ...]
    frame: Literal["", "to", "manner", "recipient", "known", "at"]
    """What else the verb asks for, or nothing: *at* is a place; *known* objects are pointed at:
    *hate this*."""
    singular_object: bool
    """Whether the object is one thing: *play the violin*."""
    pastime: bool
    """Whether people like doing it."""

    @property
    def same_past(self) -> bool:
        """Whether *I read* may be present or past."""
        return self.english.infinitive == self.english.past
