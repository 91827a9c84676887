"""Compare how sure a model is of its translations with how good they are.

    python benchmarks/confidence.py MODEL PAIRS.tsv... [--sentences N] [--words N]

The first sentences of each test set are translated. A row has the rank correlation (Spearman) of
the confidence of a translation with its chrF against the reference, the BLEU of the half that the
model is surer of and of the other half, and the share of the words of the first translations that
are in the reference, by how sure the model is of them.
"""

import argparse
import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import sacrebleu

from dragoman import Translator
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import Pair, read_pairs

BOUNDS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Bounds of the classes of words, by the probability that the model gives them."""


def main() -> None:
    """Print a row for each test set."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("pairs", nargs="+")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--words", type=int, default=200, help="sentences whose words are judged")
    options = parser.parse_args()
    translator = Translator(options.model)
    classes = [f"{low:.1f} to {high:.1f}" for low, high in pairwise(BOUNDS)]
    heads = ["text", "sentences", "correlation", "BLEU, surer half", "BLEU, other half", *classes]
    print("|", " | ".join(heads), "|")
    print("|---" * len(heads) + "|")
    for path in options.pairs:
        corpus = CorpusConfig(path=path)
        pairs = list(islice(read_pairs(corpus, languages=("en", "it")), options.sentences))
        cells = [corpus.name, str(len(pairs)), *_sentences(translator, pairs)]
        print("|", " | ".join([*cells, *_words(translator, pairs[: options.words])]), "|")


def _sentences(translator: Translator, pairs: Sequence[Pair]) -> list[str]:
    """Compare the confidence of translations with their scores."""
    translations = list(translator.translate([pair.source for pair in pairs]))
    confidence = np.array([translation.confidence for translation in translations])
    texts = [translation.text for translation in translations]
    quality = [
        sacrebleu.sentence_chrf(text, [pair.target]).score
        for text, pair in zip(texts, pairs, strict=True)
    ]
    correlation = np.corrcoef(_ranks(confidence), _ranks(np.array(quality)))[0, 1]
    order = np.argsort(-confidence, kind="stable")
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    scores = [
        sacrebleu.corpus_bleu([texts[i] for i in half], [[pairs[i].target for i in half]]).score
        for half in halves
    ]
    return [f"{correlation:.2f}", *(f"{score:.1f}" for score in scores)]


def _ranks(values: np.ndarray) -> np.ndarray:
    """Rank values; equal ones get the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - (counts - 1) / 2)[places])


def _words(translator: Translator, pairs: Sequence[Pair]) -> list[str]:
    """Say for each class of words how many are in the reference."""
    found, total = Counter[int](), Counter[int]()
    for pair in pairs:
        reference = Counter(pair.target.casefold().split())
        (translation,) = translator.translate([pair.source])
        for word in translator.judge(pair.source, translation.text):
            place = min(math.floor(word.confidence * (len(BOUNDS) - 1)), len(BOUNDS) - 2)
            total[place] += 1
            text = word.text.casefold()
            if reference[text]:
                reference[text] -= 1
                found[place] += 1
    return [
        f"{found[place] / total[place]:.0%} of {total[place]:,}" if total[place] else "-"
        for place in range(len(BOUNDS) - 1)
    ]


if __name__ == "__main__":
    main()
