"""What the server does with requests that are too long, too slow, or nobody's any more."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from tests.serving.live import Copier, loaded, serving

from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings


def connect(url: str, request: bytes) -> socket.socket:
    """Send the beginning of a request, byte for byte."""
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    connection.sendall(request)
    return connection


def until_answered(connection: socket.socket) -> bytes:
    content = b""
    while block := connection.recv(4096):
        content += block
    connection.close()
    return content


@pytest.mark.parametrize("framing", ["Content-Length: 9000000000", "Transfer-Encoding: chunked"])
def test_a_body_that_is_too_long_is_refused_before_it_is_there(
    english_italian: Path, framing: str
) -> None:
    settings = Settings(max_characters=10)
    with serving([loaded(english_italian)], settings) as url:
        head = f"POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{framing}\r\n\r\n"
        too_much = b"x" * (settings.max_body_bytes + 1)
        chunk = b"%x\r\n%s\r\n" % (len(too_much), too_much) if "chunked" in framing else too_much
        answer = until_answered(connect(url, head.encode() + chunk))

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'{"error":"the request is longer than 65656 bytes"}' in answer


def test_a_body_that_never_arrives_is_not_waited_for(english_italian: Path) -> None:
    with serving([loaded(english_italian)], Settings(body_timeout=0.2)) as url:
        head = b"POST /v2/translate HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nq="
        with connect(url, head) as connection:
            answer = connection.recv(4096)

    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_translation_that_takes_too_long_is_given_up(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    engine.gate.clear()
    fields = {"text": "a cat", "target_lang": "IT", "source_lang": "EN"}

    with serving([model], Settings(timeout=0.2)) as url:
        response = requests.post(f"{url}/v2/translate", json=fields, timeout=30)
        engine.gate.set()

    assert response.status_code == 504
    assert "message" in response.json()


@pytest.mark.parametrize("ahead", ["", "at once", "later"])
def test_the_work_for_a_client_that_goes_away_is_dropped(
    copying: tuple[Copier, ServedModel], ahead: str
) -> None:
    engine, model = copying
    engine.gate.clear()
    body = b"q=the+cat&source=en&target=it"
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % len(body)
    kind = b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"

    with serving([model]) as url:
        running = connect(url, head + kind + body)
        while not engine.asked:
            time.sleep(0.01)
        for _ in range(5):
            client = connect(url, (head + kind + body) * (2 if ahead == "at once" else 1))
            if ahead == "later":
                time.sleep(0.1)
                client.sendall(head + kind + body)
            client.close()
        while 'status="499"} 5.0' not in requests.get(f"{url}/metrics", timeout=30).text:
            time.sleep(0.01)
        engine.gate.set()
        assert running.recv(4096).startswith(b"HTTP/1.1 200 ")
        running.close()

    assert engine.asked == [1]


def test_more_than_can_wait_is_refused_with_a_time_to_come_back(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    engine.gate.clear()
    fields = {"q": "the cat", "source": "en", "target": "it"}

    def ask(url: str) -> requests.Response:
        return requests.post(f"{url}/translate", json=fields, timeout=30)

    with (
        serving([model], Settings(max_waiting_characters=8)) as url,
        ThreadPoolExecutor(5) as clients,
    ):
        running = clients.submit(ask, url)
        while not engine.asked:
            time.sleep(0.01)
        others = [clients.submit(ask, url) for _ in range(4)]
        while sum(other.done() for other in others) < 3:
            time.sleep(0.01)
        engine.gate.set()
        answers = sorted((other.result() for other in others), key=lambda a: a.status_code)

    assert running.result().status_code == 200
    assert [answer.status_code for answer in answers] == [200, 429, 429, 429]
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert "come back later" in answers[-1].json()["error"]
