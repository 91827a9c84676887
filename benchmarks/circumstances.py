"""What belongs with every figure: the machine and the commit."""

import subprocess
from pathlib import Path

from dragoman.device import choose_device, device_name


def circumstances(device: str = "cpu") -> dict[str, str]:
    """Name the hardware, and the commit of the code that is measured."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {
        "device": device_name(choose_device(device)),
        "commit": done.stdout.strip() or "unknown: not a clone",
    }
