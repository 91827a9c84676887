"""A server that is used for long, well and badly, keeps nothing of it.

This is what CI bears of `benchmarks/serving_soak.py`.
"""

from contextlib import suppress
from pathlib import Path

import requests
from tests.serving.live import connection
from tests.serving.live_process import memory, num_files, num_threads, process, serve

TEXT = "7" * 20_000  # long, and quickly translated
WARM_UP = 30
ROUNDS = 60
MOST_KEPT = 0.5
"""Of the bytes of all texts; the allocator keeps some memory for later."""


def use(url: str, session: requests.Session, number: int) -> None:
    """Ask in three protocols, ask wrongly, and go away in the middle of a request."""
    text = f"{number} a cat\n{number}{TEXT}"
    fields = {"q": text, "source": "auto", "target": "it"}
    assert session.post(f"{url}/translate", json=fields, timeout=30).status_code == 200
    fields = {"text": text, "source": "en", "target": "it"}
    assert session.post(f"{url}/api/v1/translate", json=fields, timeout=30).status_code == 200
    fields = {"text": text, "target_lang": "IT"}
    assert session.post(f"{url}/v2/translate", json=fields, timeout=30).status_code == 200
    wrong = {"q": text, "source": "en", "target": f"{number}"}
    assert session.post(f"{url}/translate", json=wrong, timeout=30).status_code == 400
    assert session.post(f"{url}/translate", data="[" * 20_000, timeout=30).status_code == 400
    head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {2 * len(TEXT)}\r\n"
    with suppress(OSError), connection(url, f"{head}\r\n{TEXT}".encode()):
        pass


def test_what_is_asked_for_is_not_kept(shipped: Path) -> None:
    with process(serve(shipped)) as (server, url), requests.Session() as session:
        for number in range(WARM_UP):
            use(url, session, number)
        before, files, threads = memory(server), num_files(server), num_threads(server)
        for number in range(WARM_UP, WARM_UP + ROUNDS):
            use(url, session, number)
        grown = memory(server) - before

        sent = 6 * ROUNDS * len(TEXT) / 2**20
        assert grown < MOST_KEPT * sent
        assert num_files(server) <= files + 2
        assert num_threads(server) <= threads + 2
