"""A server that is used for a long time, well and badly, and what it retains.

python benchmarks/serving_soak.py MODEL PAIRS.tsv --minutes 15 --load 0.7

Measures how many requests per second are answered, and then sends a share of that: sentences and
paragraphs in three protocols, files, invalid requests, clients that leave, and connections that are
abandoned in the middle of a request. Every half minute it prints memory, files and threads of the
server, and at the end the slope of a line through the memory of the second half.
"""

import argparse
import asyncio
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import uvloop
from serving_clients import Client, press, share, translation_request
from serving_process import Server, serving

SAMPLE_SECONDS = 30.0
LONGEST_PARAGRAPH = 12  # sentences


def main() -> None:
    """Use a server, and watch it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--load", type=float, default=0.7)
    options = parser.parse_args()
    lines = options.pairs.read_text(encoding="utf-8").split("\n")
    sentences = [line.split("\t")[0] for line in lines if line]
    with serving(options.model) as server:
        uvloop.run(soak(server, sentences, 60 * options.minutes, options.load))


async def soak(server: Server, sentences: Sequence[str], seconds: float, load: float) -> None:
    """Send requests for some seconds, and print what the server uses and retains."""
    trial = list(_requests(sentences, seed=0, number=300))
    began = time.monotonic()
    await share(server.port, trial, 32)
    rate = load * len(trial) / (time.monotonic() - began)
    idle = server.count("fd"), server.count("task")
    print(f"{rate:.1f} requests/s; at rest {idle[0]} files, {idle[1]} threads", flush=True)
    watching = asyncio.create_task(_watch(server, seconds))
    leaving = asyncio.create_task(_leave(server.port, sentences, seconds))
    outcomes = await press(server.port, _requests(sentences, seed=1), rate, seconds)
    samples, num_left = await watching, await leaving
    await asyncio.sleep(6)  # connections that nobody uses are closed after five
    print(f"answered: {dict(sorted(Counter(o.status for o in outcomes).items()))}; left {num_left}")
    half = [sample for sample in samples if sample[0] > seconds / 2]
    slope = statistics.linear_regression(*zip(*half, strict=True)).slope
    print(f"memory: {60 * slope:+.3f} MiB a minute in the second half")
    print(f"at rest again: {server.count('fd')} files, {server.count('task')} threads")


def _requests(sentences: Sequence[str], *, seed: int, number: int = 10**9) -> Iterator[bytes]:
    """Make up requests: most are right, some are wrong."""
    chance = random.Random(seed)
    for _ in range(number):
        text = " ".join(chance.choices(sentences, k=chance.choice([1] * 9 + [LONGEST_PARAGRAPH])))
        match chance.randrange(10):
            case 0:
                yield _post("/v2/translate", {"text": [text, text[:20]], "target_lang": "IT"})
            case 1:
                fields = {"text": text, "source": "en", "target": "it", "n_best": 3}
                yield _post("/api/v1/translate", fields)
            case 2:
                yield translation_request(f"<p>{text} <b>{text[:30]}</b></p>", format="html")
            case 3:
                yield _file(f"{text}\n")
            case 4:
                wrong = ["", "[" * 1000, "{}", json.dumps({"q": text, "target": "xx"})]
                yield _post("/translate", chance.choice(wrong))
            case _:
                yield translation_request(text, source=chance.choice(["en", "auto"]))


def _post(path: str, fields: object, kind: str = "application/json") -> bytes:
    body = (fields if isinstance(fields, str) else json.dumps(fields)).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _file(content: str) -> bytes:
    """Upload a file in DeepL's protocol, and never fetch it."""
    parts = [
        '--x\r\nContent-Disposition: form-data; name="target_lang"\r\n\r\nIT\r\n',
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n',
        f"{content}\r\n--x--\r\n",
    ]
    return _post("/v2/document", "".join(parts), "multipart/form-data; boundary=x")


async def _leave(port: int, sentences: Sequence[str], seconds: float) -> int:
    """Ask, and leave before the answer, or before the request is complete."""
    chance, num_left = random.Random(2), 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        request = translation_request(chance.choice(sentences))
        client = Client(port)
        cut = request[: chance.choice([0, 10, len(request) // 2, len(request) - 1, len(request)])]
        asking = asyncio.create_task(client.ask(cut))
        await asyncio.sleep(chance.uniform(0, 0.5))
        client.close()
        asking.cancel()
        num_left += 1
    return num_left


async def _watch(server: Server, seconds: float) -> list[tuple[float, float]]:
    """Print and return times and memory."""
    began, samples = time.monotonic(), []
    while (passed := time.monotonic() - began) < seconds:
        samples.append((passed, server.memory()))
        print(
            f"{passed:6.0f} s: {samples[-1][1]:.1f} MiB, {server.count('fd')} files, "
            f"{server.count('task')} threads, {server.cpu_seconds:.0f} s of CPU",
            flush=True,
        )
        await asyncio.sleep(min(SAMPLE_SECONDS, seconds / 20))
    return samples


if __name__ == "__main__":
    main()
