"""Turn TOML tables into configuration dataclasses, and reject what these do not declare."""

import difflib
import tomllib
import types
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from dragoman.errors import DragomanError, UsageError

Config = TypeVar("Config")


def read_table(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        DragomanError: there is no such file.
        UsageError: it is not UTF-8 or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DragomanError(f"{path}: there is no such file") from None
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or too much of it
        raise UsageError(f"{path}: not a TOML file: {error}") from error


def from_table(config_type: type[Config], table: dict[str, Any], *, at: str = "") -> Config:
    """Fill a configuration, and the configurations inside it, from nested tables.

    Raises:
        UsageError: a key is unknown or missing, or a value has the wrong type.
    """
    hints = get_type_hints(config_type)
    _check_keys(table, {field.name: hints[field.name] for field in fields(config_type)}, at)  # type: ignore[arg-type]
    required = [
        field.name
        for field in fields(config_type)  # type: ignore[arg-type]
        if field.default is MISSING and field.default_factory is MISSING
    ]
    if missing := [at + name for name in required if name not in table]:
        raise UsageError(f"{missing[0]} is missing")
    values = {key: _convert(value, hints[key], at + key) for key, value in table.items()}
    try:
        return config_type(**values)
    except UsageError:
        raise
    except ValueError as error:  # a check in __post_init__
        raise UsageError(f"{at}{error}") from error


def to_table(config: Any) -> dict[str, Any]:
    """Write a configuration as nested tables, the inverse of `from_table`; None is left out."""
    table: dict[str, Any] = {}
    for field in fields(config):
        value = getattr(config, field.name)
        if is_dataclass(value):
            table[field.name] = to_table(value)
        elif isinstance(value, tuple):
            table[field.name] = [to_table(item) if is_dataclass(item) else item for item in value]
        elif value is not None:
            table[field.name] = value
    return table


def set_key(table: dict[str, Any], assignment: str) -> None:
    """Apply one `section.key=value` to a table in place; the value is TOML, or else a string.

    Raises:
        UsageError: there is no equals sign or no key, the path leads through a value, or the
            assignment would replace a whole section and lose the rest of it.
    """
    path, equals, text = assignment.partition("=")
    *sections, key = path.strip().split(".")
    if not (equals and key and all(sections)):
        raise UsageError(f"--set {assignment}: write it as section.key=value")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise UsageError(f"--set {assignment}: {section} is not a section")
    if isinstance(value, dict) or isinstance(table.get(key), dict):
        raise UsageError(
            f"--set {assignment}: {key} would be a whole section; write each of its settings as "
            f"{path.strip()}.key=value"
        )
    table[key] = value


def nearest(word: str, known: Iterable[str], *, likeness: float = 0.5) -> str | None:
    """Return the known word that is most like a misspelt one, if any is so like it (0 to 1)."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=likeness)), None)


def _settings_of(kind: Any) -> list[str]:
    """List the keys of a section; any other setting has none."""
    return [field.name for field in fields(kind)] if is_dataclass(kind) else []


def _check_keys(table: dict[str, Any], declared: dict[str, Any], at: str) -> None:
    """Reject keys that are not declared, here and in the sections, of which another may have them.

    Args:
        table: Maybe with sections.
        declared: The type of each key.
        at: What precedes the keys in messages.
    """
    sections = {name: _settings_of(kind) for name, kind in declared.items()}
    places = {at: list(declared)} | {f"{at}{name}.": has for name, has in sections.items()}
    tables = {at: table} | {
        f"{at}{name}.": value
        for name, value in table.items()
        if isinstance(value, dict) and sections.get(name)
    }
    for place, names in tables.items():
        if unknown := [name for name in names if name not in places[place]]:
            raise UsageError(_unknown(unknown[0], place, places))


def _unknown(name: str, at: str, places: dict[str, list[str]]) -> str:
    """Say that a key is unknown and which one was probably meant, perhaps one elsewhere."""
    meant = nearest(name, chain(*places.values()), likeness=0.8) or nearest(name, places[at])
    if meant in places[at]:
        return f"unknown key {at}{name}; did you mean {at}{meant}?"
    if meant:
        having = [place + meant for place, names in places.items() if meant in names]
        return f"unknown key {at}{name}; did you mean {' or '.join(having)}?"
    return f"unknown key {at}{name}; the keys are {', '.join(at + name for name in places[at])}"


def _convert(value: Any, expected: Any, at: str) -> Any:
    """Turn a TOML value into the type that a field declares."""
    origin = get_origin(expected)
    if origin in (Union, types.UnionType):
        expected = next(option for option in get_args(expected) if option is not type(None))
        return _convert(value, expected, at)
    if is_dataclass(expected) and isinstance(value, dict):
        return from_table(expected, value, at=f"{at}.")  # type: ignore[arg-type]
    if origin is tuple and isinstance(value, list):
        item = get_args(expected)[0]
        return tuple(_convert(v, item, f"{at}[{i}]") for i, v in enumerate(value))
    if origin is Literal and value in get_args(expected):
        return value
    if expected is float and type(value) in (int, float):
        return float(str(value))  # a whole number of 400 digits is infinite, as in TOML's 1e400
    if type(value) is expected:
        if expected is str:
            _check_text(value, at)
        return value
    raise UsageError(
        f"{at} = {_written(value)} should be {_spoken(expected)}{_example(value, expected)}"
    )


def _written(value: Any) -> str:
    """Write a value for a message; a section looks as it does in a recipe."""
    if not isinstance(value, dict):
        return repr(value)
    return "{" + ", ".join(f"{key} = {_written(item)}" for key, item in value.items()) + "}"


def _check_text(text: str, at: str) -> None:
    """Reject text that no settings file can hold."""
    if "\0" in text:
        raise UsageError(f"{at} = {text!r} has a NUL character, which is not allowed; remove it")
    try:
        text.encode()
    except UnicodeEncodeError:  # from a name or an argument that Python could not decode
        raise UsageError(
            f"{at} = {text!r} is not UTF-8 and cannot be written down; change it, "
            "or rename the file"
        ) from None


def _example(value: Any, expected: Any) -> str:
    """Show the table that was meant instead of a text, such as a corpus named by its path alone."""
    item = get_args(expected)[0] if get_origin(expected) is tuple else expected
    if not (isinstance(value, str) and is_dataclass(item)):
        return ""
    name, kind = next(iter(get_type_hints(item).items()))
    if str not in (kind, *get_args(kind)):
        return ""
    table = f'{{ {name} = "{value}" }}'
    return f", as {table}" if item is expected else f", as [{table}]"


def _spoken(expected: Any) -> str:
    """Name a type as a user would."""
    if get_origin(expected) is Literal:
        return "one of " + ", ".join(repr(choice) for choice in get_args(expected))
    if get_origin(expected) is tuple:
        return "a list"
    if is_dataclass(expected):
        return "a section"
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    return names.get(expected, str(expected))
