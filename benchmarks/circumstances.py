"""What belongs with every figure: the machine and the commit."""

from pathlib import Path

from dragoman.device import choose_device, device_name
from dragoman.model_directory.directory import commit_of


def circumstances(device: str = "cpu") -> dict[str, str]:
    """Name the hardware, and the commit of the code that is measured."""
    named = {"device": device_name(choose_device(device)), "commit": "unknown: no clone, or no git"}
    return named | commit_of(Path(__file__))
