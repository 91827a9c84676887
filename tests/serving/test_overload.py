"""More than can be translated: everything is answered, and nothing is lost or mixed up."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import deepl
import pytest
import requests
from tests.serving.live import Copier, Turnstile, changed, connection, read_all, serving

from dragoman.model_directory import ModelError
from dragoman.serving.metrics import Metrics
from dragoman.serving.models import Models, ServedModel
from dragoman.serving.refusal import RefusalError
from dragoman.serving.service import Order, TranslationService
from dragoman.serving.settings import Settings

NUM_CLIENTS = 40
NUM_REQUESTS = 200


def post(url: str, path: str, **fields: Any) -> requests.Response:
    return requests.post(f"{url}{path}", json=fields, timeout=30)


PROTOCOLS: dict[str, tuple[Callable[[str, str], requests.Response], Callable[[Any], str]]] = {
    "LibreTranslate": (
        lambda url, text: post(url, "/translate", q=text, source="en", target="it"),
        lambda answer: answer["translatedText"],
    ),
    "DeepL": (
        lambda url, text: post(url, "/v2/translate", text=text, source_lang="EN", target_lang="IT"),
        lambda answer: answer["translations"][0]["text"],
    ),
    "Apertium": (
        lambda url, text: requests.get(
            f"{url}/translate", params={"q": text, "langpair": "en|it"}, timeout=30
        ),
        lambda answer: answer["responseData"]["translatedText"],
    ),
    "own": (
        lambda url, text: post(url, "/api/v1/translate", text=text, source="en", target="it"),
        lambda answer: answer["translations"][0]["text"],
    ),
}


class Slow(Copier):
    """A model that needs a while for each batch."""

    def search(self, *arguments: Any, **named: Any) -> Any:
        time.sleep(0.02)
        return super().search(*arguments, **named)


def test_what_is_too_much_is_refused_and_answered_when_it_comes_again(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    engine.__class__ = Slow
    refusals: Counter[str] = Counter()

    def ask_until_answered(number: int) -> str:
        name = list(PROTOCOLS)[number % len(PROTOCOLS)]
        send, read = PROTOCOLS[name]
        while (answer := send(url, f"cat {number}")).status_code == 429:
            assert int(answer.headers["Retry-After"]) >= 1
            refusals[name] += 1
            time.sleep(0.05)
        assert answer.status_code == 200
        return read(answer.json())

    with (
        serving([model], Settings(max_waiting_characters=50)) as url,
        ThreadPoolExecutor(NUM_CLIENTS) as clients,
    ):
        answers = list(clients.map(ask_until_answered, range(NUM_REQUESTS)))
        afterwards = [send(url, "a cat").status_code for send, _ in PROTOCOLS.values()]

    assert answers == [f"cat {number}" for number in range(NUM_REQUESTS)]
    assert set(refusals) == set(PROTOCOLS)
    assert afterwards == [200] * len(PROTOCOLS)


@contextmanager
def full(copying: tuple[Copier, ServedModel]) -> Iterator[tuple[str, threading.Event]]:
    """Serve with a queue in which one text waits and fills it, until the gate is opened."""
    engine, model = copying
    engine.gate.clear()
    held: list[Future[requests.Response]] = []
    with (
        serving([model], Settings(max_waiting_characters=8)) as url,
        ThreadPoolExecutor(2) as clients,
    ):
        send, _ = PROTOCOLS["LibreTranslate"]
        held.append(clients.submit(send, url, "at work"))
        while not engine.asked:
            time.sleep(0.01)
        held.append(clients.submit(send, url, "8 letter"))
        waiting = 'dragoman_waiting_characters{model="en-it"} 8.0'
        while waiting not in requests.get(f"{url}/metrics", timeout=30).text:
            time.sleep(0.01)
        try:
            yield url, engine.gate
        finally:
            engine.gate.set()
        assert [answer.result().status_code for answer in held] == [200, 200]


def test_who_is_refused_is_refused_before_the_text_is_read(
    copying: tuple[Copier, ServedModel],
) -> None:
    with full(copying) as (url, _):
        for path in ("/translate", "/v2/translate", "/api/v1/translate", "/translate_file"):
            answer = requests.post(f"{url}{path}", data=b"{this is not JSON", timeout=30)

            assert answer.status_code == 429
            assert int(answer.headers["Retry-After"]) >= 1
            assert answer.headers["Access-Control-Expose-Headers"] == "Retry-After"
            field = "message" if path.startswith("/v2/") else "error"
            assert answer.json() == {field: "too many texts are waiting; come back later"}


def test_files_are_refused_when_they_are_sent_and_what_needs_no_model_is_answered(
    copying: tuple[Copier, ServedModel],
) -> None:
    with full(copying) as (url, _):
        document = requests.post(
            f"{url}/v2/document",
            data={"target_lang": "IT", "source_lang": "EN"},
            files={"file": ("a.txt", b"a cat")},
            timeout=30,
        )
        assert document.status_code == 429
        assert int(document.headers["Retry-After"]) >= 1
        for path in ("/", "/health", "/languages", "/metrics", "/v2/usage"):
            assert requests.get(f"{url}{path}", timeout=30).status_code == 200


def test_the_client_of_deepl_comes_back_by_itself(copying: tuple[Copier, ServedModel]) -> None:
    with full(copying) as (url, gate), ThreadPoolExecutor(1) as clients:
        client = deepl.Translator("any key", server_url=url)
        answer = clients.submit(client.translate_text, "a cat", source_lang="EN", target_lang="IT")
        while 'path="other",status="429"' not in requests.get(f"{url}/metrics", timeout=30).text:
            time.sleep(0.01)
        gate.set()
        found = answer.result()
        client.close()

    assert not isinstance(found, list)
    assert found.text == "a cat"


def test_when_texts_in_one_language_fail_those_in_another_are_given_up(
    copying: tuple[Copier, ServedModel],
    held: tuple[Turnstile, ServedModel],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*arguments: Any) -> Any:
        raise ModelError("model.bin: cut off")

    monkeypatch.setattr(copying[0], "search", fail)
    japanese, (engine, english) = changed(copying[1], source="ja"), held
    texts = ["The cat sees the dog. " * 500, "猫は川を見る。"]

    async def waiting_after_failure() -> bytes:
        service = TranslationService(Models([english, japanese]), Settings(), Metrics())
        with pytest.raises(ModelError):
            await service.translate(Order(texts=texts, target="it"))
        await asyncio.sleep(0)
        numbers = service.metrics.write()
        engine.passes.release(50)
        await service.close()
        return numbers

    numbers = asyncio.run(waiting_after_failure())

    assert b'dragoman_waiting_characters{model="en-it"} 0.0' in numbers


def test_who_has_waited_for_too_long_is_not_translated_any_more(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    engine.gate.clear()
    with serving([model], Settings(timeout=0.5)) as url, ThreadPoolExecutor(10) as clients:
        send, _ = PROTOCOLS["own"]
        answers = list(clients.map(lambda number: send(url, f"cat {number}"), range(10)))
        engine.gate.set()
        engine.asked.clear()
        assert send(url, "a cat").status_code == 200

    assert [answer.status_code for answer in answers] == [504] * 10
    assert sum(engine.asked) == 1


def test_a_page_of_another_origin_may_always_ask_whether_it_may_ask(
    copying: tuple[Copier, ServedModel],
) -> None:
    asking = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    with full(copying) as (url, _):
        answer = requests.options(f"{url}/translate", headers=asking, timeout=30)

    assert answer.status_code == 200


def test_what_is_said_behind_an_address_is_not_part_of_it(
    copying: tuple[Copier, ServedModel],
) -> None:
    with full(copying) as (url, _):
        answer = requests.get(f"{url}/health?from=/translate", timeout=30)

    assert answer.status_code == 200


def test_who_is_refused_and_wants_no_more_is_hung_up_on(
    copying: tuple[Copier, ServedModel],
) -> None:
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    with full(copying) as (url, _), connection(url, head) as client:
        answer = read_all(client)

    assert answer.startswith(b"HTTP/1.1 429 ")


def test_a_crowd_is_refused_while_no_model_has_room_for_one_more(
    copying: tuple[Copier, ServedModel],
) -> None:
    """Those that have a place already want no other one."""
    english, japanese = copying[1], changed(copying[1], source="ja")
    settings = Settings(max_wait=0.05)  # two sentences, as one counts as 0.02 seconds

    async def scenario() -> None:
        service = TranslationService(Models([english, japanese]), settings, Metrics())
        one, other = (service._batchers[model.pair] for model in (english, japanese))
        with ExitStack() as rooms:
            for _ in range(5):
                rooms.enter_context(one.room_for(1))
                rooms.enter_context(other.room_for(1))
            service.check_crowd(12)
            with pytest.raises(RefusalError, match="too many texts are waiting"):
                service.check_crowd(13)
            for _ in range(3):
                rooms.enter_context(one.room_for(100))
            service.check_crowd(13)  # the other one has room
            for _ in range(3):
                rooms.enter_context(other.room_for(100))
            with pytest.raises(RefusalError, match="too many texts are waiting"):
                service.check_crowd(16)
        await service.close()

    asyncio.run(scenario())
