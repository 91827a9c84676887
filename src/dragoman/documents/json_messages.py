"""Catalogues of messages in JSON, as web pages, extensions of browsers and Flutter have them."""

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Literal

from dragoman.documents.choices import read_choices
from dragoman.documents.document import Document, DocumentError, Edit, Rewritten, edit, read_between
from dragoman.documents.languages import check_language
from dragoman.documents.message import read_message
from dragoman.markup.passage import Passage
from dragoman.markup.text_reader import TextReader

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"(?P<names>\s*+:)?')
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\u[0-9a-fA-F]{4}")

_HALF = re.compile("[\ud800-\udfff]")

_MESSAGE = {"message", "defaultMessage"}
_ABOUT_IT = {"id", "description", "comment", "placeholders"}
"""What an extension of a browser, VS Code or formatjs has beside a message."""

_RANGE = r"(?:\{\d+\}|[\[\]](?:-?\w+|\*)(?:\s*,\s*(?:-?\w+|\*))?[\[\]])"
_BETWEEN = re.compile(
    rf"""(?P<between> \A\s*+{_RANGE}\s*+(?=[^|]*\|) | (?<!\s)\s*+\|\s*+(?:{_RANGE}\s*+)? )
    | \{{[^{{}}]*\}}""",
    re.VERBOSE,
)
"""What stands between the forms of a plural, and says for which numbers they are, as in
`{0} none|[1,9] a few|[10,*] many`; not the bar in `{{ price | euro }}`."""

_Role = Literal["message", "language", "other"]


class _Object(tuple[tuple[str, object], ...]):
    """The names and values of an object, in order; a name may be there twice."""

    __slots__ = ()


def take_json_apart(text: str, reader: TextReader) -> Document:
    """Take a catalogue apart: its strings are translated, and their names stay.

    Of an object that has a message and words about it, such as a description, only the message is
    translated. Nothing is whose name begins with `@`, but `@@locale` becomes the new language.

    Raises:
        DocumentError: it is not JSON, no object, or from another language than the model's.
    """
    try:
        catalogue = json.loads(text, object_pairs_hook=_Object)
        roles = list(_roles_in(catalogue, "message"))
    except json.JSONDecodeError as error:
        raise DocumentError(error.lineno, f"this is not JSON: {error.msg}") from None
    except RecursionError:
        raise DocumentError(None, "this is not a catalogue: its lists never end") from None
    if not isinstance(catalogue, _Object):
        raise DocumentError(
            None,
            "a catalogue of messages is an object ({…}); write each record of a list on a line of "
            "its own (.jsonl), as jq -c '.[]' does, and name the field to translate with --field",
        )
    values = (found for found in _STRING.finditer(text) if not found["names"])
    write = partial(json.dumps, ensure_ascii=text.isascii() and bool(_ESCAPED.search(text)))
    edits = []
    for found, role in zip(values, roles, strict=True):
        value = json.loads(found[0])
        if role == "language":
            check_language(value, reader.source, _line_of(found), "from")
            edits.append(Edit(*found.span(), write(reader.target)))
        elif role == "message" and value.strip():
            if _HALF.search(value):
                raise DocumentError(_line_of(found), "half of a character is missing (\\ud83d…)")
            edits.append(Edit(*found.span(), Rewritten(_read(value, reader), write)))
    return edit(text, edits)


def _roles_in(value: object, role: _Role) -> Iterator[_Role]:
    """Say what each string is that is a value, in the order of the file."""
    if isinstance(value, str):
        yield role
    elif isinstance(value, _Object):
        names = {name for name, _ in value}
        has_message = names & _MESSAGE and names <= _MESSAGE | _ABOUT_IT
        for name, each in value:
            is_about = name.startswith("@") or (has_message and name not in _MESSAGE)
            is_language = name == "@@locale" and isinstance(each, str)
            yield from _roles_in(each, "language" if is_language else "other" if is_about else role)
    elif isinstance(value, list):
        for each in value:
            yield from _roles_in(each, role)


def _line_of(found: re.Match[str]) -> int:
    return found.string.count("\n", 0, found.start()) + 1


def _read(message: str, reader: TextReader) -> Passage:
    """Take a message apart, in which a program may choose between forms."""
    return read_choices(message, partial(_read_forms, reader=reader))


def _read_forms(text: str, reader: TextReader) -> Passage:
    found = (each for each in _BETWEEN.finditer(text) if each["between"])
    places = [0, *(place for each in found for place in each.span()), len(text)]
    parts = [text[start:end] for start, end in pairwise(places)]
    return read_between(parts, partial(read_message, reader=reader))
