"""What a long training run keeps in memory.

python benchmarks/training_soak.py --updates 5000

Trains the small recipe of the fault runs, with subwords sampled anew for each update, and validates
and saves every tenth of the way. Prints the memory of the process at each tenth, and the slope of a
line through that of the second half.
"""

import argparse
import resource
import statistics
import tempfile
from pathlib import Path

from small_runs import Bench

from dragoman.pipeline.run import train_model
from dragoman.recipe import read_recipe
from dragoman.training.display import Display

SAMPLED_EVERY = 10  # updates
SPLITS = ("train", "validation", "test")


class Memory(Display):
    """Records the memory of this process, in MiB, during training."""

    def __init__(self) -> None:
        self.samples: list[tuple[int, float]] = []

    def progress(self, update: int, total: int, loss: float, tokens_per_second: float) -> None:
        """Take a sample, and print one once in a while."""
        if update % SAMPLED_EVERY == 0:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            self.samples.append((update, pages * resource.getpagesize() / 2**20))
        if update % (total // 10) == 0:
            print(f"after update {update:,}: {self.samples[-1][1]:.1f} MiB", flush=True)


def main() -> None:
    """Train, and watch."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--updates", type=int, default=5000)
    updates = parser.parse_args().updates
    memory = Memory()
    with tempfile.TemporaryDirectory(prefix="soak-") as place:
        bench = Bench(Path(place) / "bench", "BLEU decides, subwords")
        settings = [word for word in bench.command if "=" in word]
        settings += [f"training.updates={updates}", f"training.validate_every={updates // 10}"]
        settings += ["training.patience=0"]  # to the end, though nothing is learnt any more
        settings += [f'corpora.{split}=[{{path="{bench.folder / split}.tsv"}}]' for split in SPLITS]
        recipe = read_recipe(bench.folder / "recipe.toml", tuple(settings)).recipe
        train_model(recipe, bench.folder / "run", memory)
    half = [sample for sample in memory.samples if sample[0] > updates / 2]
    slope = statistics.linear_regression(*zip(*half, strict=True)).slope
    print(f"memory: {1000 * slope:+.3f} MiB per 1,000 updates in the second half")


if __name__ == "__main__":
    main()
