"""Score translations as the published figures of Multi30k are: split by Moses, in small letters.

    pip install sacremoses==0.2.0
    cut -f1 TEST.tsv | dragoman translate RUN > out.de
    python benchmarks/moses.py de out.de TEST.tsv

The figures are BLEU of sacreBLEU without a tokenizer of its own (`tok:none`). Punctuation is
normalised first, in the translations and in the references, as in Moses' scripts.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from sacrebleu.metrics import BLEU
from sacremoses import MosesPunctNormalizer, MosesTokenizer


def split(lines: Sequence[str], language: str) -> list[str]:
    """Write a space between words, as Moses finds them."""
    normalizer, tokenizer = MosesPunctNormalizer(language), MosesTokenizer(language)
    return [
        tokenizer.tokenize(normalizer.normalize(line.lower()), return_str=True) for line in lines
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("language", help="of the translations, such as de")
    parser.add_argument("translations", type=Path, help="one a line")
    parser.add_argument("pairs", type=Path, help="the test set: source TAB reference")
    args = parser.parse_args()
    references = [
        line.split("\t")[1]
        for line in args.pairs.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    ]
    translations = args.translations.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    metric = BLEU(tokenize="none", force=True)  # it warns of split text
    found = metric.corpus_score(
        split(translations, args.language), [split(references, args.language)]
    )
    print(f"{found.score:.2f}  {metric.get_signature()}")
