"""Train in several processes, many times over: `python -m tests.training.worlds PLAN.json`.

PyTorch is imported once, and each process of each world is a fork. A plan is a list of runs, one
after the other; each gives `directory`, `processes` and `settings`, and may give `stop` (after
that update) and `begin` (the directory of a run to go on with). A rank writes the pairs that it
saw, the shapes of the parameters that it holds, and the seed of its last update.
"""

import json
import os
import shutil
import sys
import traceback
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # which processes that share a model import: once here, not in each fork
import torch.distributed as dist
import torch.distributed.fsdp  # which processes that hold parts import
from torch.distributed.tensor import DTensor

from dragoman.corpora.batching import Batches, Update
from dragoman.corpora.token_store import TokenStore
from dragoman.training.display import Display
from dragoman.training.distributed import rank, world_size
from dragoman.training.loop import Trainer

from .conftest import SMALL, build_trainer
from .test_loop import StopAfter

WITHOUT_DROPOUT = replace(SMALL, dropout=0.0)  # whose masks differ with the number of processes


class Watched:
    """Batches that remember what this process was given."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches
        self.seen: list[list[list[int]]] = []
        self.seed, self.fingerprint = batches.seed, batches.fingerprint

    def updates(self, *arguments: Any, **named: Any) -> Iterator[Update]:
        for update in self.batches.updates(*arguments, **named):
            self.seen.append([batch.indices.tolist() for batch in update.micro_batches])
            yield update


def train(run: dict[str, Any], root: Path) -> None:
    """Train, or go on with, what a run describes; one of its processes."""
    store = TokenStore.open(root / "store", fingerprint="copy")
    stops = "stop" in run and rank() == world_size() - 1  # one is enough
    trainer: Trainer = build_trainer(
        store,
        root / run["directory"],
        WITHOUT_DROPOUT,
        display=StopAfter(run["stop"]) if stops else Display(),
        **run["settings"],
    )
    watched = Watched(trainer.batches)
    trainer.batches = watched  # type: ignore[assignment]
    assert trainer.resume() == []
    first = trainer.progress.update
    trainer.run()
    held = {
        name: list((p.to_local() if isinstance(p, DTensor) else p).shape)
        for name, p in trainer.transformer.named_parameters()
    }
    seen = watched.seen[: trainer.progress.update - first]
    path = root / run["directory"] / f"rank-{rank()}.json"
    path.write_text(json.dumps({"seen": seen, "held": held, "seed": torch.initial_seed()}))


def fork(run: dict[str, Any], root: Path, place: int, meeting: Path) -> int:
    """Start one of the processes of a run."""
    if child := os.fork():
        return child
    status = 1
    try:
        if run["processes"] > 1:
            ranks = {"RANK": str(place), "WORLD_SIZE": str(run["processes"])}
            os.environ.update(ranks, TORCHELASTIC_RUN_ID="none")
            dist.init_process_group(
                "gloo",
                init_method=f"file://{meeting}",
                rank=rank(),
                world_size=world_size(),
                timeout=timedelta(minutes=10),
            )
        train(run, root)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def main(plan: Path) -> None:
    """Do all the runs of a plan."""
    torch.set_num_threads(1)
    root = plan.parent
    for number, run in enumerate(json.loads(plan.read_text())):
        if "begin" in run:
            shutil.copytree(root / run["begin"], root / run["directory"])
        meeting = root / f"meeting-{number}"
        children = [fork(run, root, place, meeting) for place in range(run["processes"])]
        for child in children:
            assert os.waitpid(child, 0)[1] == 0, run


if __name__ == "__main__":
    main(Path(sys.argv[1]))
