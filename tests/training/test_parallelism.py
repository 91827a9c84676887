"""Several processes train as one, whatever their number and whatever each of them holds."""

import json
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import load_file

from dragoman.training.journal import read_journal

from .conftest import write_store

UPDATES, STOP = 6, 4
WEIGHTS = "weights.safetensors"
PROJECT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # on a busy machine, starts take long


def planned(directory: str, processes: int, **more: Any) -> dict[str, Any]:
    """Describe a run; what is not known here is a setting of the training."""
    rest: dict[str, Any] = {key: more.pop(key) for key in ("stop", "begin") if key in more}
    saved = {"validate_every": 3, "keep_checkpoints": 9}
    settings = {"updates": UPDATES, "precision": "fp32", **saved, **more}
    return {"directory": directory, "processes": processes, "settings": settings, **rest}


PLAN = [
    planned("alone", 1),
    planned("ddp 2", 2),
    planned("fsdp 2", 2, parallelism="fsdp"),
    planned("fsdp 3", 3, parallelism="fsdp"),
    planned("muon alone", 1, optimizer="muon"),
    planned("muon fsdp 2", 2, optimizer="muon", parallelism="fsdp"),
    planned("bf16 ddp 2", 2, precision="bf16"),
    planned("bf16 fsdp 2", 2, precision="bf16", parallelism="fsdp"),
    planned("1 stopped", 1, stop=STOP),
    planned("1 to fsdp 2", 2, begin="1 stopped", parallelism="fsdp"),
    planned("ddp 2 stopped", 2, stop=STOP),
    planned("ddp 2 to 1", 1, begin="ddp 2 stopped"),
    planned("fsdp 2 stopped", 2, stop=STOP, parallelism="fsdp"),
    planned("fsdp 2 again", 2, begin="fsdp 2 stopped", parallelism="fsdp"),
    planned("ddp 3", 3, ema_decay=0.9),
    planned("ddp 3 stopped", 3, stop=STOP, ema_decay=0.9),
    planned("ddp 3 again", 3, begin="ddp 3 stopped", ema_decay=0.9),
    planned("fsdp 2 to 1", 1, begin="fsdp 2 stopped"),
    planned("fsdp 2 to ddp 4", 4, begin="fsdp 2 stopped"),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Do all the runs of the plan, in an interpreter that pytest's threads do not share."""
    root = tmp_path_factory.mktemp("runs")
    write_store(root / "store")
    (root / "plan.json").write_text(json.dumps(PLAN))
    done = subprocess.run(
        [sys.executable, "-m", "tests.training.worlds", str(root / "plan.json")],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "FSDP2-wrapped" not in done.stderr
    return root


def losses(run: Path) -> list[float]:
    return [e["loss"] for e in read_journal(run / "journal.jsonl") if e["event"] == "update"]


def state(run: Path, update: int = UPDATES) -> dict[str, npt.NDArray[np.float32]]:
    """Read all tensors of a checkpoint.

    Adding the same to all keys changes no attention, so that the gradient of their bias is zero but
    for rounding, which Adam makes as large as any other: it is left out.
    """
    found: dict[str, npt.NDArray[np.float32]] = {}
    for group in ("weights", "average", "optimizer"):
        tensors = load_file(run / "checkpoints" / f"update-{update:08d}" / f"{group}.safetensors")
        found |= {f"{group} {name}": tensor for name, tensor in tensors.items()}
    return {name: t for name, t in found.items() if "key_projection.bias" not in name}


def assert_close(one: Path, other: Path, tolerance: float = 2e-5) -> None:
    np.testing.assert_allclose(losses(one), losses(other), atol=tolerance)
    ours, theirs = state(one), state(other)
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert tensor.shape == theirs[name].shape, name
        np.testing.assert_allclose(tensor, theirs[name], atol=tolerance, err_msg=name)


def shards(run: Path, processes: int, key: str) -> list[Any]:
    return [json.loads((run / f"rank-{rank}.json").read_text())[key] for rank in range(processes)]


def dealt_out(run: Path, processes: int) -> list[list[list[int]]]:
    """Put the pairs that all ranks saw together again: by update, by micro-batch, in order."""
    together = []
    for update in zip(*shards(run, processes, "seen"), strict=True):
        dealt = [
            [pair for row in zip_longest(*micro_batch) for pair in row if pair not in (None, -1)]
            for micro_batch in zip(*update, strict=True)
        ]
        together.append(dealt)
    return together


@pytest.mark.parametrize("run", ["ddp 2", "fsdp 2", "fsdp 3"])
def test_several_processes_compute_what_one_does(runs: Path, run: str) -> None:
    assert_close(runs / run, runs / "alone")


@pytest.mark.parametrize("run", ["1 to fsdp 2", "ddp 2 to 1", "fsdp 2 to 1", "fsdp 2 to ddp 4"])
def test_a_run_goes_on_with_another_number_of_processes(runs: Path, run: str) -> None:
    assert_close(runs / run, runs / "alone")
    events = read_journal(runs / run / "journal.jsonl")
    assert [e["update"] for e in events if e["event"] == "update"] == list(range(1, UPDATES + 1))


@pytest.mark.parametrize("run", ["fsdp 2", "ddp 3"])
def test_a_run_that_stopped_goes_on_bit_for_bit(runs: Path, run: str) -> None:
    straight, again = state(runs / run), state(runs / f"{run} again")

    assert straight.keys() == again.keys()
    for name, tensor in straight.items():
        assert tensor.tobytes() == again[name].tobytes(), name


def test_muon_turns_whole_matrices_where_processes_hold_parts(runs: Path) -> None:
    assert_close(runs / "muon fsdp 2", runs / "muon alone", tolerance=2e-4)


def test_bf16_differs_between_the_two_ways_by_rounding_only(runs: Path) -> None:
    np.testing.assert_allclose(losses(runs / "bf16 fsdp 2"), losses(runs / "bf16 ddp 2"), rtol=0.02)


def test_the_pairs_of_an_update_do_not_depend_on_the_processes_or_on_a_stop(runs: Path) -> None:
    alone = dealt_out(runs / "alone", 1)

    assert len(alone) == UPDATES
    for run, processes in [("ddp 2", 2), ("fsdp 2", 2), ("fsdp 3", 3)]:
        assert dealt_out(runs / run, processes) == alone
    for run, processes in [("ddp 2 to 1", 1), ("1 to fsdp 2", 2), ("fsdp 2 to ddp 4", 4)]:
        assert dealt_out(runs / run, processes) == alone[STOP:]


def test_each_process_holds_a_part_of_every_parameter(runs: Path) -> None:
    whole = load_file(runs / "fsdp 3" / "checkpoints" / f"update-{UPDATES:08d}" / WEIGHTS)
    held = shards(runs / "fsdp 3", 3, "held")

    for name, tensor in whole.items():
        rows = [shapes[name][0] for shapes in held]
        assert sum(rows) == len(tensor), name
        assert max(rows) == -(-len(tensor) // 3), name
    assert [shapes["decoder.norm.gain"] for shapes in held] == [[3], [3], [2]]


def test_each_process_drops_out_something_else(runs: Path) -> None:
    assert len(set(shards(runs / "ddp 3", 3, "seed"))) == 3
