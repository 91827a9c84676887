"""Settings that are one of a few words."""

from typing import Any, Literal, get_args, get_origin, get_type_hints


def check_choices(config: Any) -> None:
    """Reject a word that a setting does not know.

    Recipes are checked when they are read. A configuration that is written in Python is not, and
    code that asks whether a word is one of two takes any other for the second.

    Raises:
        ValueError: the message names the setting.
    """
    for name, kind in get_type_hints(type(config)).items():
        value = getattr(config, name)
        if get_origin(kind) is Literal and value not in get_args(kind):
            raise ValueError(f"{name}={value!r} is none of {', '.join(get_args(kind))}")
