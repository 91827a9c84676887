"""Load the lexicon: entries from the tables, linked with the entries they go with."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from dragoman.corpora.primer.conjugation import conjugate, reflexive_base
from dragoman.corpora.primer.english import EnglishVerb
from dragoman.corpora.primer.entries import Adjective, Noun, Place, Verb
from dragoman.corpora.primer.italian import Gender
from dragoman.corpora.primer.tables import LexiconError, names_in, read_table

Row = dict[str, str]


@dataclass(frozen=True, eq=False, kw_only=True, slots=True)
class Lexicon:
    """All the tables, with the indices that the grammar draws from."""

    nouns: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    places: tuple[Place, ...]
    adjectives_of: dict[str, tuple[Adjective, ...]]
    """From the key of a noun to what can describe it, predicates included."""
    people_adjectives: tuple[Adjective, ...]


@cache
def lexicon() -> Lexicon:
    """Load the lexicon, once.

    Raises:
        LexiconError: a table has a wrong column, or names a noun or place that does not exist.
    """
    classes = {row["class"]: row for row in read_table("classes.tsv")}
    nouns = tuple(_noun(row, classes) for row in read_table("nouns.tsv"))
    cities = tuple(_named_place(row, "a") for row in read_table("cities.tsv"))
    countries = tuple(_named_place(row, "in") for row in read_table("countries.tsv"))
    places = tuple(_place(row, nouns) for row in read_table("places.tsv"))
    by_name: dict[str, tuple[Place, ...]] = {place.key: (place,) for place in places}
    by_name |= {"city name": cities, "country name": countries}
    by_name["*"] = (*(place for place in places if place.english_to), *cities, *countries)
    adjectives = tuple(_adjective(row, nouns) for row in read_table("adjectives.tsv"))
    return Lexicon(
        nouns=nouns,
        adjectives=adjectives,
        verbs=tuple(_verb(row, nouns, by_name) for row in read_table("verbs.tsv")),
        places=(*places, *cities, *countries),
        adjectives_of={
            noun.key: tuple(one for one in adjectives if noun in one.nouns) for noun in nouns
        },
        people_adjectives=tuple(one for one in adjectives if one.describes_people),
    )


def verbs_where(test: Callable[[Verb], bool]) -> Callable[[], tuple[Verb, ...]]:
    """Return a function that finds the verbs that pass a test, once."""

    @cache
    def found() -> tuple[Verb, ...]:
        return tuple(verb for verb in lexicon().verbs if test(verb))

    return found


@cache
def nouns_of(*selectors: str) -> tuple[Noun, ...]:
    """Return the nouns of some classes, groups or keys, each once, in the table's order."""
    return _select(lexicon().nouns, selectors, "nouns_of")


def _noun(row: Row, classes: dict[str, Row]) -> Noun:
    if row["class"] not in classes:
        raise LexiconError(f"nouns.tsv: {row['english']!r} has an unknown class {row['class']!r}")
    about = classes[row["class"]]
    english = (row["english"], row["english_plural"])
    gender = row["gender"]
    return Noun(
        key=english[0] or english[1],
        english=english,
        italian=(row["italian"], row["italian_plural"]),
        gender=cast(Gender, gender[0]),
        plural_gender=cast(Gender, gender[-1]),
        number=cast(Literal["count"], row["number"]),
        noun_class=row["class"],
        groups=frozenset((row["class"], *names_in(about["groups"]))),
        ownable=about["ownable"] == "yes",
        feminine=row["feminine"],
    )


def _adjective(row: Row, nouns: tuple[Noun, ...]) -> Adjective:
    selectors = names_in(row["nouns"])
    return Adjective(
        key=f"{row['english']}={row['italian']}",
        english=row["english"],
        comparative=row["comparative"],
        superlative=row["superlative"],
        italian=row["italian"],
        forms=(
            row["italian"],
            row["feminine"],
            row["masculine_plural"],
            row["feminine_plural"],
        ),
        position=cast(Literal["after"], row["position"]),
        changing=row["changing"] == "yes",
        nouns=_select(nouns, selectors, row["english"]),
        describes_people="human" in selectors,
    )


def _verb(row: Row, nouns: tuple[Noun, ...], places: dict[str, tuple[Place, ...]]) -> Verb:
    infinitive, _, complement = row["italian"].partition(" ")
    reflexive = infinitive.endswith("si")
    subjects, objects = names_in(row["subjects"]), names_in(row["objects"])
    preposition = row["italian_preposition"] or "-"  # splits depend on the key
    return Verb(
        key=f"{row['english']}={row['italian']}+{preposition}",
        english=EnglishVerb(
            infinitive=row["english"],
            third_singular=row["third_singular"],
            past=row["past"],
            participle=row["participle"],
            gerund=row["gerund"],
        ),
        english_preposition=row["english_preposition"],
        infinitive=row["italian"],
        conjugation=conjugate(reflexive_base(infinitive) if reflexive else infinitive),
        complement=complement,
        reflexive=reflexive,
        italian_preposition=row["italian_preposition"],
        auxiliary=cast(Literal["avere"], row["auxiliary"]),
        aspect=cast(Literal["action"], row["aspect"]),
        subjects=_select(nouns, subjects, row["english"]),
        human_subject="human" in subjects,
        objects=_select(nouns, objects, row["english"]),
        human_object="human" in objects,
        places=tuple(place for name in names_in(row["places"]) for place in places[name]),
        frame=cast(Literal["to"], row["frame"]),
        singular_object=row["object_number"] == "singular",
        pastime=row["pastime"] == "yes",
    )


def _place(row: Row, nouns: tuple[Noun, ...]) -> Place:
    return Place(
        key=row["place"],
        english_at=row["english_at"],
        italian_at=row["italian_at"],
        english_to=row["english_to"],
        italian_to=row["italian_to"],
        residents=_select(nouns, names_in(row["residents"]), row["place"]),
    )


def _named_place(row: Row, preposition: str) -> Place:
    italian = f"{preposition} {row['italian']}"
    return Place(
        key=row["english"],
        english_at=f"in {row['english']}",
        italian_at=italian,
        english_to=f"to {row['english']}",
        italian_to=italian,
        residents=(),
    )


def _select(nouns: tuple[Noun, ...], selectors: Iterable[str], user: str) -> tuple[Noun, ...]:
    wanted = set(selectors)
    if unknown := sorted(wanted - _selectors(nouns)):
        raise LexiconError(f"{user!r} names {unknown[0]!r}, which is no noun, class or group")
    return tuple(noun for noun in nouns if noun.key in wanted or noun.groups & wanted)


@cache
def _selectors(nouns: tuple[Noun, ...]) -> frozenset[str]:
    return frozenset(name for noun in nouns for name in (noun.key, *noun.groups))
