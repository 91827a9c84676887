"""What a server has done, in the format of Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


class Metrics:
    """Counts requests and characters. Nothing of what was translated is kept."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "dragoman_requests",
            "Requests, by path and status.",
            ["path", "status"],
            registry=self._registry,
        )
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
        self.num_characters = 0
        """That were translated since the start, by all models."""

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(path=path, status=str(status)).inc()
        self._seconds.labels(path=path).observe(seconds)

    def count_characters(self, model: str, number: int) -> None:
        """Count characters that were translated."""
        self._characters.labels(model=model).inc(number)
        self.num_characters += number

    def write(self) -> bytes:
        """Write all numbers as text."""
        return generate_latest(self._registry)
