"""Settings that are one of a few words, or several of them."""

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
        is_list = get_origin(kind) is tuple
        known = get_args(kind)[0] if is_list else kind
        if get_origin(known) is not Literal:
            continue
        for word in value if is_list else (value,):
            if word not in get_args(known):
                raise ValueError(f"{name}={word!r} is none of {', '.join(get_args(known))}")
