"""The process: where it listens, and how it ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from dragoman.config import DragomanError
from dragoman.serving.server import open_socket


@contextmanager
def process(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start `dragoman serve` on a free port, and give its address when it says it."""
    command = [sys.executable, "-m", "dragoman", "serve", *arguments, "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as server:
        assert server.stdout is not None
        said = []
        for line in server.stdout:
            said.append(line)
            if line.startswith("page "):
                break
        else:
            pytest.fail("".join(said))
        try:
            yield server, said[-1].split()[1].rstrip("/")
        finally:
            server.kill()


def test_sigterm_finishes_what_was_accepted_and_refuses_what_is_new(
    english_italian: Path,
) -> None:
    with process(str(english_italian), "--device", "cpu") as (server, url):
        fields = {"q": "The cat is on the table. " * 100, "source": "en", "target": "it"}
        answers: list[requests.Response] = []
        client = threading.Thread(
            target=lambda: answers.append(
                requests.post(f"{url}/translate", json=fields, timeout=60)
            )
        )
        client.start()
        time.sleep(0.3)
        assert not answers  # it is at work
        server.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{url}/health", timeout=5)
        client.join(timeout=60)
        assert server.wait(timeout=60) == 0
        assert server.stderr is not None
        assert server.stderr.read() == ""

    assert answers[0].status_code == 200
    assert answers[0].json()["translatedText"]


def test_ctrl_c_ends_it_without_a_traceback(english_italian: Path) -> None:
    with process(str(english_italian), "--device", "cpu") as (server, url):
        assert requests.get(f"{url}/health", timeout=30).status_code == 200
        server.send_signal(signal.SIGINT)

        assert server.wait(timeout=30) == 130
        assert server.stderr is not None
        assert server.stderr.read() == ""


def test_a_port_that_is_taken_is_named() -> None:
    with open_socket("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(
            DragomanError, match=rf"127\.0\.0\.1:{port}: Address already in use; name another"
        ):
            open_socket("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port", "problem"),
    [
        ("192.0.2.1", 0, r"192\.0\.2\.1:0: Cannot assign requested address; name another --host"),
        ("no such host", 5000, "no such host:5000: there is no such host; name another --host"),
        ("127.0.0.1", 70_000, "port 70000: a port is a number from 0 to 65535"),
    ],
)
def test_an_address_that_is_none_is_named(host: str, port: int, problem: str) -> None:
    with pytest.raises(DragomanError, match=problem):
        open_socket(host, port)
