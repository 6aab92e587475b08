"""Puts real output into the README and the tutorial: `python -m tests.page_outputs FOLDER`.

Runs the shell examples of both pages in FOLDER, where the text is fetched and the model learned (kept for the next
time), and writes what they print into the block of text that follows. Figures of
docs/results.md ("The demo") go by hand.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.test_pages_run import INSTALLATION, PAGES

PAIR = re.compile(r"(```sh\n((?:(?!```).)*)```\n\n)```text\n(?:(?!```).)*```", re.DOTALL)
COMPLETE = re.compile(r"^\S+ is complete already.*\n")


def output_of(commands: str, folder: Path) -> str:
    """What the commands of a block print, one after the other."""
    printed = []
    for line in commands.splitlines():
        command = line.partition("  #")[0].strip()
        print("$", command, file=sys.stderr)
        done = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
        if not command.startswith("morphlm data"):  # its lines say nothing to a reader
            printed.append(COMPLETE.sub("", done.stdout))
    return "".join(printed)


def refresh(page: Path, folder: Path) -> None:
    """Run the page's examples in their order, and replace what they print."""

    def replaced(pair: re.Match[str]) -> str:
        return pair[0] if INSTALLATION.match(pair[2]) else f"{pair[1]}```text\n{output_of(pair[2], folder)}```"

    page.write_text(PAIR.sub(replaced, page.read_text()))


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        refresh(page, place)
