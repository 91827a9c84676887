"""What belongs with every figure: the machine and the commit."""

import subprocess
from pathlib import Path

from dragoman.device import choose_device, device_name


def circumstances(device: str = "cpu") -> dict[str, str]:
    """Name the hardware, and the commit of the code that is measured."""
    return {"device": device_name(choose_device(device)), "commit": _commit()}


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "unknown: no git"
    return done.stdout.strip() or "unknown: not a clone"
