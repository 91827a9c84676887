"""Count how many bad translations by deliberately bad models are marked as such.

    python benchmarks/bad_models.py [--updates 600] [--threads 1]

Small models learn the embedded corpus with its translations spoilt: each is the source itself, is
cut after two words, is repeated four times, or is followed by three other sentences. One model
learns the corpus as it is, and one learns that for only a tenth of the time. They translate test
sentences as users do, second search included. A translation counts as spoilt if it resembles the
spoilt reference (chrF of at least `LEAST_CHRF`), which is independent of how faults are found. For
the last two models nothing is counted as spoilt: their column says how often anything is marked.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import tomli_w
from circumstances import circumstances
from sacrebleu.metrics import CHRF

from dragoman import Translator
from dragoman.corpora.primer.corpus import AlignedPair, generate

PAIRS = {"train": 20_000, "validation": 200, "test": 500}
LEAST_CHRF = 70
EARLY = 10
"""One model stops after 1 / EARLY of the updates."""

Spoil = Callable[[Sequence[AlignedPair], int], str]
SPOILT: dict[str, Spoil] = {
    "the source itself": lambda pairs, i: pairs[i].source,
    "cut after two words": lambda pairs, i: " ".join(pairs[i].target.split()[:2]),
    "said four times": lambda pairs, i: " ".join([pairs[i].target] * 4),
    "three other sentences behind it": lambda pairs, i: " ".join(
        pairs[(i + j) % len(pairs)].target for j in range(4)
    ),
}
RECIPE = {
    "source_language": "en",
    "target_language": "it",
    "corpora": {
        "train": [{"path": "train.tsv"}],
        "validation": [{"path": "validation.tsv"}],
        "overlap": "allow",
    },
    "cleaning": {"drop_identical": False, "drop_duplicates": False, "max_length_ratio": 100.0},
    "tokenizer": {"vocab_size": 2000},
    "batching": {"tokens_per_update": 2048, "max_length": 128},
    "model": {"preset": "tiny", "positional_encoding": "rotary", "dropout": 0.1},
    "training": {"optimizer": "muon", "learning_rate": 6e-3, "schedule": "cosine"},
}


def train(folder: Path, spoil: Spoil | None, updates: int, threads: int) -> Path:
    """Write the text, and train on it."""
    folder.mkdir()
    for split in ("train", "validation"):
        pairs = list(generate(PAIRS[split], seed=1, split=split))
        targets = [spoil(pairs, i) if spoil else pair.target for i, pair in enumerate(pairs)]
        lines = [f"{p.source}\t{target}\n" for p, target in zip(pairs, targets, strict=True)]
        (folder / f"{split}.tsv").write_text("".join(lines), encoding="utf-8")
    (folder / "recipe.toml").write_text(tomli_w.dumps(RECIPE), encoding="utf-8")
    command = [sys.executable, "-m", "dragoman", "train", "recipe.toml", "-o", "run"]
    for setting in (f"updates={updates}", f"validate_every={updates}", "warmup_updates=50"):
        command += ["--set", f"training.{setting}"]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return folder / "run"


def judge(name: str, model: Path, spoil: Spoil | None) -> str:
    """Translate the test sentences, and write a row."""
    pairs = list(generate(PAIRS["test"], seed=1, split="test"))
    translations = list(Translator(model, device="cpu").translate(pair.source for pair in pairs))
    chrf = CHRF()
    spoilt = [
        spoil is not None and chrf.sentence_score(found.text, [spoil(pairs, i)]).score >= LEAST_CHRF
        for i, found in enumerate(translations)
    ]
    marks = Counter(
        is_spoilt for found, is_spoilt in zip(translations, spoilt, strict=True) if found.faults
    )
    kinds = Counter(fault for found in translations for fault in found.faults)
    told = "; ".join(f"{fault}: {count}" for fault, count in kinds.most_common())
    others = len(spoilt) - sum(spoilt)
    return f"| {name} | {marks[True]} of {sum(spoilt)} | {marks[False]} of {others} | {told} |"


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--updates", type=int, default=600)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, nargs="+", help="these alone, counted from 0")
    options = parser.parse_args()
    machine = circumstances()
    print(f"{machine['device']}, {options.updates} updates, commit {machine['commit']}\n")
    print("| learnt from translations that are | spoilt ones marked | others marked | faults |")
    print("|---|---|---|---|", flush=True)
    models: list[tuple[str, Spoil | None, int]] = [
        *((name, spoil, options.updates) for name, spoil in SPOILT.items()),
        ("as they should be", None, options.updates),
        ("as they should be, for a tenth of the time", None, options.updates // EARLY),
    ]
    with tempfile.TemporaryDirectory() as scratch:
        for i in options.rows or range(len(models)):
            name, spoil, updates = models[i]
            model = train(Path(scratch, str(i)), spoil, updates, options.threads)
            print(judge(name, model, spoil), flush=True)


if __name__ == "__main__":
    main()
