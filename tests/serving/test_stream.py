"""A translation as it is made."""

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from tests.serving.live import Turnstile, serving

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.engines.protocol import EngineError
from dragoman.serving.batching import TEXTS_AT_ONCE
from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings

LINES = [f"the cat {i}." for i in range(3 * TEXTS_AT_ONCE)]
PAIR = {"source": "en", "target": "it"}
PATH = "/api/v1/translate/stream"


def ask(url: str, text: str, **fields: Any) -> requests.Response:
    fields = {"text": text, **PAIR, **fields}
    return requests.post(url + PATH, json=fields, stream=True, timeout=30)


def lines_of(response: requests.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        yield json.loads(line)


def test_each_sentence_comes_while_the_others_are_not_translated_yet(
    held: tuple[Turnstile, ServedModel],
) -> None:
    engine, model = held
    engine.passes.release()

    with serving([model]) as url:
        lines = lines_of(ask(url, "\n".join(LINES)))
        first = [next(lines) for _ in range(TEXTS_AT_ONCE)]
        asked = list(engine.asked)
        engine.passes.release(2)
        others = list(lines)

    assert asked == [TEXTS_AT_ONCE]
    assert [line["source"] for line in first] == LINES[:TEXTS_AT_ONCE]
    assert first[1]["text"] == f"\n{LINES[1]}"
    assert [line["source"] for line in others[:-1]] == LINES[TEXTS_AT_ONCE:]
    assert "".join(line["text"] for line in [*first, *others[:-1]]) == "\n".join(LINES)
    assert others[-1]["translation"]["text"] == "\n".join(LINES)


def test_the_last_line_is_what_is_answered_at_once_elsewhere(address: str) -> None:
    text = "The cat is on the table. 7 \n\n\n Where is the dog?"

    lines = list(lines_of(ask(address, text, n_best=2)))
    fields: dict[str, Any] = {"text": text, **PAIR, "n_best": 2}
    (expected,) = requests.post(f"{address}/api/v1/translate", json=fields, timeout=30).json()[
        "translations"
    ]

    assert lines[-1] == {"translation": expected}
    assert [line["source"] for line in lines[:-1]] == expected["parts"]
    assert "".join(line["text"] for line in lines[:-1]) == expected["text"]


def test_a_proxy_is_told_not_to_keep_the_lines(address: str) -> None:
    assert ask(address, "The cat.").headers["X-Accel-Buffering"] == "no"


def test_text_in_the_target_language_comes_back_at_once(address: str) -> None:
    (line,) = lines_of(ask(address, "Dov'è il cane?", source=None))

    assert line["translation"]["text"] == "Dov'è il cane?"


def test_the_work_for_a_client_that_goes_away_in_the_middle_is_dropped(
    held: tuple[Turnstile, ServedModel],
) -> None:
    engine, model = held
    body = json.dumps({"text": "\n".join(LINES), **PAIR}).encode()
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    with serving([model]) as url:
        host, port = url.removeprefix("http://").split(":")
        client = socket.create_connection((host, int(port)), timeout=30)
        client.sendall(head + body)
        engine.passes.release()
        received = b""
        while LINES[TEXTS_AT_ONCE - 1].encode() not in received:
            received += client.recv(4096)
        client.close()
        count = f'dragoman_request_seconds_count{{path="{PATH}"}} 1.0'
        while count not in requests.get(f"{url}/metrics", timeout=30).text:
            time.sleep(0.01)
        engine.passes.release(10)
        fields = {"q": "the dog", **PAIR}
        later = requests.post(f"{url}/translate", json=fields, timeout=30)

    assert b" 200 " in received
    assert later.json()["translatedText"] == "the dog"
    assert engine.asked in (
        [TEXTS_AT_ONCE, 1],  # the second batch had not begun, or it had
        [TEXTS_AT_ONCE, TEXTS_AT_ONCE, 1],
    )


@pytest.mark.parametrize(
    ("text", "fields", "status"),
    [("a cat", {"target": "fr"}, 400), ("a cat", {"n_best": 99}, 400), ("x" * 2000, {}, 413)],
)
def test_what_is_refused_at_once_has_a_status(
    held: tuple[Turnstile, ServedModel], text: str, fields: dict[str, Any], status: int
) -> None:
    with serving([held[1]], Settings(max_characters=1000)) as url:
        response = ask(url, text, **fields)

    assert response.status_code == status
    assert set(response.json()) == {"error"}


class Failing(Turnstile):
    """An engine that cannot search a second time."""

    def search(self, *arguments: Any, **named: Any) -> list[list[Hypothesis]]:
        if self.asked:
            raise EngineError("/home/secret/model: cannot search")
        return super().search(*arguments, **named)


def test_what_goes_wrong_in_the_middle_is_said_in_the_last_line(
    held: tuple[Turnstile, ServedModel],
) -> None:
    engine, model = held
    engine.__class__ = Failing
    engine.passes.release()

    with serving([model]) as url:
        lines = list(lines_of(ask(url, "\n".join(LINES))))

    assert [line["source"] for line in lines[:-1]] == LINES[:TEXTS_AT_ONCE]
    assert lines[-1] == {"error": "the model cannot do this"}


class Broken(Turnstile):
    """An engine that fails at the second batch in a way that nobody has thought of."""

    def search(self, *arguments: Any, **named: Any) -> list[list[Hypothesis]]:
        if self.asked:
            raise RuntimeError("no memory for /home/secret/model.bin")
        return super().search(*arguments, **named)


def test_a_mistake_of_ours_in_the_middle_is_in_the_last_line_and_in_the_log(
    held: tuple[Turnstile, ServedModel], caplog: pytest.LogCaptureFixture
) -> None:
    engine, model = held
    engine.__class__ = Broken
    engine.passes.release()

    with serving([model]) as url:
        lines = list(lines_of(ask(url, "\n".join(LINES))))

    assert len(lines) == TEXTS_AT_ONCE + 1
    assert lines[-1]["error"].startswith("something went wrong; the log of the server has it as ")
    assert lines[-1]["error"].split()[-1] in caplog.text
    assert "/home/secret/model.bin" in caplog.text


def test_what_takes_too_long_is_said_in_the_last_line(
    held: tuple[Turnstile, ServedModel],
) -> None:
    engine, model = held
    engine.passes.release()

    with serving([model], Settings(timeout=1.0)) as url:
        lines = list(lines_of(ask(url, "\n".join(LINES))))
        engine.passes.release(10)

    assert len(lines) == TEXTS_AT_ONCE + 1
    assert lines[-1] == {"error": "the translation was not ready in 1 seconds"}
