"""Check what `dragoman plan` predicts: plan, train to the end, and compare time and memory.

    python benchmarks/planning.py MINUTES LANGUAGES PAIRS.tsv [MINUTES LANGUAGES PAIRS.tsv ...]

Each training run is the plan's recipe, unchanged, in a process of its own. Their messages go to
standard error, the table to standard output.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEAD = """\
| text | minutes allowed | model | updates x target tokens | minutes predicted | minutes taken | \
| MiB predicted | MiB taken | | minutes of planning |
|---|---|---|---|---|---|---|---|---|---|---|"""


def check(minutes: str, languages: str, pairs: str, directory: Path) -> None:
    """Print one row: what was predicted, and what was measured."""
    recipe = directory / "plan.toml"
    dragoman = [sys.executable, "-m", "dragoman"]
    options = ["--languages", languages, "--minutes", minutes, "-o", str(recipe), "--json"]
    began = time.monotonic()
    planned = subprocess.run(
        [*dragoman, "plan", pairs, *options], stdout=subprocess.PIPE, check=False
    )
    if planned.returncode != 0:
        raise SystemExit(f"{pairs}: the plan ended with {planned.returncode}")
    planning = time.monotonic() - began
    plan = json.loads(planned.stdout)
    began = time.monotonic()
    command = [*dragoman, "train", str(recipe), "-o", str(directory / "run")]
    with subprocess.Popen(command) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{pairs}: the training ended with {process.returncode}")
    taken, peak = (time.monotonic() - began) / 60, usage.ru_maxrss / 1024
    sections = plan["recipe"]
    print(
        f"| {Path(pairs).name} | {minutes} | {sections['model']['preset']} "
        f"| {sections['training']['updates']:,} x {sections['batching']['tokens_per_update']:,} "
        f"| {plan['minutes']:.1f} | {taken:.1f} | {taken / plan['minutes'] - 1:+.0%} "
        f"| {plan['peak_mib']:,.0f} | {peak:,.0f} | {peak / plan['peak_mib'] - 1:+.0%} "
        f"| {planning / 60:.1f} |",
        flush=True,
    )


if __name__ == "__main__":
    if len(sys.argv) < 4 or len(sys.argv) % 3 != 1:
        sys.exit(__doc__)
    print(HEAD)
    for combination in zip(sys.argv[1::3], sys.argv[2::3], sys.argv[3::3], strict=True):
        with tempfile.TemporaryDirectory() as scratch:
            check(*combination, Path(scratch))
