"""Apertium's protocol, as OmegaT writes it: a bar in the address, unescaped."""

import json
from pathlib import Path

import pytest
import requests
from tests.serving.live import connection, read_all

from dragoman.translator import Translator


def get(address: str, path: str) -> tuple[bytes, dict[str, object]]:
    """Ask byte for byte, as a client library would escape the bar."""
    asked = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with connection(address, asked.encode()) as client:
        answer = read_all(client)
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.split(b" ")[1], json.loads(body)


def test_a_field_that_is_missing_is_named(address: str) -> None:
    status, problem = get(address, "/translate")

    assert (status, problem) == (b"400", {"error": "q is missing"})


def test_a_field_that_stands_twice_is_refused(address: str) -> None:
    status, problem = get(address, "/translate?q=One&q=Two&langpair=en|it")

    assert (status, problem) == (b"400", {"error": "q should be one text"})


def test_omegat_is_answered(address: str, english_italian: Path) -> None:
    path = "/translate?q=The+cat+is+on+the+table.&markUnknown=no&langpair=en|it&key="
    expected = Translator(english_italian, device="cpu")("The cat is on the table.")

    assert get(address, path) == (
        b"200",
        {
            "responseData": {"translatedText": expected},
            "responseDetails": None,
            "responseStatus": 200,
        },
    )
    pairs = requests.get(f"{address}/listPairs", timeout=30).json()["responseData"]
    assert pairs[0] == {"sourceLanguage": "en", "targetLanguage": "it"}


@pytest.mark.parametrize("pair", ["en", "en|", "|it", "en-it", "en|it|de"])
def test_a_pair_that_is_none_is_refused(address: str, pair: str) -> None:
    status, problem = get(address, f"/translate?q=x&langpair={pair}")

    assert status == b"400"
    assert set(problem) == {"error"}


def test_a_query_that_is_not_utf8_is_refused(address: str) -> None:
    status, problem = get(address, "/translate?q=caff%E8&langpair=it|en")

    assert (status, problem) == (b"400", {"error": "the query is not UTF-8"})
