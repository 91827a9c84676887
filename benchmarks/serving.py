"""How many requests a server answers, how quickly, and how it handles too many.

python benchmarks/serving.py compare MODEL PAIRS.tsv --clients 1 8 64
python benchmarks/serving.py overload MODEL PAIRS.tsv --times 20 --seconds 30

MODEL has a copy for CTranslate2. Clients ask for one sentence after another with LibreTranslate's
protocol, over one connection each; they are a process of their own, on the same machine.

`compare` measures `dragoman serve` and the plainest server that calls CTranslate2, one sentence per
call (`serving_plain.py`). `overload` finds out how many requests per second are answered when 64
clients ask, and then sends several times as many, whether they are answered or not.
"""

import argparse
import itertools
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import uvloop
from serving_clients import Outcome, milliseconds, press, share, translation_request
from serving_process import OURS, PLAIN, Server, serving

NUM_REQUESTS = 1500
WARM_UP = 100
FULL = 64
"""The number of clients that keeps a server fully busy."""


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["compare", "overload"])
    parser.add_argument("model", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--requests", type=int, default=NUM_REQUESTS)
    parser.add_argument("--times", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    lines = options.pairs.read_text(encoding="utf-8").split("\n")[: options.requests]
    requests = [translation_request(line.split("\t")[0]) for line in lines if line]
    if options.mode == "compare":
        compare(options.model, requests, options.clients)
    else:
        overload(options.model, requests, options.times, options.seconds)


def compare(model: Path, requests: Sequence[bytes], clients: Sequence[int]) -> None:
    """Print a table of rates and times, for our server and for the plain one."""
    print("| server | clients | requests/s | p50 ms | p95 ms | p99 ms | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for name, program in (("dragoman serve", OURS), ("one sentence a call", PLAIN)):
        with serving(model, program) as server:
            uvloop.run(share(server.port, requests[:WARM_UP], 8))
            for num_clients in clients:
                print(f"| {name} | {num_clients} | {_measure(server, requests, num_clients)} |")
            print(
                f"{name}: ready after {server.seconds_to_start:.1f} s, "
                f"{server.memory('VmHWM'):.0f} MiB at most"
            )


def _measure(server: Server, requests: Sequence[bytes], num_clients: int) -> str:
    began, cpu = time.monotonic(), server.cpu_seconds
    outcomes = uvloop.run(share(server.port, requests, num_clients))
    rate = len(outcomes) / (time.monotonic() - began)
    assert {outcome.status for outcome in outcomes} == {200}
    times = " | ".join(f"{milliseconds(outcomes, percent):.0f}" for percent in (50, 95, 99))
    return f"{rate:.1f} | {times} | {server.cpu_seconds - cpu:.1f}"


def overload(model: Path, requests: Sequence[bytes], times: float, seconds: float) -> None:
    """Print what becomes of several times as many requests as can be answered."""
    with serving(model) as server:
        uvloop.run(share(server.port, requests[:WARM_UP], 8))
        began = time.monotonic()
        answered = [o.status == 200 for o in uvloop.run(share(server.port, requests, FULL))]
        capacity = sum(answered) / (time.monotonic() - began)
        began = time.monotonic()
        outcomes = uvloop.run(
            press(server.port, itertools.cycle(requests), times * capacity, seconds)
        )
        in_time = [o for o in outcomes if o.sent + o.seconds < began + seconds]
        goodput = sum(o.status == 200 for o in in_time) / seconds
        alone = uvloop.run(share(server.port, requests[:WARM_UP], 1))
        print(f"capacity {capacity:.1f} requests/s; {server.memory('VmHWM'):.0f} MiB at most")
        print(f"sent {len(outcomes) / seconds:.0f} requests/s for {seconds:.0f} s")
        print(f"answered {goodput:.1f} requests/s, {goodput / capacity:.0%} of the capacity")
        _tell(outcomes)
        print(f"afterwards, one client alone: {milliseconds(alone, 50):.0f} ms, ", end="")
        print(Counter(o.status for o in alone))


def _tell(outcomes: Sequence[Outcome]) -> None:
    for status, number in sorted(Counter(o.status for o in outcomes).items()):
        chosen = [o for o in outcomes if o.status == status]
        waits = sorted({o.retry_after for o in chosen})
        times = ", ".join(f"p{p} {milliseconds(chosen, p):.0f} ms" for p in (50, 95, 99))
        print(f"status {status}: {number} requests, {times}; Retry-After {' '.join(waits) or '-'}")


if __name__ == "__main__":
    main()
