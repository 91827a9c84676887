"""What leaves the server: answers, and nothing else, whatever it is asked."""

import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import requests
from tests.serving.live_process import memory, num_files, num_threads, process, serve
from tests.serving.test_access import ask, operations

SECRET = "secret-4711"
TEXT = f"The cat\n{SECRET}\x1b[31m\r\nERROR: a forged line \x07"
WATCHED = """
import sys
def note(event, arguments):
    if event.startswith("socket.") and event in {names}:
        with open({path!r}, "a") as notes:
            notes.write(f"{{event}} {{arguments}}\\n")
sys.addaudithook(note)
from dragoman.cli import main
sys.exit(main(sys.argv[1:]))
"""
OUTWARDS = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
    "socket.getnameinfo",
    "socket.sendto",
    "socket.sendmsg",
)


def every_request(url: str) -> Iterator[requests.Response]:
    """Use every route well, and badly, with texts that nobody else should see."""
    hostile: list[dict[str, Any]] = [
        {"fields": {"q": TEXT, "text": TEXT, "translation": TEXT}},
        {"fields": {"source": TEXT, "target": TEXT, "target_lang": TEXT}},
        {
            "fields": {"q": None, "text": [TEXT, 1], "format": TEXT, "formality": TEXT},
            "params": {TEXT: TEXT, "q": f"http://example.org/{SECRET}", "langpair": TEXT},
            "headers": {"X-Secret": SECRET, "Authorization": f"Bearer {SECRET}"},
        },
    ]
    for method, path in operations(url):
        for more in hostile:
            yield ask(url, method, path, **more)
    for path in ("/", "/docs", "/static/main.js", "/openapi.json", f"/{SECRET}%0d%0aX:%20y"):
        yield requests.get(f"{url}{path}", timeout=30)
    for head in (f"Content-Transfer-Encoding: {SECRET}", f"{SECRET}: x", "no head"):
        field = 'Content-Disposition: form-data; name="source"'
        yield requests.post(
            f"{url}/translate_file",
            data=f"--x\r\n{field}\r\n{head}\r\n\r\nen\r\n--x--",
            headers={"Content-Type": "multipart/form-data; boundary=x"},
            timeout=30,
        )
    for name in (f"{SECRET}\r\nX: y.txt", f"../{SECRET}.html", f"{SECRET}.exe"):
        for content in (
            TEXT.encode(),
            b"\xff" + SECRET.encode(),
            b"<!DOCTYPE x SYSTEM 'http://x'>",
        ):
            yield requests.post(
                f"{url}/translate_file",
                data={"source": "en", "target": "it"},
                files={"file": (name, content)},
                timeout=30,
            )


def test_it_never_connects_to_anybody_and_logs_no_text(shipped: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    program = WATCHED.format(names=OUTWARDS, path=str(notes))
    with process([sys.executable, "-c", program, *serve(shipped)[3:]]) as (server, url):
        statuses = {answer.status_code for answer in every_request(url)}
        server.terminate()
        assert server.wait(timeout=30) == 0
        assert server.stdout is not None
        assert server.stderr is not None
        said = server.stdout.read() + server.stderr.read()

    assert {200, 400, 404} <= statuses
    assert max(statuses) < 500 or statuses & {503} == {max(statuses)}
    assert said.count("\n") == 4  # LibreTranslate, DeepL, Apertium, Dragoman: where they are
    assert SECRET not in said
    assert "forged" not in said
    # The one look-up is of the address that it listens on.
    assert notes.read_text() == "socket.getaddrinfo ('127.0.0.1', None, 0, 1, 0)\n"


def test_the_watch_would_see_a_connection(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    watch = WATCHED.format(names=OUTWARDS, path=str(notes)).split("from dragoman")[0]
    program = f"{watch}import socket\nsocket.socket().connect_ex(('127.0.0.1', 9))\n"
    with Popen([sys.executable, "-c", program]) as run:
        assert run.wait(timeout=30) == 0

    assert notes.read_text().startswith("socket.connect ")


BOMBS: dict[str, tuple[dict[str, str], bytes]] = {
    "deep": ({}, b'{"q":' + b"[" * 1_000_000),
    "many fields": ({}, b"{" + b",".join(b'"%d":0' % i for i in range(200_000)) + b"}"),
    "many numbers": ({}, b'{"q":[' + b"0," * 1_000_000 + b"0]}"),
    "too long": ({}, b"x" * 20_000_000),
    "form": (
        {"Content-Type": "application/x-www-form-urlencoded"},
        b"&".join(b"a=%d" % i for i in range(200_000)),
    ),
    "parts": (
        {"Content-Type": "multipart/form-data; boundary=x"},
        b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n\r\n' * 30_000,
    ),
    "gzip": ({"Content-Encoding": "gzip"}, b"\x1f\x8b" + b"x" * 1_000_000),
    "n-best": ({}, b'{"q":"a","source":"en","target":"it","alternatives":1' + b"0" * 18 + b"}"),
}


def test_what_is_meant_to_fill_the_memory_does_not(shipped: Path) -> None:
    with process(serve(shipped)) as (server, url):

        def attack() -> None:
            for name, (headers, body) in BOMBS.items():
                try:
                    answer = requests.post(
                        f"{url}/translate", data=body, headers=headers, timeout=60
                    )
                except requests.ConnectionError:
                    continue  # it did not wait for the end
                assert 400 <= answer.status_code < 500, name
                assert len(answer.text) < 300, name

        attack()
        before, files, threads = memory(server), num_files(server), num_threads(server)
        for _ in range(2):
            attack()
        assert requests.get(f"{url}/health", timeout=30).status_code == 200
        assert memory(server) < before + 30
        assert num_files(server) <= files + 2
        assert num_threads(server) <= threads + 8
