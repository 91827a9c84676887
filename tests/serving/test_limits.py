"""Every limit: at it, a little beyond, far beyond, and things that are no numbers at all."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from tests.serving.live import Copier, serving

from dragoman.serving.fields import MOST_FIELDS, MOST_ITEMS
from dragoman.serving.models import ServedModel
from dragoman.serving.settings import MOST_ALTERNATIVES, Settings
from dragoman.serving.words import MOST_WAYS

SETTINGS = Settings(max_characters=1000)
WRONG = {
    "negative": "-1",
    "beyond": "{beyond}",
    "thousandfold": "{beyond}000",
    "beyond 64 bits": "9223372036854775808",
    "five thousand digits": "1" + "0" * 5000,
    "fraction": "1.5",
    "beyond a float": "1e400",
    "not a number": "NaN",
    "infinite": "-Infinity",
    "true": "true",
    "a word": '"many"',
    "list": "[1]",
    "object": "{{}}",
}
INTEGERS = {
    ("/translate", "alternatives"): (0, MOST_ALTERNATIVES - 1),
    ("/api/v1/translate", "n_best"): (1, MOST_ALTERNATIVES),
    ("/api/v1/ways", "count"): (1, MOST_WAYS),
}


@pytest.fixture(scope="module")
def url(copier: tuple[Copier, ServedModel]) -> Iterator[str]:
    with serving([copier[1]], SETTINGS) as url:
        yield url


def ask(url: str, path: str, value: str, field: str) -> requests.Response:
    """Ask for a translation, with a field that is written as JSON."""
    text = {"q": "a cat"} if path == "/translate" else {"text": "a cat"}
    fields = json.dumps({**text, "source": "en", "target": "it"})
    body = f'{fields[:-1]}, "{field}": {value}}}'
    return requests.post(f"{url}{path}", data=body.encode(), timeout=30)


@pytest.mark.parametrize(("path", "field"), INTEGERS)
def test_a_number_within_its_limits_is_taken(url: str, path: str, field: str) -> None:
    for number in (*INTEGERS[path, field], "null", '""'):  # the last two say that it is not set
        assert ask(url, path, str(number), field).status_code == 200, number


@pytest.mark.parametrize(("path", "field"), INTEGERS)
@pytest.mark.parametrize("value", WRONG.values(), ids=WRONG)
def test_a_number_beyond_its_limits_is_refused_in_a_sentence(
    url: str, path: str, field: str, value: str
) -> None:
    written = value.format(beyond=INTEGERS[path, field][1] + 1)
    answer = ask(url, path, written, field)

    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}
    assert 5 < len(answer.json()["error"]) < 200
    assert "\n" not in answer.json()["error"]


def test_every_number_of_the_interface_has_limits(url: str) -> None:
    described = requests.get(f"{url}/openapi.json", timeout=30).json()

    def numbers(schema: Any, name: str) -> Iterator[tuple[str, Any]]:
        if isinstance(schema, dict):
            if schema.get("type") in ("integer", "number"):
                yield name, schema
            for key, value in schema.items():
                yield from numbers(value, key)
        elif isinstance(schema, list):
            for value in schema:
                yield from numbers(value, name)

    asked = [
        part
        for operations in described["paths"].values()
        for operation in operations.values()
        for part in (operation.get("requestBody", {}), operation.get("parameters", []))
    ]
    found = list(numbers(asked, ""))
    assert {"alternatives", "n_best", "count"} <= {name for name, _ in found}
    for name, schema in found:
        assert "minimum" in schema, name
        assert "maximum" in schema or "exclusiveMaximum" in schema, name


WRONG_BODIES = {
    "deep list": ('{"q": ' + "[" * 35_000 + "]" * 35_000 + "}", 400),
    "deep objects": ('{"a":' * 9_000 + "1" + "}" * 9_000, 400),
    "the same field twice": ('{"q": "a", "q": "b", "source": "en", "target": "it"}', 400),
    "twice, further in": ('{"q": "a", "source": "en", "target": "it", "x": {"y": 1, "y": 2}}', 400),
    "not an object": ("[1]", 400),
    "null": ("null", 400),
    "cut off": ("{", 400),
    "not JSON": ("{'q': 1}", 400),
    "UTF-16": ('{"q": "a"}'.encode("utf-16"), 400),
    "not UTF-8": (b'{"q": "\xff\xfe", "source": "en", "target": "it"}', 400),
    "NUL": ("\0" * 100, 400),
    "gzip": (b"\x1f\x8b\x08\0\0\0\0\0", 400),
    "a text that is a number": ('{"q": 1e400, "source": "en", "target": "it"}', 400),
    "too many empty texts": (json.dumps({"q": [""] * 1001, "source": "en", "target": "it"}), 413),
    "too many items": ('{"q": [' + "0," * MOST_ITEMS + "0]}", 413),
    "too many fields": ("{" + "".join(f'"{i}":0,' for i in range(MOST_FIELDS)) + '"q":""}', 400),
    "a field with a long name": ('{"' + "a" * 5_000 + '": 1}', 400),
    "a language with a long name": (
        json.dumps({"q": "a", "source": "en", "target": "i" * 5_000}),
        400,
    ),
    "too many characters": (json.dumps({"q": "7" * 1001, "source": "en", "target": "it"}), 413),
    "too many bytes": (b" " * (SETTINGS.max_body_bytes + 1), 413),
}


@pytest.mark.parametrize(("body", "status"), WRONG_BODIES.values(), ids=WRONG_BODIES)
def test_a_body_beyond_the_limits_is_refused_in_a_sentence(
    url: str, body: str | bytes, status: int
) -> None:
    content = body if isinstance(body, bytes) else body.encode()
    answer = requests.post(f"{url}/translate", data=content, timeout=30)

    assert answer.status_code == status
    assert set(answer.json()) == {"error"}
    assert len(answer.json()["error"]) < 200


def test_as_much_as_is_allowed_is_taken(url: str) -> None:
    for q in (["7"] * 1000, "7" * 1000, ["7" * 981] + [""] * 19):
        fields = {"q": q, "source": "en", "target": "it"}
        assert requests.post(f"{url}/translate", json=fields, timeout=30).json() == {
            "translatedText": q
        }


def test_the_body_goes_before_the_query_and_may_begin_with_a_byte_order_mark(url: str) -> None:
    body = "\ufeff" + json.dumps({"q": "7", "target": "it"})
    answer = requests.post(
        f"{url}/translate?source=en&target=xx&q=8", data=body.encode(), timeout=30
    )

    assert answer.json() == {"translatedText": "7"}


@pytest.mark.parametrize("kind", ["urlencoded", "multipart"])
def test_a_form_has_so_many_fields_and_no_more(
    copier: tuple[Copier, ServedModel], kind: str
) -> None:
    fields = [("source", "en"), ("target", "it"), ("q", "7")]
    fields += [(f"x{i}", "") for i in range(MOST_FIELDS - 3)]

    def post(url: str, fields: list[tuple[str, str]]) -> requests.Response:
        if kind == "urlencoded":
            return requests.post(f"{url}/translate", data=fields, timeout=30)
        parts = [(name, (None, value)) for name, value in fields]
        return requests.post(f"{url}/translate", files=parts, timeout=30)

    with serving([copier[1]]) as url:
        taken, refused = post(url, fields), post(url, [*fields, ("y", "")])

    assert taken.json() == {"translatedText": "7"}
    assert refused.status_code == 400
    assert "too many fields" in refused.json()["error"].lower()


def test_a_compressed_body_is_refused(url: str) -> None:
    for encoding in ("gzip", "deflate", "br", "zstd", "gzip, identity"):
        answer = requests.post(
            f"{url}/v2/translate", data=b"x", headers={"Content-Encoding": encoding}, timeout=30
        )
        assert (answer.status_code, answer.json()) == (
            415,
            {"message": "send the body uncompressed"},
        )


def test_a_thousand_ranges_of_a_file_are_no_work(url: str) -> None:
    ranges = "bytes=" + ",".join(f"{i}-{i}" for i in range(0, 2000, 2))
    answer = requests.get(f"{url}/static/style.css", headers={"Range": ranges}, timeout=30)

    assert answer.status_code in (200, 206, 400, 416)
    assert len(answer.content) < 500_000


def test_the_language_of_a_text_is_told_up_to_the_limit(url: str) -> None:
    def status(length: int) -> int:
        return requests.post(f"{url}/detect", json={"q": "a" * length}, timeout=30).status_code

    assert (status(1000), status(1001)) == (200, 413)
