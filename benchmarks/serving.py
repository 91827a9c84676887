"""How many requests a server answers, and how long each takes.

python benchmarks/serving.py MODEL PAIRS.tsv --clients 1 8 32

Starts `dragoman serve`, lets clients ask for one sentence after another, over one connection each,
with LibreTranslate's protocol, and reads the memory of the process.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

NUM_REQUESTS = 400


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    arguments = parser.parse_args()
    lines = arguments.pairs.read_text(encoding="utf-8").split("\n")[:NUM_REQUESTS]
    sentences = [line.split("\t")[0] for line in lines]
    command = [sys.executable, "-m", "dragoman", "serve", arguments.model, "--port", "0"]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = [next(server.stdout) for _ in range(2)]
        port = int(said[1].split(":")[-1].rstrip("/\n"))
        print(f"{said[0].strip()}; ready after {time.monotonic() - began:.1f} s")
        ask(port, sentences[:20])
        for num_clients in arguments.clients:
            measure(port, sentences, num_clients)
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
        peak = next(line for line in status.split("\n") if line.startswith("VmHWM"))
        print(f"peak memory {int(peak.split()[1]) / 1024:.0f} MiB")
        server.terminate()


def measure(port: int, sentences: list[str], num_clients: int) -> None:
    """Let some clients share the sentences."""
    began = time.monotonic()
    with ThreadPoolExecutor(num_clients) as clients:
        shares = [sentences[i::num_clients] for i in range(num_clients)]
        seconds = [
            s for times in clients.map(lambda share: ask(port, share), shares) for s in times
        ]
    rate = len(seconds) / (time.monotonic() - began)
    tenths = statistics.quantiles(seconds, n=20)
    print(
        f"{num_clients:3} clients: {rate:6.1f} requests/s, median {1000 * tenths[9]:.0f} ms, "
        f"95th percentile {1000 * tenths[18]:.0f} ms"
    )


def ask(port: int, sentences: list[str]) -> list[float]:
    """Translate sentences one by one, and give the seconds of each."""
    connection = HTTPConnection("127.0.0.1", port)
    seconds = []
    for sentence in sentences:
        began = time.monotonic()
        body = json.dumps({"q": sentence, "source": "en", "target": "it"})
        connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        assert "translatedText" in json.load(connection.getresponse())
        seconds.append(time.monotonic() - began)
    connection.close()
    return seconds


if __name__ == "__main__":
    main()
