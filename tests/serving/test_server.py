"""The process: where it listens, and how it ends."""

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from requests.adapters import HTTPAdapter
from tests.serving.live import connection
from tests.serving.live_process import process, serve
from urllib3.util import Retry

from dragoman.errors import DragomanError, UsageError
from dragoman.serving.server import open_socket


def test_an_answer_does_not_wait_for_the_client_to_acknowledge_its_head() -> None:
    with (
        open_socket("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_sigterm_finishes_what_was_accepted_and_refuses_what_is_new(shipped: Path) -> None:
    def ask(number: int) -> str:
        fields = {"q": f"cat {number}", "source": "en", "target": "it"}
        return requests.post(f"{url}/translate", json=fields, timeout=60).json()["translatedText"]

    command = [sys.executable, "-m", "tests.serving.sleeping_server", str(shipped), "1.5"]
    with process(command) as (server, url), ThreadPoolExecutor(20) as clients:
        answers = [clients.submit(ask, number) for number in range(20)]
        # One is at work, and nineteen are in the queue; the last to be counted is who asks this.
        while "dragoman_requests_in_progress 21.0" not in requests.get(f"{url}/metrics").text:
            time.sleep(0.01)
        server.send_signal(signal.SIGTERM)
        assert not any(answer.done() for answer in answers)
        time.sleep(0.3)
        with pytest.raises(ConnectionRefusedError):  # and not taken, and dropped at the end
            socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=5)
        assert [answer.result() for answer in answers] == [f"cat {n}" for n in range(20)]
        assert server.wait(timeout=60) == 0
        assert server.stderr is not None
        assert server.stderr.read() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priorities here")
def test_the_thread_that_answers_comes_before_those_that_translate(shipped: Path) -> None:
    with process(serve(shipped)) as (server, url):
        fields = {"q": "a cat", "source": "en", "target": "it"}
        assert requests.post(f"{url}/translate", json=fields, timeout=60).ok
        threads = [int(task.name) for task in Path(f"/proc/{server.pid}/task").iterdir()]
        niceness = {thread: os.getpriority(os.PRIO_PROCESS, thread) for thread in threads}
    answers = niceness.pop(server.pid)
    # The engine's and those that call it; some threads of libraries have nothing to do.
    assert sorted(niceness.values())[-2] > answers
    assert min(niceness.values()) >= answers


SLOW_TO_LOAD = """
import sys, time
from dragoman.cli import main
from dragoman.cli.translation_options import TranslationOptions

TranslationOptions.load = lambda *_: time.sleep(3)
sys.exit(main(["serve", "model", "--port", sys.argv[1]]))
"""


def test_sigterm_ends_it_while_a_model_is_loaded() -> None:
    with open_socket("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_TO_LOAD, str(port)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as server:
        while True:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            assert server.poll() is None
            time.sleep(0.01)
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 0


def test_from_sigterm_on_it_is_not_healthy(shipped: Path) -> None:
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
    with process(serve(shipped)) as (server, url), connection(url, head) as client:
        time.sleep(1)  # until it has read that
        server.send_signal(signal.SIGTERM)
        time.sleep(0.02)
        client.sendall(b"\r\n")
        answer = client.recv(4096)

    assert answer == b"" or answer.startswith(b"HTTP/1.1 503 ")


def test_after_a_kill_it_starts_again_on_the_same_port(shipped: Path) -> None:
    fields = {"q": "Where is the cat?", "source": "en", "target": "it"}
    answers = []
    port = 0
    for _ in range(2):
        with process(serve(shipped, port=port)) as (server, url):
            port = urlsplit(url).port or 0
            answers.append(requests.post(f"{url}/translate", json=fields, timeout=30).json())
            server.send_signal(signal.SIGKILL)
            assert server.wait(timeout=30) == -signal.SIGKILL

    assert answers[0] == answers[1]


def test_more_connections_than_it_may_have_files_end_nothing(shipped: Path) -> None:
    fields = {"q": "Where is the cat?", "source": "en", "target": "it"}
    with process(serve(shipped)) as (server, url):
        address = urlsplit(url).hostname, urlsplit(url).port
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (64, 64))
        crowd = [socket.create_connection(address) for _ in range(200)]
        time.sleep(0.5)
        for client in crowd:
            client.close()
        with requests.Session() as session:  # turned away while the crowd leaves, it comes again
            retries = Retry(
                total=20, backoff_factor=0.1, status_forcelist=[503], allowed_methods=None
            )
            session.mount("http://", HTTPAdapter(max_retries=retries))
            answer = session.post(f"{url}/translate", json=fields, timeout=60)
        server.terminate()

        assert answer.status_code == 200
        assert server.wait(timeout=30) == 0
        assert server.stderr is not None
        assert server.stderr.read() == ""


@pytest.mark.parametrize("broken", ["model.toml", "tokenizer.model", "ctranslate2/model.bin"])
def test_a_broken_model_is_named_and_never_served(
    shipped: Path, tmp_path: Path, broken: str
) -> None:
    path = tmp_path / "model"
    shutil.copytree(shipped, path)
    (path / broken).write_bytes((path / broken).read_bytes()[:100])

    run = subprocess.run(serve(path), capture_output=True, text=True, timeout=60, check=False)

    assert run.returncode == 1
    assert run.stdout == ""
    assert Path(broken).name in run.stderr
    assert run.stderr.count("\n") == 1
    assert "Traceback" not in run.stderr


def test_ctrl_c_ends_it_without_a_traceback(shipped: Path) -> None:
    with process(serve(shipped)) as (server, url):
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
        ("x" * 64, 5000, "x:5000: there is no such host; name another --host"),
    ],
)
def test_an_address_that_is_none_is_named(host: str, port: int, problem: str) -> None:
    with pytest.raises(DragomanError, match=problem):
        open_socket(host, port)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this system has no IPv6")
def test_everybody_is_everybody_with_both_versions_of_ip() -> None:
    with open_socket("::", 0) as listener:
        for host in ("::1", "127.0.0.1"):
            socket.create_connection((host, listener.getsockname()[1]), timeout=10).close()


def test_a_number_that_is_no_port_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="port 70000: a port is a number from 0 to 65535"):
        open_socket("127.0.0.1", 70_000)


def test_a_second_signal_ends_in_words_what_was_accepted(shipped: Path) -> None:
    def ask(number: int) -> requests.Response:
        fields = {"text": [f"cat {number}"], "source_lang": "EN", "target_lang": "IT"}
        return requests.post(f"{url}/v2/translate", json=fields, timeout=60)

    command = [sys.executable, "-m", "tests.serving.sleeping_server", str(shipped), "5"]
    with process(command) as (server, url), ThreadPoolExecutor(3) as clients:
        answers = [clients.submit(ask, number) for number in range(3)]
        while "dragoman_requests_in_progress 4.0" not in requests.get(f"{url}/metrics").text:
            time.sleep(0.01)
        for _ in range(2):
            server.send_signal(signal.SIGINT)
            time.sleep(0.5)
        for answer in answers:
            refused = answer.result()
            assert refused.status_code == 503
            assert refused.headers["Retry-After"] == "1"
            assert refused.json() == {"message": "the server is about to stop"}
        server.wait(timeout=60)
        assert server.stderr is not None
        assert "ERROR" not in server.stderr.read()  # of uvicorn
