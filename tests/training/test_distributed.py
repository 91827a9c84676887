"""Processes find each other, also where the addresses of dead ones lie about."""

import socket
import threading

import pytest
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from dragoman.training.distributed import PORT_KEY, _new_store


def open_store() -> TCPStore:
    return TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> TCPStore:
    """Offer a store as torchrun does, which outlives the processes that it starts."""
    store = open_store()
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", str(store.port))
    return store


def test_a_process_that_finds_a_dead_port_looks_again(
    offered: TCPStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        offered.set(PORT_KEY, str(taken.getsockname()[1]))
        fresh = open_store()
        fresh.set("who", "alive")
        timer = threading.Timer(1.0, lambda: offered.set(PORT_KEY, str(fresh.port)))
        timer.start()
        monkeypatch.setenv("RANK", "1")

        found = _new_store()
        timer.join()

    assert found.get("who") == b"alive"


def test_the_first_process_opens_a_new_store_each_time(
    offered: TCPStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "0")
    before = _new_store()
    before.set("of the dead", "1")

    after = _new_store()

    assert not after.check(["of the dead"])
    assert offered.get(PORT_KEY) == str(after.port).encode()
