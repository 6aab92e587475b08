"""Run by a test as a program: trains in many child processes, each of which is killed at another moment.

Moments are calls of functions between which something changes on disk or in the parameters. The children are forked, so
that the compiled code is loaded once. `FOLDER/KIND.N` is the place of the training that did not live to call N.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from morphlm import modelfile
from morphlm.logbilinear.engine import Learner
from morphlm.training.loop import train_model
from tests.training.small import task

MOMENTS: list[tuple[Any, str]] = [
    (Learner, "step"),
    (Learner, "log_probabilities"),
    (modelfile, "write_tensors"),
    (modelfile, "sha256_of"),
    (modelfile, "_put_in_place"),
    (os, "fsync"),
    (os, "close"),
    (shutil, "rmtree"),
    (os, "unlink"),
]


def watch(call: Callable[[], None]) -> None:
    """Have `call` called before each moment."""
    for owner, name in MOMENTS:
        original = getattr(owner, name)

        def watched(*arguments: Any, _original: Any = original, **named: Any) -> Any:
            call()
            return _original(*arguments, **named)

        setattr(owner, name, watched)


def killed_at(moment: int, work: Callable[[], object]) -> bool:
    """Whether a child that does the work is killed before it is done."""
    child = os.fork()
    if child == 0:
        left = [moment]

        def count_down() -> None:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1

        watch(count_down)
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def main(folder: Path, kind: str, first: int, stride: int) -> None:
    for moment in count(first, stride):
        out = folder / f"{kind}.{moment}"
        if not killed_at(moment, partial(train_model, task(kind), out, threads=2, checkpoint_minutes=0)):
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
