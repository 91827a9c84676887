"""One try of each fault of `benchmarks/faults.py`, which makes hundreds by hand."""

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import environment

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def test_nothing_is_lost_by_kills_full_disks_and_damage() -> None:
    faults = ("kill-step", "interrupt", "full-limit", "damaged")

    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "faults.py"), *faults, "--tries", "1"],
        env={**environment(), "PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("| 1 | 1 | 0 |") == len(faults)
