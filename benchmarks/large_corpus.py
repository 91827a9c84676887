"""Prepare corpora of millions of pairs, and draw an epoch of batches from each.

    python benchmarks/large_corpus.py 200000 2000000 20000000 [--directory DIR] [--json]

Each size runs in a process of its own, through the code of `dragoman train`: read, clean and drop
duplicates; hold out validation text; learn the vocabulary; encode; plan an epoch and build all of
its batches. One line per stage gives the wall and CPU seconds (of all threads), the peak memory of
its own (anonymous pages: what cannot be given back) and the peak resident memory (with the pages of
mapped files, which the system takes back when it needs them). Linux only; one size needs about 600
bytes of disk per pair, which are freed at the end.

The text is made here, because nobody has 20 million pairs at hand and `dragoman corpus primer`
remembers everything that it has generated. Words are drawn from 60,000 by Zipf's law and put into
sentences whose lengths are log-normal, 10 words on average; the target has another word for each,
and sometimes one more or one less. One pair in fifty came before; one in a hundred has an empty
side.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from dragoman.corpora.batching import Batches
from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.preparation import TextPreparation
from dragoman.corpora.prepared_text import PreparedText
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.tokenizer import SpecialIds

BLOCK = 100_000  # pairs made at a time
NUM_WORDS = 60_000
MEAN_WORDS, SPREAD = 10, 0.5
REPEATED, EMPTY = 0.02, 0.01
TOKENS_PER_UPDATE = 32_768
VOCAB_SIZE = 32_000
SECONDS_BETWEEN_SAMPLES = 0.02


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What one stage took."""

    name: str
    wall_seconds: float
    cpu_seconds: float
    own_mib: float
    resident_mib: float
    disk_mib: float
    """Of all files at the end of the stage, the source text included."""


def write_pairs(path: Path, pairs: int) -> None:
    """Write synthetic pairs as TSV, always the same for the same number."""
    random = np.random.default_rng(pairs)
    lists = [_words(np.random.default_rng(1), "aeiou"), _words(np.random.default_rng(2), "aeiouè")]
    weights = 1 / np.arange(2, NUM_WORDS + 2)
    cumulated = np.cumsum(weights / weights.sum())
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for start in range(0, pairs, BLOCK):
            lines = list(_block(random, min(BLOCK, pairs - start), lists, cumulated))
            file.writelines(lines)


def _words(random: np.random.Generator, vowels: str) -> list[str]:
    """Invent words of one to six syllables; frequent words are short, as in every language."""
    syllables = [consonant + vowel for consonant in (*"bcdfglmnprstvz", "ch") for vowel in vowels]
    words: dict[str, None] = {}
    while len(words) < NUM_WORDS:
        longest = 2 + len(words) * 20 // NUM_WORDS if len(words) < NUM_WORDS // 5 else 6
        drawn = random.integers(len(syllables), size=int(random.integers(1, longest + 1)))
        words["".join([syllables[number] for number in drawn.tolist()])] = None
    return list(words)


def _block(
    random: np.random.Generator, pairs: int, lists: list[list[str]], cumulated: np.ndarray
) -> Iterator[str]:
    """Yield lines of source, tab and target."""
    spread = random.lognormal(np.log(MEAN_WORDS) - SPREAD**2 / 2, SPREAD, pairs)
    lengths = np.clip(spread.astype(np.int64), 3, 100)
    drawn = np.searchsorted(cumulated, random.random(int(lengths.sum()) + 1)).tolist()
    changes = random.integers(-1, 2, pairs).tolist()
    fates = random.random(pairs).tolist()
    source_words, target_words = lists
    line, start = "", 0
    for length, change, fate in zip(lengths.tolist(), changes, fates, strict=True):
        words = drawn[start : start + length]
        start += length
        if fate >= REPEATED or not line:
            source = " ".join([source_words[word] for word in words])
            turned = words[: length + min(change, 0)] + words[: max(change, 0)]
            target = " ".join([target_words[word] for word in turned])
            line = f"{source.capitalize()}.\t{target.capitalize()}.\n"
        yield f"{source}\t\n" if fate > 1 - EMPTY else line


