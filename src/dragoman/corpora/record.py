"""The two sides of a record, as JSON lines and Hugging Face data sets write them."""

from collections.abc import Mapping, Sequence

from dragoman.corpora.text_file import CorpusError
from dragoman.languages.codes import closest_language, same_language


def sides(record: object, languages: tuple[str, str], *, place: str) -> tuple[str, str]:
    """Return the source and the target of a record.

    The sides are keyed by their language codes (`{"en": …, "it": …}`), possibly inside
    "translation", or by "source" and "target", or else by codes that name the same script, or
    differ only in that one of the two has a region, as in translation memories. Case does not
    matter, as in "en-GB" and "en_gb".

    Args:
        record: What was read.
        languages: The codes of the source and of the target.
        place: The file and the line, for messages.

    Raises:
        CorpusError: the record has no such sides, or they are not text.
    """
    if not isinstance(record, Mapping):
        raise CorpusError(f"{place}: {_kind(record)} stands where a record is expected")
    if isinstance(translation := record.get("translation"), Mapping):
        record = translation
    names = list(record)
    ways = ((languages, _find), (("source", "target"), _find), (languages, closest_language))
    for keys, find in ways:
        source, target = (find(names, key) for key in keys)
        if source is not None and target is not None and source != target:
            return _text(record, source, place), _text(record, target, place)
    there = ", ".join(names) or "nothing"
    raise CorpusError(
        f"{place}: a record needs {languages[0]} and {languages[1]}, or source and target, "
        f"and this one has {there}"
    )


def _find(names: Sequence[str], key: str) -> str | None:
    """Find the key as it is, or else one that differs only in case."""
    if key in names:
        return key
    return next((name for name in names if same_language(name, key)), None)


def _text(record: Mapping[str, object], key: str, place: str) -> str:
    """Return a value, which has to be text."""
    value = record[key]
    if not isinstance(value, str):
        raise CorpusError(f'{place}: "{key}" is {_kind(value)}, not a text')
    return value


def _kind(value: object) -> str:
    """Name the type of a JSON value."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")
