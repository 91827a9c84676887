"""Install the wheel where nothing can be downloaded, and use it from end to end.

    python benchmarks/wheel.py

The wheel is built with the installed build backend, and goes into a new environment that sees the
other packages of this one, but not this source. There `dragoman` prints its version, runs the demo
with two updates and few sentences, translates a line with the resulting model, and serves its page
with everything that the page refers to. If `unshare` may be used, all of this runs in a network of
its own without any other machine. The exit code is 1 if a step fails.
"""

import argparse
import fcntl
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
import venv
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
OWN_NETWORK = ["unshare", "--map-root-user", "--net"]
SET_FLAGS, IS_UP = 0x8914, 0x1
"""SIOCSIFFLAGS and IFF_UP of Linux."""

SIZES = {"train": 20_000, "validation": 8, "test": 8}
"""Pairs; a model that has learnt nothing writes endlessly, so it is asked for little."""

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@dataclass(frozen=True)
class Installation:
    """A new environment, and the folder that it is in."""

    place: Path

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.place / "environment" / "bin" / "python"

    @property
    def packages(self) -> Path:
        """Where its packages are installed."""
        names = {"base": str(self.place / "environment")}
        return Path(sysconfig.get_path("purelib", "venv", names))

    def call(self, *words: str | Path, text: str = "") -> str:
        """Run a program, and return its output; one that fails says why and ends everything."""
        done = subprocess.run(
            words,
            check=False,
            cwd=self.place,
            env=ENVIRONMENT,
            input=text,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def dragoman(self, *words: str, text: str = "") -> str:
        """Run the command that the wheel installs."""
        return self.call(self.python.with_name("dragoman"), *words, text=text)


def main() -> int:
    """Run each step and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--alone", action="store_true", help="this network is its own: begin")
    alone = parser.parse_args().alone
    if not alone and subprocess.run([*OWN_NETWORK, "true"], check=False).returncode == 0:
        return subprocess.call([*OWN_NETWORK, sys.executable, __file__, "--alone"])
    if alone:
        _begin_loopback()
    print(f"network: {'none' if alone else 'that of this machine'}")
    print("| step | what came of it | seconds | CPU seconds |\n|---|---|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="wheel-") as place:
        for step in (build, install, version, demo, translate, serve):
            _row(step, Installation(Path(place)))
    return 0


def build(to: Installation) -> str:
    """Build the wheel."""
    to.call(*_pip(), "wheel", ROOT, "--no-build-isolation", "--no-deps", "--no-index", "-w", ".")
    (wheel,) = to.place.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        return f"{len(packed.namelist())} files, {wheel.stat().st_size / 1e6:.2f} MB"


def install(to: Installation) -> str:
    """Install it beside the packages of this environment, but without its editable dragoman."""
    venv.create(to.place / "environment")
    others = to.packages / "others.pth"  # the .pth files of a folder that this names are not read
    others.write_text(sysconfig.get_path("purelib") + "\n")
    (wheel,) = to.place.glob("*.whl")
    options = ["--no-index", "--no-deps", "--ignore-installed"]
    to.call(*_pip(), "--python", to.python, "install", *options, wheel)
    found = to.call(to.python, "-c", "import dragoman; print(dragoman.__file__)").strip()
    if not Path(found).is_relative_to(to.packages):
        sys.exit(f"{found}: that is not the wheel")
    return "into a new environment"


def version(to: Installation) -> str:
    """Ask for the version."""
    return f"`{to.dragoman('--version').strip()}`"


def demo(to: Installation) -> str:
    """Run the demo with two updates; it uses the text that it finds."""
    text = to.place / "runs" / "demo" / "text"
    text.mkdir(parents=True)
    for split, pairs in SIZES.items():
        file = str(text / f"{split}.tsv")
        to.dragoman("corpus", "primer", "--pairs", str(pairs), "--split", split, "-o", file)
    recipe = to.packages / "dragoman" / "cli" / "demo.toml"
    short, changes = re.subn(r"(?m)^(updates|validate_every) = \d+", r"\1 = 2", recipe.read_text())
    recipe.write_text(short)
    if changes != 2 or "BLEU" not in to.dragoman("demo"):
        sys.exit("the demonstration did not end as it should")
    return f"{SIZES['train']} pairs, two updates, scores"


def translate(to: Installation) -> str:
    """Translate a line, however little the model has learnt."""
    lines = to.dragoman("translate", "runs/demo", text="The cat is on the table.\n").count("\n")
    if lines != 1:
        sys.exit(f"{lines} lines came out for one")
    return "a line for a line"


def serve(to: Installation) -> str:
    """Serve the page, and fetch it and everything that it refers to."""
    command = [str(to.python.with_name("dragoman")), "serve", "runs/demo", "--port", "0"]
    with subprocess.Popen(
        command, cwd=to.place, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        pages = (line.split()[1] for line in server.stdout if line.startswith("page "))
        if (address := next(pages, None)) is None:
            sys.exit("the server did not begin")
        page = _fetch(address).decode()
        named = re.findall(r'(?:src|href)="(?!https?:)/?([\w./-]+)"', page)
        size = len(page) + sum(len(_fetch(address + name)) for name in named)
        server.send_signal(signal.SIGTERM)
        server.communicate()
    if server.returncode or not named:
        sys.exit(f"the server ended with {server.returncode}, and its page names {named}")
    return f"the page and {len(named)} files that it names, {size} bytes"


def _row(step: Callable[[Installation], str], to: Installation) -> None:
    began, before = time.monotonic(), _cpu_seconds()
    outcome = step(to)
    seconds, cpu = time.monotonic() - began, _cpu_seconds() - before
    print(f"| {step.__name__} | {outcome} | {seconds:.1f} | {cpu:.1f} |", flush=True)


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _pip() -> list[str]:
    return [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def _fetch(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as answer:
        content: bytes = answer.read()
    return content


def _begin_loopback() -> None:
    """Make 127.0.0.1 work in a newly created network."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH22x", b"lo", IS_UP))


if __name__ == "__main__":
    sys.exit(main())
