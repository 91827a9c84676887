"""Adverbials of time, place and manner."""

from functools import cache

from dragoman.corpora.primer.derivation import Derivation, Phrase
from dragoman.corpora.primer.english import Tense
from dragoman.corpora.primer.entries import Place, Verb
from dragoman.corpora.primer.italian import euphonic
from dragoman.corpora.primer.tables import read_table

_MINUTES = (
    ("at half past {english}", "{italian} e mezza"),
    ("at a quarter past {english}", "{italian} e un quarto"),
    ("at ten past {english}", "{italian} e dieci"),
    ("at twenty past {english}", "{italian} e venti"),
)


def time_of(derivation: Derivation, tense: Tense, *, far: bool) -> Phrase:
    """Draw an expression of time that fits the tense; *last year* and the like only if far."""
    return derivation.pair(*derivation.choose(_times(tense, far)))


def clock_time(derivation: Derivation) -> Phrase:
    """Draw an hour of the day: *at three o'clock*, *alle tre*."""
    return derivation.pair(*derivation.choose(_clock_times()))


def month(derivation: Derivation, season: str = "any") -> Phrase:
    """Draw a month of a season, *cold*, *warm* or *any*, as a date: *in April*, *ad aprile*."""
    row = derivation.choose(_months(season))
    name = row["italian"]
    return derivation.pair(f"in {row['english']}", f"{euphonic('a', name)} {name}")


def day_name(derivation: Derivation) -> Phrase:
    """Draw a day of the week."""
    row = derivation.choose(read_table("days.tsv"))
    return derivation.pair(row["english"], row["italian"])


def place_of(derivation: Derivation, verb: Verb) -> Phrase:
    """Draw a place where the verb can happen, or where motion can lead."""
    place = derivation.choose(verb.places)
    derivation.combine("verb-place", verb.key, place.key)
    if verb.frame == "to":
        return derivation.pair(place.english_to, place.italian_to)
    return at(derivation, place)


def at(derivation: Derivation, place: Place) -> Phrase:
    """Return a place as a location."""
    return derivation.pair(place.english_at, place.italian_at)


def manner(derivation: Derivation) -> Phrase:
    """Draw an adverb of manner."""
    return derivation.pair(*derivation.choose(_manners()))


@cache
def _months(season: str) -> tuple[dict[str, str], ...]:
    return tuple(row for row in read_table("months.tsv") if season in ("any", row["season"]))


@cache
def _manners() -> tuple[tuple[str, str], ...]:
    rows = read_table("adverbs.tsv")
    return tuple((row["english"], row["italian"]) for row in rows if row["kind"] == "manner")


@cache
def _times(tense: Tense, far: bool) -> tuple[tuple[str, str], ...]:
    wanted = "past" if tense is Tense.PERFECT else tense.value
    found = [
        (row["english"], row["italian"])
        for row in read_table("times.tsv")
        if wanted in row["tenses"].split(",") and (far or row["span"] == "near")
    ]
    if wanted == "present":
        found += [
            (f"on {day['english']}s", day["italian_weekly"]) for day in read_table("days.tsv")
        ]
    if wanted in ("past", "future"):
        found += [(f"on {day['english']}", day["italian"]) for day in read_table("days.tsv")]
    return tuple(found)


@cache
def _clock_times() -> tuple[tuple[str, str], ...]:
    hours = [("one", "all'una")]
    hours += [
        (row["english"], f"alle {row['italian']}")
        for row in read_table("numbers.tsv")
        if int(row["value"]) <= 12  # noqa: PLR2004 - hours on a clock
    ]
    full = [(f"at {english} o'clock", italian) for english, italian in hours]
    parts = [
        (left.format(english=english), right.format(italian=italian))
        for left, right in _MINUTES
        for english, italian in hours
    ]
    return (*full, *full, *parts, ("at noon", "a mezzogiorno"), ("at midnight", "a mezzanotte"))
