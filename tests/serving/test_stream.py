"""A translation as it is made."""

import asyncio
import gc
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from starlette.types import Message
from tests.serving.live import Turnstile, connection, serving

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.engines.protocol import EngineError
from dragoman.serving.application import build_application
from dragoman.serving.batching import TEXTS_AT_ONCE
from dragoman.serving.models import Models, ServedModel
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
        engine.passes.release()
        received = b""
        with connection(url, head + body) as client:
            while LINES[TEXTS_AT_ONCE - 1].encode() not in received:
                received += client.recv(4096)
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


def test_the_work_for_a_client_that_goes_away_without_reading_is_dropped_at_once(
    held: tuple[Turnstile, ServedModel], collects_no_garbage: None
) -> None:
    engine, model = held
    app = build_application(Models([model]), Settings())
    body = json.dumps({"text": "\n".join(LINES), **PAIR}).encode()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},  # as uvicorn says
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }

    async def go_away_without_reading() -> list[bytes]:
        incoming = [{"type": "http.request", "body": body}]
        is_stuck = asyncio.Event()

        async def receive() -> Message:
            if incoming:
                return incoming.pop()
            await is_stuck.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                is_stuck.set()
                await asyncio.Event().wait()

        async with app.router.lifespan_context(app):
            engine.passes.release()
            await app(scope, receive, send)
            for _ in range(10):  # rounds in which all that is cancelled hears of it
                await asyncio.sleep(0)
            numbers = app.state.service.metrics.write().splitlines()
            engine.passes.release(10)
        return [line for line in numbers if line.startswith(b"dragoman_waiting_characters{")]

    waiting = asyncio.run(asyncio.wait_for(go_away_without_reading(), timeout=30))

    assert waiting == [b'dragoman_waiting_characters{model="en-it"} 0.0']


@pytest.fixture
def collects_no_garbage() -> Iterator[None]:
    """Leave garbage for as long as a test takes; a server looks for it only rarely."""
    gc.disable()
    yield
    gc.enable()


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


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (EngineError("/home/secret/model.bin"), "the model cannot do this"),
        (RuntimeError("/home/secret/model.bin"), "something went wrong; the log of the server has"),
    ],
)
def test_what_goes_wrong_in_the_middle_is_said_in_the_last_line_and_written_to_the_log(
    error: Exception,
    said: str,
    held: tuple[Turnstile, ServedModel],
    caplog: pytest.LogCaptureFixture,
) -> None:
    engine, model = held
    search = engine.search

    def fail_the_second_time(*arguments: Any, **named: Any) -> list[list[Hypothesis]]:
        if engine.asked:
            raise error
        return search(*arguments, **named)

    engine.search = fail_the_second_time  # type: ignore[method-assign]
    engine.passes.release()

    with serving([model]) as url:
        lines = list(lines_of(ask(url, "\n".join(LINES))))

    assert [line["source"] for line in lines[:-1]] == LINES[:TEXTS_AT_ONCE]
    assert lines[-1]["error"].startswith(said)
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
