"""What the server does with requests that are too long, too slow, or nobody's any more."""

import time

import pytest
import requests
from tests.serving.live import Copier, connection, read_all, serving

from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings


@pytest.mark.parametrize("framing", ["Content-Length: 9000000000", "Transfer-Encoding: chunked"])
def test_a_body_that_is_too_long_is_refused_before_it_is_there(
    copier: tuple[Copier, ServedModel], framing: str
) -> None:
    settings = Settings(max_characters=10)
    with serving([copier[1]], settings) as url:
        head = f"POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{framing}\r\n\r\n"
        too_much = b"x" * (settings.max_body_bytes + 1)
        chunk = b"%x\r\n%s\r\n" % (len(too_much), too_much) if "chunked" in framing else too_much
        with connection(url, head.encode() + chunk) as client:
            answer = read_all(client)

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'{"error":"the request is longer than 65656 bytes"}' in answer


def test_a_body_that_never_arrives_is_not_waited_for(copier: tuple[Copier, ServedModel]) -> None:
    with serving([copier[1]], Settings(body_timeout=0.2)) as url:
        head = b"POST /v2/translate HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nq="
        with connection(url, head) as client:
            answer = client.recv(4096)

    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("ahead", ["", "at once", "later"])
def test_the_work_for_a_client_that_goes_away_is_dropped(
    copying: tuple[Copier, ServedModel], ahead: str
) -> None:
    engine, model = copying
    engine.gate.clear()
    body = b"q=the+cat&source=en&target=it"
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % len(body)
    whole = head + b"Content-Type: application/x-www-form-urlencoded\r\n\r\n" + body

    with serving([model]) as url, connection(url, whole) as running:
        while not engine.asked:
            time.sleep(0.01)
        for _ in range(5):
            with connection(url, whole * (2 if ahead == "at once" else 1)) as client:
                if ahead == "later":
                    time.sleep(0.1)
                    client.sendall(whole)
        end = time.monotonic() + 10
        while 'status="499"} 5.0' not in requests.get(f"{url}/metrics", timeout=30).text:
            assert time.monotonic() < end
            time.sleep(0.01)
        engine.gate.set()
        assert running.recv(4096).startswith(b"HTTP/1.1 200 ")

    assert engine.asked == [1]
