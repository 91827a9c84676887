"""Clients that are slow on purpose: each connection ends, and nobody else waits for it."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest
import requests
from tests.serving.live import Copier, connection, serving

from dragoman.serving.connection import MOST_AHEAD
from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings

HEAD = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = b'{"q": "a cat", "source": "en", "target": "it"}'
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


def until_closed(client: socket.socket, drip: bytes = b"") -> bytes:
    """Read, and send a byte from time to time, until the server closes the connection."""
    content = b""
    client.settimeout(0.05)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if drip:
                client.sendall(drip)
            if not (block := client.recv(2**20)):
                return content
            content += block
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return content
    pytest.fail("the connection is still open")


@pytest.mark.parametrize("begun", [b"", b"POST /", HEAD, HEAD + b"X-Slow: "])
def test_a_head_that_never_ends_is_not_waited_for(
    copying: tuple[Copier, ServedModel], begun: bytes
) -> None:
    with (
        serving([copying[1]], Settings(head_timeout=0.2)) as url,
        connection(url, begun) as client,
    ):
        assert until_closed(client, drip=b"x" if begun else b"") == b""


def test_the_head_of_a_second_request_has_a_deadline_too(
    copying: tuple[Copier, ServedModel],
) -> None:
    with (
        serving([copying[1]], Settings(head_timeout=0.3)) as url,
        connection(url, HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY) as client,
    ):
        assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
        client.sendall(b"GET /hea")
        assert b"HTTP/1.1" not in until_closed(client, drip=b"x")


def test_a_translation_may_take_longer_than_a_head(copying: tuple[Copier, ServedModel]) -> None:
    engine, model = copying
    engine.gate.clear()
    with (
        serving([model], Settings(head_timeout=0.1)) as url,
        connection(url, HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY) as client,
    ):
        time.sleep(0.5)
        engine.gate.set()
        assert client.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_two_hundred_slow_senders_keep_nobody_waiting(copying: tuple[Copier, ServedModel]) -> None:
    with serving([copying[1]], Settings(head_timeout=3)) as url, ExitStack() as crowd:
        slow = [crowd.enter_context(connection(url, HEAD)) for _ in range(200)]
        fields = {"q": "a cat", "source": "en", "target": "it"}
        answers = [requests.post(f"{url}/translate", json=fields, timeout=30) for _ in range(5)]
        still_open = [client for client in slow if is_open(client)]

        assert [answer.status_code for answer in answers] == [200] * 5
        assert len(still_open) == 200
        assert {until_closed(client) for client in slow} == {b""}


def is_open(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) != b""
    except BlockingIOError:
        return True


def test_there_are_only_so_many_connections_and_their_places_become_free(
    copying: tuple[Copier, ServedModel],
) -> None:
    with serving([copying[1]], Settings(max_connections=3)) as url, ExitStack() as crowd:
        others = [crowd.enter_context(connection(url, HEAD)) for _ in range(3)]
        with connection(url) as client:
            refused = until_closed(client)
        others[0].close()
        for _ in range(100):
            if (answer := requests.get(f"{url}/health", timeout=30)).status_code == 200:
                break
            time.sleep(0.01)

    head, _, body = refused.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n")
    assert b"\r\naccess-control-allow-origin: *\r\n" in head
    assert b"\r\nconnection: close" in head
    assert json.loads(body) == {"error": "there are too many connections; come back later"}
    assert answer.status_code == 200


def long_answer() -> bytes:
    """Ask for six megabytes, which no network takes at once; digits are quickly translated."""
    body = json.dumps({"text": "7" * 1_300_000, "source": "en", "target": "it"}).encode()
    return HEAD.replace(b"/translate", b"/api/v1/translate") + (
        b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body
    )


@pytest.mark.parametrize("reads", [False, True])
def test_an_answer_that_is_not_read_is_not_kept(
    copying: tuple[Copier, ServedModel], reads: bool
) -> None:
    settings = Settings(
        read_timeout=60 if reads else 0.3, max_characters=1_300_000, max_connections=1
    )
    buffer = 0 if reads else 4096
    with (
        serving([copying[1]], settings) as url,
        connection(url, long_answer(), receive_buffer=buffer) as client,
    ):
        for _ in range(0 if reads else 600):  # until the server takes another connection
            if requests.get(f"{url}/health", timeout=30).status_code == 200:
                break
            time.sleep(0.05)
        content = until_closed(client)

    head, _, body = content.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    assert length > 6_000_000
    assert (len(body) == length) == reads


def test_a_body_that_was_refused_is_not_taken_for_ever(copying: tuple[Copier, ServedModel]) -> None:
    settings = Settings(head_timeout=0.3, max_characters=10)
    endless = HEAD + b"Content-Length: 9000000000\r\n\r\n" + b"x" * (settings.max_body_bytes + 1)
    with serving([copying[1]], settings) as url, connection(url, endless) as client:
        answer = until_closed(client, drip=b"x")

    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    ("head", "status", "sentence"),
    [
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400, b"Invalid HTTP request"),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n", 400, b"Invalid HTTP request"),
        (b"Content-Length: -5\r\n", 400, b"Invalid HTTP request"),
        (b"Content-Length: 1e3\r\n", 400, b"Invalid HTTP request"),
        (b"Transfer-Encoding: gzip\r\n", 400, b"Invalid HTTP request"),
        (b"Content-Encoding: gzip\r\nContent-Length: 0\r\n", 415, b"uncompressed"),
        (b"X: y\r z\r\n", 400, b"Invalid HTTP request"),
        (b"X: y\0z\r\n", 400, b"Invalid HTTP request"),
    ],
)
def test_a_head_that_is_wrong_is_refused_in_a_sentence(
    address: str, head: bytes, status: int, sentence: bytes
) -> None:
    with connection(address, HEAD + head + b"Connection: close\r\n\r\n0\r\n\r\n") as client:
        answer = until_closed(client)

    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert sentence in answer
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "head",
    [b"X: " + b"y" * n for n in (16_384, 300_000)]
    + [b"\r\n".join([b"X: y"] * n) for n in (8_200, 80_000)],
    ids=["a long one", "a very long one", "many", "very many"],
)
def test_headers_beyond_the_limit_are_refused(address: str, head: bytes) -> None:
    end = b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with connection(address) as client, suppress(ConnectionResetError, BrokenPipeError):
        client.sendall(HEAD + head + end)
        assert until_closed(client).startswith(b"HTTP/1.1 431 ")

    assert requests.get(f"{address}/health", timeout=30).status_code == 200


@pytest.mark.parametrize(
    ("path", "field"), [(b"/translate", b"error"), (b"/v2/translate", b"message")]
)
def test_headers_that_do_not_come_at_once_are_refused_like_others(
    address: str, path: bytes, field: bytes
) -> None:
    with connection(address, b"POST %s HTTP/1.1\r\nHost: x\r\nX: " % path) as client:
        client.sendall(b"y" * 17_000)
        answer = until_closed(client)

    assert answer.startswith(b"HTTP/1.1 431 ")
    assert answer.endswith(
        b'{"%s":"the address and the headers of the request are too long"}' % field
    )


def test_line_breaks_without_end_are_no_request(address: str) -> None:
    with connection(address, b"\r\n" * 9000) as client:
        assert until_closed(client).startswith(b"HTTP/1.1 431 ")


def test_headers_within_the_limit_are_taken(address: str) -> None:
    answer = requests.get(f"{address}/health", headers={"X": "y" * 16_000}, timeout=30)

    assert answer.status_code == 200


def test_who_sends_nothing_whole_takes_no_place_from_others(
    copying: tuple[Copier, ServedModel],
) -> None:
    unfinished = HEAD + b"Content-Length: 10\r\n\r\n"
    elsewhere = unfinished.replace(b"/translate", b"/health")
    with serving([copying[1]]) as url, ExitStack() as crowd:
        for sent in [unfinished, elsewhere] * 100:
            crowd.enter_context(connection(url, sent))
        fields = {"q": "a cat", "source": "en", "target": "it"}
        answers = [requests.post(f"{url}/translate", json=fields, timeout=30) for _ in range(5)]

    assert [answer.status_code for answer in answers] == [200] * 5


def test_those_who_were_answered_or_are_gone_are_not_counted(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    fields = {"q": "a cat", "source": "en", "target": "it"}
    with serving([model], Settings(max_wait=0.5)) as url:
        session = requests.Session()
        for _ in range(100):
            assert session.post(f"{url}/translate", json=fields, timeout=30).status_code == 200
            with connection(url, WHOLE + WHOLE) as client:  # one waits for the other
                assert client.recv(10).startswith(b"HTTP/1.1 2")
        engine.gate.clear()
        with ExitStack() as crowd:
            for _ in range(10):
                crowd.enter_context(connection(url, WHOLE))
            time.sleep(0.5)
        engine.gate.set()
        time.sleep(0.5)
        answer = requests.post(f"{url}/translate", json=fields, timeout=30)

    assert answer.status_code == 200


def test_requests_sent_ahead_on_one_connection_shut_nobody_out(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    engine.gate.clear()
    fields = {"q": "a dog", "source": "en", "target": "it"}
    # ten sentences would have to wait for longer than that, and one does not
    with serving([model], Settings(max_wait=0.1)) as url, connection(url, WHOLE * 10) as client:
        while not engine.asked:
            time.sleep(0.01)
        with ThreadPoolExecutor(1) as others:
            other = others.submit(requests.post, f"{url}/translate", json=fields, timeout=30)
            while not other.done() and 'en-it"} 5.0' not in waiting(url):
                time.sleep(0.01)
            engine.gate.set()
            assert other.result().status_code == 200
        received = b""
        while received.count(b'{"translatedText":"a cat"}') < 10:
            received += client.recv(4096)


def test_who_goes_away_is_missed_though_another_request_was_sent_ahead(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    engine.gate.clear()
    with serving([model]) as url:
        with connection(url, WHOLE * 2):
            while not engine.asked:
                time.sleep(0.01)
        end = time.monotonic() + 10  # the one that is left is that which asks
        while "dragoman_requests_in_progress 1.0" not in requests.get(f"{url}/metrics").text:
            assert time.monotonic() < end
        engine.gate.set()


def waiting(url: str) -> str:
    """Ask how many characters wait for a model."""
    return requests.get(f"{url}/metrics", timeout=30).text.partition("TYPE dragoman_waiting")[2]


def test_who_sends_too_many_requests_ahead_is_hung_up_on(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    engine.gate.clear()
    with serving([model]) as url, connection(url, WHOLE * (1 + MOST_AHEAD)) as patient:
        with connection(url, WHOLE * (2 + MOST_AHEAD)) as hasty:
            assert until_closed(hasty) == b""
        engine.gate.set()
        received = b""
        while received.count(b'{"translatedText":"a cat"}') < 1 + MOST_AHEAD:
            received += patient.recv(4096)


@pytest.mark.parametrize("name", [b"Upgrade", b"upgrade", b"UPGRADE "])
@pytest.mark.parametrize("chunked", [False, True])
def test_an_offer_of_another_protocol_is_passed_over(
    copying: tuple[Copier, ServedModel], name: bytes, chunked: bool
) -> None:
    size = b"Content-Length: %d\r\n" % len(BODY)
    body = BODY
    if chunked:
        size = b"Transfer-Encoding: chunked\r\n"
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    offer = b"Connection: Upgrade, HTTP2-Settings\r\n%s: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    with serving([copying[1]]) as url:
        begun = len(HEAD) + offer.index(b"%s")
        # In one packet, or in several, also cut within a name.
        for place in (0, 1, 60, len(HEAD), *range(begun, begun + len(name) + 2)):
            head = HEAD + offer % name.strip() + size + b"\r\n"
            with connection(url, head[:place]) as client:
                time.sleep(0.1)
                client.sendall(head[place:])
                time.sleep(0.1)
                client.sendall(body)
                assert read_object(client).startswith(b"HTTP/1.1 200 ")
                client.sendall(WHOLE)
                assert read_object(client).startswith(b"HTTP/1.1 200 ")


def read_object(client: socket.socket) -> bytes:
    """Read an answer whose body is a JSON object; head and body may come apart."""
    received = b""
    while not received.endswith(b"}"):
        part = client.recv(4096)
        assert part
        received += part
    return received
