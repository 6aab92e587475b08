"""Uses forged artefacts, one after the other, in a process that may crash: `python -m tests.schema.try_forgeries`.

Each forgery has two lines on standard output: one before, one with how it went. Whoever started the process
counts a missing second line as a crash or a hang, and starts another process with the next forgery.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.compiling import njit
from morphlm.errors import MorphlmError
from tests.schema.artefacts import use
from tests.schema.forged_directories import Forgery, forgeries

SECONDS = 180  # for one forgery; the first of a process compiles kernels, on a busy machine for longer than a minute
MEMORY = 6 << 30  # bytes of address space
REFUSED, USED, DEFECT = "refused", "used", "defect"


def chosen(directory: Path, first: int, step: int) -> Iterator[tuple[int, Forgery]]:
    """Every `step`-th forgery of a directory, from the one with the number `first` on."""
    return islice(enumerate(forgeries(directory)), first, None, step)


def attempt(directory: Path, sort: str, forgery: Forgery) -> tuple[str, str]:
    """Forge a copy, use it, and say how it went."""
    copy = directory.with_name("forged")
    for name in ("forged", "copy"):
        shutil.rmtree(directory.with_name(name), ignore_errors=True)
    shutil.copytree(directory, copy)
    forgery.apply(copy)
    try:
        use(copy, sort)
    except MorphlmError as error:
        return (DEFECT, "several lines") if "\n" in str(error) or "\x1b" in str(error) else (REFUSED, str(error))
    except Exception:
        return DEFECT, traceback.format_exc(limit=-4)
    return USED, ""


@njit(cache=True)
def overrun(array: Any, index: int) -> Any:
    """Reads where an index leads to."""
    return array[index]


def bounds_are_checked() -> bool:
    """Whether compiled code of this process raises an error where it would read beyond the end of an array."""
    try:
        overrun(np.zeros(3), 5)
    except IndexError:
        return True
    return False


def main(directory: str, sort: str, first: str, step: str) -> None:
    """In a process of its own, with bounds checked, and limits of memory and time."""
    assert bounds_are_checked(), "NUMBA_BOUNDSCHECK has no effect; is there another cache?"
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number, forgery in chosen(Path(directory), int(first), int(step)):
        print(json.dumps([number, forgery.description]), flush=True)
        outcome = attempt(Path(directory), sort, forgery)
        print(json.dumps(outcome), flush=True)


# ---------------------------------------------------------------- from outside


@dataclass
class Tally:
    """How forgeries went."""

    outcomes: Counter[str] = field(default_factory=Counter)
    defects: list[str] = field(default_factory=list)  # description and what happened
    used: list[str] = field(default_factory=list)  # descriptions

    def add(self, description: str, outcome: str, detail: str) -> None:
        self.outcomes[outcome] += 1
        if outcome == DEFECT:
            self.defects.append(f"{description}\n{detail}")
        if outcome == USED:
            self.used.append(description)


def try_in_children(directory: Path, sort: str, step: int, cache: Path, tally: Tally, first: int = 0) -> None:
    """All chosen forgeries of a directory, in as many processes as it takes."""
    while first >= 0:
        first = _try_in_child(directory, sort, first, step, cache, tally)


def _try_in_child(directory: Path, sort: str, first: int, step: int, cache: Path, tally: Tally) -> int:
    """Returns the number of the forgery to go on with after a crash or a hang; -1 at the end."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "tests.schema.try_forgeries", str(directory), sort, str(first), str(step)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        errors: list[str] = []
        reader = threading.Thread(target=lambda: errors.extend(child.stderr or ()))
        reader.start()
        number, description = first - step, ""
        while line := child.stdout.readline():
            number, description = json.loads(line)
            timer = threading.Timer(SECONDS, child.send_signal, [signal.SIGKILL])
            timer.start()
            answer = child.stdout.readline()
            timer.cancel()
            if not answer:
                child.wait()
                reader.join()
                tally.add(description, DEFECT, f"ended with {child.returncode}\n{''.join(errors[-5:])}")
                return int(number) + step
            tally.add(description, *json.loads(answer))
            description = ""
        child.wait()
        reader.join()
        if child.returncode:
            tally.add("between forgeries", DEFECT, "".join(errors[-20:]))
    return -1


if __name__ == "__main__":
    main(*sys.argv[1:])
