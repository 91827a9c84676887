"""What the description of the interface says beyond the Python types."""

from functools import partial
from typing import Any

from pydantic import BaseModel

_ERRORS = {
    400: "A field is missing or wrong, or a language is not served.",
    403: "The API key is missing or unknown.",
    404: "There is no such thing here, or it is gone.",
    408: "The request took too long to arrive.",
    413: "More text than the server takes at once.",
    415: "The body is compressed.",
    429: "The server is busy; `Retry-After` says when to try again.",
    431: "The head of the request is too long.",
    503: "Not ready yet; `Retry-After` says when to try again.",
    504: "The translation took too long.",
}

_AT_THE_DOOR = (408, 413, 415, 429, 431)
"""Statuses that any request may get before anybody looks at it."""

WITHOUT_FILE = ("application/json", "application/x-www-form-urlencoded")
WITH_FILE = ("multipart/form-data",)
"""The kinds of a body."""

_WITH_KEY = {
    "Bearer": {"type": "http", "scheme": "bearer"},
    "DeepL-Auth-Key": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "The value is `DeepL-Auth-Key KEY`.",
    },
}
"""The two ways to send a key in a header, which all routes take (`access.check_key`)."""

FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {"text/plain": {}, "text/html": {}}}
}
"""The answer of a route that sends a translated file."""


class Problem(BaseModel):
    """Why a request was not answered."""

    error: str


class Message(BaseModel):
    """Why a request was not answered, in DeepL's form."""

    message: str


def refuses(*statuses: int, body: type[BaseModel] = Problem) -> dict[int | str, dict[str, Any]]:
    """List the errors of a route, and those of all routes, with their body."""
    return {
        status: {"model": body, "description": _ERRORS[status]}
        for status in sorted({*statuses, *_AT_THE_DOOR})
    }


refuses_as_deepl = partial(refuses, body=Message)


def accepts(fields: type[BaseModel], kinds: tuple[str, ...] = WITHOUT_FILE) -> dict[str, Any]:
    """Describe a body."""
    schema = {"schema": fields.model_json_schema()}
    return {"requestBody": {"required": True, "content": dict.fromkeys(kinds, schema)}}


def accepts_query(fields: type[BaseModel]) -> dict[str, Any]:
    """Describe a query."""
    described = fields.model_json_schema()
    required = described.get("required", ())
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in described["properties"].items()
        ]
    }


def describe_keys(described: dict[str, Any]) -> None:
    """Say how a key is sent with each operation that refuses requests without one."""
    described["components"]["securitySchemes"] = _WITH_KEY
    for path in described["paths"].values():
        for operation in path.values():
            if "403" in operation["responses"]:
                operation["security"] = [{name: []} for name in _WITH_KEY]
