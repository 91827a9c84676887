"""Conjugate Italian verbs by the regular patterns and the exceptions of ``irregular_verbs.tsv``."""

from dataclasses import dataclass
from functools import cache

from dragoman.corpora.primer.tables import read_table

Persons = tuple[str, ...]
"""Six forms: io, tu, lui or lei, noi, voi, loro."""

REFLEXIVE_PRONOUNS: Persons = ("mi", "ti", "si", "ci", "vi", "si")

_PRESENT = {
    "are": ("o", "i", "a", "iamo", "ate", "ano"),
    "ere": ("o", "i", "e", "iamo", "ete", "ono"),
    "ire": ("o", "i", "e", "iamo", "ite", "ono"),
}
_IMPERFECT = ("vo", "vi", "va", "vamo", "vate", "vano")
_FUTURE = ("ò", "ai", "à", "emo", "ete", "anno")
_PARTICIPLE = {"are": "ato", "ere": "uto", "ire": "ito"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Conjugation:
    """The forms of one verb that the grammar uses."""

    present: Persons
    imperfect: Persons
    future: Persons
    participle: str
    """Masculine singular."""
    gerund: str
    imperative: str
    """Second person singular, affirmative."""


@cache
def conjugate(infinitive: str) -> Conjugation:
    """Conjugate a verb, given without its reflexive pronoun."""
    stem, ending = infinitive[:-3], infinitive[-3:]
    irregular = _irregular_verbs().get(infinitive, {})
    present = _forms(irregular, "present") or _regular_present(stem, ending)
    theme = "a" if ending == "are" else ending[0]
    return Conjugation(
        present=present,
        imperfect=_forms(irregular, "imperfect")
        or tuple(stem + theme + form for form in _IMPERFECT),
        future=tuple(
            (irregular.get("future_stem") or _future_stem(stem, ending)) + form for form in _FUTURE
        ),
        participle=irregular.get("participle") or stem + _PARTICIPLE[ending],
        gerund=irregular.get("gerund") or stem + ("ando" if ending == "are" else "endo"),
        imperative=present[2] if ending == "are" else present[1],
    )


def reflexive_base(infinitive: str) -> str:
    """Return the infinitive without its reflexive pronoun.

    >>> reflexive_base("alzarsi")
    'alzare'
    """
    return infinitive.removesuffix("si") + "e"


def _regular_present(stem: str, ending: str) -> Persons:
    return tuple(_join(stem, ending, form) for form in _PRESENT[ending])


def _join(stem: str, ending: str, form: str) -> str:
    if ending == "are" and form.startswith("i"):
        if stem.endswith(("c", "g")):  # cercare, pagare: the sound stays hard
            return stem + "h" + form
        if stem.endswith("i"):  # mangiare, studiare: one i is enough
            return stem + form[1:]
    return stem + form


def _future_stem(stem: str, ending: str) -> str:
    if ending != "are":
        return stem + ending[:-1]
    if stem.endswith(("c", "g")):
        return stem + "her"
    if stem.endswith(("ci", "gi")):
        return stem[:-1] + "er"
    return stem + "er"


@cache
def _irregular_verbs() -> dict[str, dict[str, str]]:
    return {row["italian"]: row for row in read_table("irregular_verbs.tsv")}


def _forms(row: dict[str, str], column: str) -> Persons:
    return tuple(row.get(column, "").split())
