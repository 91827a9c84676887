"""Measure what lexical shortlists gain and cost, by size, in one run.

    nice -n 19 python benchmarks/shortlist.py MODEL --train TRAIN.tsv ... --test TEST.tsv ...

The lexicon is learnt once, from all training pairs; each size is a part of it. Without a shortlist
and with each, the PyTorch engine translates the same sentences once, on one thread, in this
process. Seconds count from token ids to token ids; CPU seconds are those of this process, so they
say more than wall-clock seconds on a machine that others use.

*Covered* is the share of the references' tokens that are on the lists of their sentences, *whole*
the share of references with every token on the list, *same* the share of translations that are
exactly those of the whole vocabulary.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import read_pairs
from dragoman.decoding.config import SearchConfig
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.metrics import score
from dragoman.model_directory import ModelDirectory
from dragoman.shortlist.coverage import measure_coverage
from dragoman.shortlist.shortlist import Shortlist, ShortlistConfig, learn_shortlist
from dragoman.tokenizers.pair import TokenizerPair

SIZES = ((50, 50), (100, 20), (100, 50), (100, 100), (200, 200), (500, 100))
WARMING = 20


class Text(NamedTuple):
    """Sentence pairs, as text and as token ids."""

    name: str
    references: list[str]
    sources: list[list[int]]
    targets: list[list[int]]

    @property
    def token_pairs(self) -> list[tuple[list[int], list[int]]]:
        """The pairs as token ids."""
        return list(zip(self.sources, self.targets, strict=True))


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one shortlist did for one text with one beam size."""

    text: str
    beam_size: int
    frequent: int | None
    translations: int | None
    covered: float
    whole: float
    length: float
    bleu: float
    same: float
    tokens_per_second: float
    processor_seconds: float


def read(path: str, tokenizers: TokenizerPair, most: int | None, longest: int) -> Text:
    """Read the pairs of a file that a model could learn from."""
    corpus = CorpusConfig(path=path)
    pairs = list(read_pairs(corpus, languages=("source", "target")))[:most]
    sources = tokenizers.source.encode_batch([pair.source for pair in pairs])
    targets = tokenizers.target.encode_batch([pair.target for pair in pairs])
    kept = [
        i
        for i, sides in enumerate(zip(sources, targets, strict=True))
        if all(0 < len(side) <= longest for side in sides)
    ]
    return Text(
        corpus.name,
        [pairs[i].target for i in kept],
        [sources[i] for i in kept],
        [targets[i] for i in kept],
    )


def cut(largest: Shortlist, frequent: int, translations: int) -> Shortlist:
    """Make a shortlist of a smaller size; the last column has the copies.

    If no token has so many translations, there are fewer columns than requested.
    """
    *columns, copies = range(largest.translations.shape[1])
    return Shortlist(
        frequent=largest.frequent[: 1 + frequent],
        translations=largest.translations[:, [*columns[:translations], copies]],
    )


def measure(options: argparse.Namespace) -> list[Row]:
    """Learn the lexicon and translate all texts in all ways."""
    directory = ModelDirectory(options.model)
    tokenizers, longest = directory.load_tokenizers(), directory.description.max_length
    train = [read(path, tokenizers, None, longest) for path in options.train]
    before = time.process_time()
    config = ShortlistConfig(
        frequent=max(frequent for frequent, _ in options.sizes),
        translations=max(translations for _, translations in options.sizes),
    )
    pairs = [pair for text in train for pair in text.token_pairs]
    largest = learn_shortlist(pairs, tokenizers, config)
    print(f"learnt from {len(pairs):,} pairs in {time.process_time() - before:.1f} s of processor")
    transformer, special = directory.load_transformer(), directory.description.special_ids
    tests = [read(path, tokenizers, options.sentences, longest) for path in options.test]
    rows = []
    for text in tests:
        for beam_size in options.beam_sizes:
            plain: list[str] = []
            for size in (None, *options.sizes):
                shortlist = None if size is None else cut(largest, *size)
                engine = PyTorchEngine(transformer, special, shortlist=shortlist)
                found, seconds, of_processor = translate(engine, text.sources, beam_size)
                texts = [tokenizers.target.decode(ids) for ids in found]
                plain = plain or texts
                bleu = score(
                    texts,
                    text.references,
                    EvaluationConfig(
                        metrics=("BLEU",), lowercase=options.lowercase, bootstrap_samples=0
                    ),
                )[0]
                coverage = shortlist and measure_coverage(shortlist, text.token_pairs)
                rows.append(
                    Row(
                        text=text.name,
                        beam_size=beam_size,
                        frequent=size and size[0],
                        translations=size and size[1],
                        covered=coverage.tokens if coverage else 1.0,
                        whole=coverage.sentences if coverage else 1.0,
                        length=coverage.mean_length if coverage else tokenizers.target.vocab_size,
                        bleu=bleu.value,
                        same=sum(map(str.__eq__, plain, texts)) / len(texts),
                        tokens_per_second=sum(map(len, found)) / seconds,
                        processor_seconds=of_processor,
                    )
                )
    return rows


def translate(
    engine: PyTorchEngine, sources: Sequence[Sequence[int]], beam_size: int
) -> tuple[list[tuple[int, ...]], float, float]:
    """Translate a text; also return the wall-clock and CPU seconds."""
    config = SearchConfig(beam_size=beam_size)
    engine.search(sources[:WARMING], config)
    clock, processor = time.perf_counter(), time.process_time()
    found = engine.search(sources, config)
    seconds = time.perf_counter() - clock, time.process_time() - processor
    return [hypotheses[0].ids for hypotheses in found], *seconds


def show(rows: list[Row]) -> None:
    """Print a table for people."""
    print(
        "| text | beam | F | K | covered | whole | list | BLEU | same | target tokens/s | CPU s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        size = "| – | –" if row.frequent is None else f"| {row.frequent} | {row.translations}"
        print(
            f"| {row.text} | {row.beam_size} {size} | {row.covered:.2%} | {row.whole:.1%} "
            f"| {row.length:,.0f} | {row.bleu:.2f} | {row.same:.1%} | {row.tokens_per_second:,.0f} "
            f"| {row.processor_seconds:.1f} |"
        )


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def size(text: str) -> tuple[int, ...]:
        return tuple(map(int, text.split(",")))

    parser.add_argument("model", type=Path)
    parser.add_argument("--train", nargs="+", required=True, help="what the model has learnt from")
    parser.add_argument("--test", nargs="+", required=True, help="sentences and references")
    parser.add_argument("--sizes", type=size, nargs="+", default=SIZES, help="as 100,50")
    parser.add_argument("--sentences", type=int, help="the first so many of each test")
    parser.add_argument("--beam-sizes", type=int, nargs="+", default=[4, 1])
    parser.add_argument("--lowercase", action="store_true", help="score without regard to case")
    parser.add_argument("--json", action="store_true", help="write JSON, for programs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = measure(options)
    if options.json:
        described: list[dict[str, Any]] = [asdict(row) for row in rows]
        print(json.dumps(described, indent=2))
    else:
        show(rows)


if __name__ == "__main__":
    main()
