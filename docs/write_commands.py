"""Write `commands.md`, the list of all commands and their options, from the commands themselves.

Run it as `make docs`; a test fails when the page is not what this writes.
"""

import re
import sys
from pathlib import Path

from dragoman.cli import build_app

PAGE = Path(__file__).with_name("commands.md")

HEAD = """# Commands

What `dragoman COMMAND --help` says of each command, on one page. `--debug` goes with all of them
and shows the traceback of an error. `runs/en-it` stands for the directory of a model of yours,
such as `runs/demo`.

| exit code | means |
|---|---|
| 1 | failed; `check` found mistakes; `corpus check` found lines without a pair |
| 2 | wrong usage |
| 3 | lines were set aside, or pairs not judged |
| 129, 143 | it was told to stop (SIGHUP, SIGTERM) |
| 130 | interrupted |
| 141 | nobody reads the output any more (training continues unseen) |
"""


def page() -> str:
    """Write the page."""
    written = build_app().generate_docs(heading_level=1)
    commands = written[written.index("\n## dragoman demo") :]
    without_empty_defaults = re.sub(r" \*\[default: (?:False|\(\))\]\*", "", commands)
    return HEAD + without_empty_defaults.rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
