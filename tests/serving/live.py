"""A server on a free port of this machine, and an engine that waits when it is told to."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path

from tests.fake_engine import FakeEngine

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY, Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.serving.application import build_application
from dragoman.serving.models import Models, ServedModel
from dragoman.serving.server import Server, open_socket
from dragoman.serving.settings import Settings
from dragoman.translator import Translator


class Copier(FakeEngine):
    """Translates each sentence to itself, or with a longer end; its gate can make it wait."""

    name = "copier"

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.asked: list[int] = []

    def continue_in_ways(
        self, source: Sequence[int], prefix: Sequence[int], config: SearchConfig, *, count: int
    ) -> list[Hypothesis]:
        (found,) = self.search([source], config)
        return found

    def log_probabilities(
        self, sources: Sequence[Sequence[int]], translations: Sequence[Sequence[int]]
    ) -> list[tuple[float, ...]]:
        return [(-1.0,) * (len(ids) + 1) for ids in translations]

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        self.asked.append(len(sources))
        assert self.gate.wait(timeout=30)
        return [
            [
                Hypothesis(
                    ids=(*source, *[source[-1]] * place),
                    score=-1.0 * place,
                    log_probability=-1.0 * place,
                    token_log_probabilities=(),
                    finished=True,
                )
                for place in range(config.n_best)
            ]
            if source
            else [EMPTY]
            for source in sources
        ]


class Turnstile(Copier):
    """An engine that copies, and lets a batch pass only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.passes = threading.Semaphore(0)

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        assert self.passes.acquire(timeout=30)
        return super().search(sources, config, required, prefixes)


def loaded(path: Path) -> ServedModel:
    translator = Translator(path, engine="pytorch", device="cpu", split_sentences=False)
    return ServedModel(path, translator, whole_lines=False)


def changed(model: ServedModel, **attributes: str) -> ServedModel:
    """Copy a model, and let it have another name or other languages."""
    model = copy(model)
    vars(model).update(attributes)
    return model


@contextmanager
def connection(url: str, sent: bytes = b"", receive_buffer: int = 0) -> Iterator[socket.socket]:
    """Connect, and send the beginning of something, byte for byte."""
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as client:
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.settimeout(30)
        client.connect((host, int(port)))
        client.sendall(sent)
        yield client


def read_all(client: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    return b"".join(iter(lambda: client.recv(4096), b""))


@contextmanager
def serving(models: Sequence[ServedModel], settings: Settings | None = None) -> Iterator[str]:
    """Serve models on a free port, and give the address."""
    settings = settings or Settings()
    app = build_application(Models(models), settings)
    with open_socket("127.0.0.1", 0) as listener:
        server = Server(app, settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        port = listener.getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(timeout=30)
    assert not thread.is_alive()
