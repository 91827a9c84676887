"""What a server has done, in the format of Prometheus."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Metrics:
    """Counts requests and characters. Nothing of what was translated is kept."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._in_progress = Gauge(
            "dragoman_requests_in_progress",
            "Requests that have begun to arrive and were not answered yet.",
            registry=self._registry,
        )
        self._requests = Counter(
            "dragoman_requests",
            "Requests, by path and status; the path is `other` if they were refused before it.",
            ["path", "status"],
            registry=self._registry,
        )
        self._refusals = self._requests.labels(path="other", status="429")
        self._seconds = Histogram(
            "dragoman_request_seconds",
            "Time from the first byte of a request to the last of its answer.",
            ["path"],
            registry=self._registry,
        )
        self._characters = Counter(
            "dragoman_translated_characters",
            "Characters that were translated, by model.",
            ["model"],
            registry=self._registry,
        )
        self._waiting = Gauge(
            "dragoman_waiting_characters",
            "Characters that nobody has begun to translate yet, by model.",
            ["model"],
            registry=self._registry,
        )
        self.num_characters = 0
        """Characters translated since the start, by all models."""

    def begin_request(self) -> None:
        """Note that a request has begun to arrive."""
        self._in_progress.inc()

    def end_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._in_progress.dec()
        self._requests.labels(path=path, status=str(status)).inc()
        self._seconds.labels(path=path).observe(seconds)

    def count_refusal(self) -> None:
        """Count a request that was refused with 429 before it reached the application."""
        self._refusals.inc()

    def count_characters(self, model: str, number: int) -> None:
        """Count characters that were translated."""
        self._characters.labels(model=model).inc(number)
        self.num_characters += number

    def watch_waiting(self, model: str, count: Callable[[], int]) -> None:
        """Ask how many characters wait for a model whenever the numbers are written."""
        self._waiting.labels(model=model).set_function(count)

    def write(self) -> bytes:
        """Write all numbers as text."""
        return generate_latest(self._registry)
