"""Keys: every route that is not open to all asks for one, and says no more than that."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from tests.serving.live import Copier, serving

from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings

KEY = "sésame 開け"
NOT_UTF8 = b"caf\xe9"
OPEN = {
    "/languages",
    "/listPairs",
    "/health",
    "/frontend/settings",
    "/api/v1/models",
    "/download_file/{name}",  # whoever knows the address
}
TEXT = {"q": "7", "text": "7", "source": "en", "target": "it", "target_lang": "IT"}
QUERIES = {("get", "/translate"): {"q": "7", "langpair": "en|it"}}
FILES = {"/translate_file", "/v2/document"}
TAKES_KEY_AS_FIELD = {"/translate": "api_key", "/detect": "api_key", "/v2/translate": "auth_key"}
SENTENCE = "the API key is missing or wrong"
WITHOUT_THE_KEY: list[dict[str, Any]] = [
    {},
    {"headers": {"Authorization": b"DeepL-Auth-Key " + KEY.encode()[:-1]}},
    {"headers": {"Authorization": "Basic b3RoZXI6"}},
    {"headers": {"Authorization": "other", "X-API-Key": "other"}},
    {"headers": {"Authorization": f"Bearer {'x' * 10_000}"}},
    {"headers": {"Authorization": b"Bearer \xe9\xff"}},
    {"params": {"key": "wrong", "token": "other"}},
    {"fields": {"api_key": "ключ", "auth_key": "ключ"}},
    {"fields": {"api_key": "", "auth_key": ""}},
    {"fields": {"api_key": f"other, {KEY}", "auth_key": f"other, {KEY}"}},
]


@pytest.fixture(scope="module")
def url(copier: tuple[Copier, ServedModel]) -> Iterator[str]:
    keys = (" other ", KEY, os.fsdecode(NOT_UTF8))
    with serving([copier[1]], Settings(api_keys=keys)) as url:
        yield url


@pytest.mark.parametrize("keys", [("",), (" ",), ("good", "\n")])
def test_a_key_that_everybody_has_is_refused(keys: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="an API key is empty"):
        Settings(api_keys=keys)


def operations(url: str) -> list[tuple[str, str]]:
    described = requests.get(f"{url}/openapi.json", timeout=30).json()
    return [(method, path) for path in described["paths"] for method in described["paths"][path]]


def ask(url: str, method: str, path: str, **more: Any) -> requests.Response:
    """Send a request in which nothing but the key can be wrong."""
    fields = {**TEXT, **more.pop("fields", {})}
    content: dict[str, Any] = {"json": fields}
    if path in FILES:
        content = {"data": fields, "files": {"file": ("a.txt", b"7")}}
    if method == "get":
        content = {}
    params = {**QUERIES.get((method, path), {}), **more.pop("params", {})}
    where = url + path.replace("{name}", "x")
    return requests.request(method, where, params=params, timeout=30, **content, **more)


def test_without_the_key_nothing_is_answered_but_what_is_open_to_all(url: str) -> None:
    found = operations(url)
    assert len(found) >= 18
    for attempt in WITHOUT_THE_KEY:
        for method, path in found:
            answer = ask(url, method, path, **attempt)
            if path in OPEN:
                assert answer.status_code in (200, 404), path
            else:
                field = "message" if path.startswith("/v2/") else "error"
                refusal = (403, {field: SENTENCE})
                assert (answer.status_code, answer.json()) == refusal, (path, attempt)


def test_the_description_says_what_needs_the_key_and_how_it_is_sent(url: str) -> None:
    described = requests.get(f"{url}/openapi.json", timeout=30).json()

    assert set(described["components"]["securitySchemes"]) == {"Bearer", "DeepL-Auth-Key"}
    for method, path in operations(url):
        needs = described["paths"][path][method].get("security")
        assert needs == (None if path in OPEN else [{"Bearer": []}, {"DeepL-Auth-Key": []}]), path


@pytest.mark.parametrize("scheme", ["DeepL-Auth-Key", "Bearer", "bearer", "deepl-auth-key"])
def test_with_the_key_in_the_header_everything_is_answered(url: str, scheme: str) -> None:
    for method, path in operations(url):
        for key in (KEY.encode(), b"other", NOT_UTF8):
            answer = ask(url, method, path, headers={"Authorization": scheme.encode() + b" " + key})
            assert answer.status_code != 403, (method, path)


def test_with_the_key_in_a_field_its_protocol_is_answered(url: str) -> None:
    for path, field in TAKES_KEY_AS_FIELD.items():
        assert ask(url, "post", path, fields={field: KEY}).status_code == 200, path
        assert ask(url, "post", path, params={field: KEY}).status_code == 200, path
    assert ask(url, "get", "/translate", params={"key": KEY}).status_code == 200


def test_half_a_character_is_a_wrong_key(url: str) -> None:
    answer = requests.post(
        f"{url}/translate_file",
        data="".join(
            f'--x\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'
            for name, value, more in (
                ("source", "en", ""),
                ("target", "it", ""),
                ("api_key", "+2AA-", ""),
                ("file", "7", '; filename="a.txt"'),
            )
        )
        + "--x--\r\n",
        headers={"Content-Type": "multipart/form-data; boundary=x; charset=utf-7"},
        timeout=30,
    )

    assert (answer.status_code, answer.json()) == (403, {"error": SENTENCE})


def test_the_pages_are_open_and_know_that_a_key_is_needed(url: str) -> None:
    for path in ("/", "/docs", "/static/main.js", "/openapi.json"):
        assert requests.get(url + path, timeout=30).status_code == 200
    assert requests.get(f"{url}/frontend/settings", timeout=30).json()["keyRequired"]
