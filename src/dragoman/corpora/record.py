"""The two sides of a record, as JSON lines and Hugging Face data sets write them."""

from collections.abc import Mapping

from dragoman.corpora.text_file import CorpusError
from dragoman.languages.codes import same_language


def sides(record: object, languages: tuple[str, str], *, place: str) -> tuple[str, str]:
    """Return the source and the target of a record.

    The sides are keyed by their language codes (`{"en": …, "it": …}`), possibly inside
    "translation", or by "source" and "target". Case does not matter, as in "en-GB" and "en_gb".

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
    for keys in (languages, ("source", "target")):
        source, target = (_find(record, key) for key in keys)
        if source is not None and target is not None:
            return _text(record, source, place), _text(record, target, place)
    there = ", ".join(str(key) for key in record) or "nothing"
    raise CorpusError(
        f"{place}: a record needs {languages[0]} and {languages[1]}, or source and target, "
        f"and this one has {there}"
    )


def _find(record: Mapping[str, object], key: str) -> str | None:
    """Find the key as it is, or else one that differs only in case."""
    if key in record:
        return key
    return next((other for other in record if same_language(other, key)), None)


def _text(record: Mapping[str, object], key: str, place: str) -> str:
    """Return a value, which has to be text."""
    value = record[key]
    if not isinstance(value, str):
        raise CorpusError(f"{place}: {key} is {_kind(value)}, not a text")
    return value


def _kind(value: object) -> str:
    """Name the type of a JSON value."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")
