"""Count how many translations are the same alone and among others, per engine and number type.

    python benchmarks/batch_agreement.py MODEL TEXT [--sentences N] [--batchings N]

The first sentences of a text (one per line, without those that have more tokens than the model has
seen) are translated one by one, and then all of them `--batchings` times in random company:
shuffled, and split into groups of 1 to 64. A row says how many of these translations have the same
tokens as that of the sentence alone, how many are equal to the bit with all their scores, how many
sentences ever had other tokens, and how far a score is from that of the sentence alone at most.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.engines.ctranslate2 import CTranslate2Engine
from dragoman.engines.protocol import Engine
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.interop.export import Quantization
from dragoman.model_directory import ModelDirectory

LARGEST_GROUP = 64

Prepare = Callable[[ModelDirectory], Engine]
Translate = Callable[[Sequence[Sequence[int]]], list[Hypothesis]]


def use_pytorch(dtype: torch.dtype) -> Prepare:
    """Compute with PyTorch in a type of number."""

    def prepare(directory: ModelDirectory) -> Engine:
        special_ids = directory.description.special_ids
        return PyTorchEngine(directory.load_transformer(), special_ids, dtype=dtype)

    return prepare


def use_ctranslate2(quantization: Quantization) -> Prepare:
    """Compute with a copy that `dragoman export` makes."""

    def prepare(directory: ModelDirectory) -> Engine:
        with tempfile.TemporaryDirectory(prefix="agreement-") as place:
            copy = Path(place) / "copy"
            export_ctranslate2(directory.path, copy, quantization=quantization)
            return CTranslate2Engine(directory, directory.load_tokenizers(), copy=copy)

    return prepare


SUBJECTS: dict[str, Prepare] = {
    "pytorch float32": use_pytorch(torch.float32),
    "pytorch bfloat16": use_pytorch(torch.bfloat16),
    "ctranslate2 float32": use_ctranslate2("float32"),
    "ctranslate2 int8": use_ctranslate2("int8"),
}


def main() -> None:
    """Print a row for each engine and number type."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path, help="a sentence a line")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--batchings", type=int, default=50)
    parser.add_argument("--subjects", nargs="+", choices=list(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    directory = ModelDirectory(options.model)
    sources = read_sources(directory, options.text, options.sentences)
    search = directory.search
    print(
        f"{len(sources)} sentences, {options.batchings} batchings, beam {search.beam_size}\n\n"
        "| subject | the tokens as alone | scores, too, to the bit | sentences that ever differ "
        "| scores at most apart | CPU seconds |\n|---|---:|---:|---:|---:|---:|",
        flush=True,
    )
    for name in options.subjects:
        began = time.process_time()
        found = compare(
            translating(SUBJECTS[name](directory), search),
            sources,
            options.batchings,
            random.Random(options.seed),
        )
        print(f"| {name} | {found} | {time.process_time() - began:.0f} |", flush=True)


def translating(engine: Engine, search: SearchConfig) -> Translate:
    """Return a function that finds the best translation of each sentence of a group."""
    return lambda sources: [best for best, *_ in engine.search(sources, search)]


def read_sources(directory: ModelDirectory, text: Path, count: int) -> list[list[int]]:
    """Tokenise the first sentences that the model can take."""
    tokenizer = directory.load_tokenizers().source
    with text.open(encoding="utf-8") as lines:
        encoded = tokenizer.encode_batch([line for line in lines if line.strip()])
    fitting = [ids for ids in encoded if 0 < len(ids) <= directory.description.max_length]
    return fitting[:count]


def compare(
    translate: Translate, sources: list[list[int]], batchings: int, chance: random.Random
) -> str:
    """Translate each sentence alone, and all of them in random company."""
    alone = [translate([source])[0] for source in sources]
    num_alike, num_equal, largest = 0, 0, 0.0
    apart: set[int] = set()
    for _ in range(batchings):
        for group in random_groups(len(sources), chance):
            together = translate([sources[i] for i in group])
            for i, found in zip(group, together, strict=True):
                largest = max(largest, abs(found.score - alone[i].score))
                num_equal += found == alone[i]
                num_alike += found.ids == alone[i].ids
                if found.ids != alone[i].ids:
                    apart.add(i)
    count = batchings * len(sources)
    return f"{num_alike:,} of {count:,} | {num_equal:,} of {count:,} | {len(apart)} | {largest:.1e}"


def random_groups(count: int, chance: random.Random) -> list[list[int]]:
    """Shuffle numbers, and split them into groups of random size."""
    order = chance.sample(range(count), count)
    groups = []
    while order:
        size = chance.randint(1, LARGEST_GROUP)
        groups.append(order[:size])
        order = order[size:]
    return groups


if __name__ == "__main__":
    main()
