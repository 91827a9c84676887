"""Two processes make the same update as one, on the same tokens."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from .conftest import environment

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SETTINGS = (
    "training.updates=4",
    "training.validate_every=2",
    "training.schedule=constant",
    "corpora.test=[]",
)
SHORT = tuple(word for setting in SETTINGS for word in ("--set", setting))

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("num_processes", [2, 3])
def test_processes_share_the_work_of_one(
    dragoman: Run, workspace: Path, num_processes: int
) -> None:
    with (workspace / "validation.tsv").open("a") as file:  # longer than the table of positions
        file.write(" ".join("ab" * 150) + "\t" + " ".join("ba" * 150) + "\n")
    dragoman("train", "reverse.toml", "-o", "one", *SHORT)

    launch = ["-m", "torch.distributed.run", f"--nproc-per-node={num_processes}", "--standalone"]
    subprocess.run(
        [
            sys.executable,
            *launch,
            "-m",
            "dragoman",
            "train",
            "reverse.toml",
            "-o",
            "several",
            *SHORT,
        ],
        cwd=workspace,
        env={**environment(), "PYTHONWARNINGS": "default"},
        check=True,
    )

    one, several = (load_file(workspace / run / "model.safetensors") for run in ("one", "several"))
    for name, tensor in one.items():
        np.testing.assert_allclose(several[name], tensor, atol=2e-4, err_msg=name)
