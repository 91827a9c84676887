"""What a client sends: one set of fields, whether in a query, a form or JSON."""

import json
import sys
from typing import Annotated, Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, ValidationError, WithJsonSchema
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from starlette.requests import Request

from dragoman.config import nearest
from dragoman.serving.refusal import RefusalError, cut_short
from dragoman.tokenizers.normalisation import encodable

# The body is in memory as a whole, and its size is limited. A long file would be copied into the
# system's temporary folder, which may be full, or not there in a container.
MultiPartParser.spool_max_size = sys.maxsize

Fields = TypeVar("Fields", bound=BaseModel)

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
MOST_FIELDS = 1_000
MOST_ITEMS = 10_000
"""Items of a list, such as one of texts."""


class SentFile(NamedTuple):
    """A file of a form."""

    name: str | None
    content: bytes


File = Annotated[
    InstanceOf[SentFile],
    WithJsonSchema({"type": "string", "contentMediaType": "application/octet-stream"}),
]
"""The type of a field that is a file."""


class OwnFields(BaseModel):
    """Fields of our own interface, where an unknown one is an error.

    The interfaces of other programs have some that mean nothing here.
    """

    model_config = ConfigDict(extra="forbid")


class OneSentence(OwnFields):
    """A sentence, and the languages between which it is translated."""

    text: str = Field(description="One sentence; it is not cut.")
    source: str = Field(description="A language code.")
    target: str = Field(description="A language code.")


async def read_fields(request: Request, model: type[Fields]) -> Fields:
    """Read the fields of a request, from its query and, with precedence, from its body.

    An optional one may also be null or empty, as some clients write it.

    Raises:
        RefusalError: the body cannot be read, or a field is missing or has a wrong value.
    """
    table = {**_collect(_parse(request.scope["query_string"])), **await _read_body(request)}
    _check_size(table)
    optional = {name for name, field in model.model_fields.items() if not field.is_required()}
    table = {name: v for name, v in table.items() if name not in optional or v not in (None, "")}
    _refuse_truth_as_number(table, model)
    try:
        return model.model_validate({name: _clean(value) for name, value in table.items()})
    except ValidationError as error:
        raise RefusalError(400, _first_mistake(error, list(model.model_fields))) from None


async def _read_body(request: Request) -> dict[str, Any]:
    """Read a form if the body is declared as one, else JSON; an empty body has no fields."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = (await request.body()).strip()
    if kind in _FORMS and not body.startswith(b"{"):  # curl -d '{…}' says that it is a form
        return _collect(_parse(body)) if kind == _FORMS[0] else await _read_form(request)
    if not body:
        return {}
    try:
        text = body.decode("utf-8-sig")  # given bytes, the parser would guess the encoding
        table = json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)
    except RefusalError:
        raise
    except RecursionError:
        raise RefusalError(400, "the body is nested too deeply") from None
    except ValueError as error:  # not UTF-8, or not JSON; it says where
        raise RefusalError(400, f"the body is neither JSON nor a form: {error}") from None
    if not isinstance(table, dict):
        raise RefusalError(400, "the body should be a JSON object")
    return table


def _parse(quoted: bytes) -> list[tuple[str, str]]:
    """Read a query, or a form that is encoded like one, in which letters need not be quoted.

    Programs that follow the standard quote all but ASCII; curl -d sends what it is given.
    """
    try:
        return parse_qsl(
            quoted.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except UnicodeDecodeError:
        raise RefusalError(400, "the form is not UTF-8") from None
    except ValueError:
        raise RefusalError(400, f"too many fields, more than {MOST_FIELDS}") from None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that is there twice, as programs differ in which value they take."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise RefusalError(400, "the body has a field twice")
    return table


def _no_number(name: str) -> Any:
    raise RefusalError(400, f"{name} is not a JSON number")


def _check_size(table: dict[str, Any]) -> None:
    """Refuse what would take seconds to check value by value, while all others wait."""
    if len(table) > MOST_FIELDS:
        raise RefusalError(400, f"there are more than {MOST_FIELDS} fields")
    for name, value in table.items():
        if isinstance(value, list) and len(value) > MOST_ITEMS:
            raise RefusalError(413, f"{name}: the list has more than {MOST_ITEMS} items")


def _refuse_truth_as_number(table: dict[str, Any], model: type[BaseModel]) -> None:
    """Refuse `true` where a number is expected; Python would take it for 1."""
    for name, value in table.items():
        field = model.model_fields.get(name)
        if isinstance(value, bool) and field is not None and field.annotation in (int, float):
            raise RefusalError(400, f"{name} should be a number, not true or false")


async def _read_form(request: Request) -> dict[str, Any]:
    body = await request.body()
    parsing = request.form(max_fields=MOST_FIELDS, max_files=1, max_part_size=len(body))
    try:
        async with parsing as form:
            items = [(name, await _read_part(part)) for name, part in form.multi_items()]
    except HTTPException as error:
        raise RefusalError(400, f"the form cannot be read: {error.detail}") from None
    except (LookupError, UnicodeError):
        raise RefusalError(400, "the form cannot be read: its charset is unknown") from None
    if all(isinstance(value, str) for _, value in items):  # a file may be of any bytes
        try:
            body.decode()  # the parser has read what is not UTF-8 as Latin-1
        except UnicodeDecodeError:
            raise RefusalError(400, "the form is not UTF-8") from None
    return _collect(items)


async def _read_part(part: UploadFile | str) -> SentFile | str:
    return part if isinstance(part, str) else SentFile(part.filename, await part.read())


def _collect(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Put fields into a table; a repeated one becomes a list."""
    table: dict[str, Any] = {}
    for field, value in items:
        name = field.removesuffix("[]")  # as some write a list
        if name not in table:
            table[name] = value
        elif isinstance(table[name], list):
            table[name].append(value)
        else:
            table[name] = [table[name], value]
    return table


def _clean(value: Any) -> Any:
    """Replace the code points that are not allowed in text interchange, as translators do."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [encodable(item) if isinstance(item, str) else item for item in value]
    return value


def _first_mistake(error: ValidationError, names: list[str]) -> str:
    """Say in a sentence which field is wrong, and why."""
    mistake = error.errors(include_url=False, include_input=False)[0]
    field = cut_short(str(mistake["loc"][0])) if mistake["loc"] else "the request"
    if mistake["type"] == "extra_forbidden":
        close = nearest(field, names, likeness=0.6)
        meant = f"did you mean {close}?" if close else f"there are {', '.join(names)}"
        return f"{field}: there is no such field; {meant}"
    if mistake["type"] == "is_instance_of":  # the only such type is `File`
        return f"{field} should be a file with a name"
    if mistake["type"] == "string_type" and len(mistake["loc"]) == 1:  # maybe it is there twice
        return f"{field} should be one text"
    if mistake["type"] == "missing":
        return f"{field} is missing"
    message = mistake["msg"]
    return f"{field}: {message[:1].lower()}{message[1:]}"