class Stages:
    """Measures what happens between two marks."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.done: list[Stage] = []
        self._most_own = 0.0
        self._begin()
        threading.Thread(target=self._watch, daemon=True).start()

    def end(self, name: str) -> None:
        """Set a mark: what has happened since the last one is the stage of this name."""
        wall, cpu = time.perf_counter() - self._wall, _cpu_seconds() - self._cpu
        files = [path for path in self.directory.rglob("*") if path.is_file()]
        stage = Stage(
            name=name,
            wall_seconds=wall,
            cpu_seconds=cpu,
            own_mib=max(self._most_own, _memory("RssAnon")),
            resident_mib=_memory("VmHWM"),
            disk_mib=sum(path.stat().st_size for path in files) / 2**20,
        )
        self.done.append(stage)
        print(_row(stage), file=sys.stderr, flush=True)
        self._begin()

    def _begin(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # forget the highest resident memory
        self._most_own = 0.0
        self._wall, self._cpu = time.perf_counter(), _cpu_seconds()

    def _watch(self) -> None:
        while True:
            self._most_own = max(self._most_own, _memory("RssAnon"))
            time.sleep(SECONDS_BETWEEN_SAMPLES)


def _memory(name: str) -> float:
    """Read a field of this process's status, in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    raise LookupError(name)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(pairs: int, directory: Path) -> list[Stage]:
    """Take a corpus from text to an epoch of batches."""
    stages = Stages(directory)
    write_pairs(directory / "text.tsv", pairs)
    stages.end("write the synthetic text")
    preparation = TextPreparation(
        directory / "data",
        languages=("en", "it"),
        corpora=CorporaConfig(train=(CorpusConfig(path=str(directory / "text.tsv")),)),
        cleaning=CleaningConfig(),
        tokenizer=TokenizerConfig(vocab_size=VOCAB_SIZE),
        max_length=BatchingConfig.max_length,
    )

    def mark(said: str) -> None:
        print(said, file=sys.stderr)
        if said.startswith("text:") and "read" in said:
            stages.end("fingerprint, read, clean, drop duplicates")
        elif said.startswith("learning"):
            stages.end("hold out validation text")
        elif said.startswith("encoding"):
            stages.end("learn the vocabulary")

    text = preparation.prepare(mark, replace_other=True)
    stages.end("encode")
    updates = draw_epoch(text, stages)
    print(f"{updates:,} updates, {len(text.store):,} pairs", file=sys.stderr)
    return stages.done


def draw_epoch(text: PreparedText, stages: Stages) -> int:
    """Plan an epoch and build every batch of it."""
    config = BatchingConfig(tokens_per_update=TOKENS_PER_UPDATE)
    batches = Batches(text.store, config, seed=1, special=SpecialIds())
    count, seen = 0, 0
    for update in batches.updates():
        if count == 0:
            stages.end("choose shapes, plan an epoch")
        count += 1
        seen += sum(len(batch.indices) for batch in update.micro_batches)
        if update.ends_epoch:
            break
    stages.end("build all batches of the epoch")
    assert seen == len(text.store), "an epoch sees every pair once"
    return count


def _row(stage: Stage) -> str:
    return (
        f"| {stage.name} | {stage.wall_seconds:,.1f} | {stage.cpu_seconds:,.1f} "
        f"| {stage.own_mib:,.0f} | {stage.resident_mib:,.0f} | {stage.disk_mib:,.0f} |"
    )


def main() -> None:
    """Measure each size in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=int, nargs="+")
    parser.add_argument("--directory", type=Path, default=None, help="where there is room")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure-here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure_here:
        stages = measure(options.pairs[0], options.directory)
        print(json.dumps([asdict(stage) for stage in stages]))
        return
    for pairs in options.pairs:
        directory = Path(tempfile.mkdtemp(prefix=f"pairs-{pairs}-", dir=options.directory))
        try:
            command = [sys.executable, __file__, str(pairs), "--measure-here"]
            command += ["--directory", str(directory)]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        finally:
            shutil.rmtree(directory)
        stages = [Stage(**stage) for stage in json.loads(output)]
        if options.json:
            print(json.dumps({"pairs": pairs, "stages": json.loads(output)}))
            continue
        print(f"\n{pairs:,} pairs, {os.cpu_count()} processors\n")
        print("| stage | wall s | CPU s | own MiB | resident MiB | disk MiB |")
        print("|---|---|---|---|---|---|")
        for stage in stages:
            print(_row(stage))


if __name__ == "__main__":
    main()
