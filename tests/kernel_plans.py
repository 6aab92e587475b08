"""The recorded kernels of commands: `python -m tests.kernel_plans` renews src/morphlm/compiling/plans.tsv.

A command whose kernels are not in the cache lets helpers compile those that it will need; the record says which these
are. It also shows in a diff when a command needs more of them than before. `python -m tests.kernel_plans COMMAND...`
runs a command and prints the kernels that it asked for, whether they were compiled or in the cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import morphlm
from morphlm.cli.main import run
from morphlm.compiling import COMPILATIONS
from morphlm.compiling.compilations import text_of
from morphlm.compiling.helpers import PLANS

MARK = "kernel\t"

# Each in a process of its own, in a folder with a generated text and with what the commands before it have made.
SETUP = "data get generated data --sentences 2000"
TRAIN, DEV, TEST = (f"data/{part}.gen.txt" for part in ("train", "dev", "test"))
WORD = "na"  # of the generated language
COMMANDS = {
    "segment": f"segment --train {TRAIN} --save segmenter",
    "classes": f"classes --train {TRAIN} --out classes",
    "train mkn": f"train mkn --train {TRAIN} --kappa 0.2 --out mkn",
    "train clbl++": f"train clbl++ --train {TRAIN} --dev {DEV} --epochs 1 --out clbl++",
    "train clbl": f"train clbl --train {TRAIN} --dev {DEV} --epochs 1 --out clbl",
    "mix": f"mix mkn clbl++ --dev {DEV} --out mixture",
    "ppl": f"ppl mixture {TEST}",
    "score": f"score mixture {TEST}",
    "predict": f"predict mixture {WORD}",
    "generate": "generate mixture",
    "neighbours": f"neighbours clbl++ {WORD} notaword",
}


def requested(folder: Path, arguments: list[str]) -> list[str]:
    """The kernels that a command asks for, in order."""
    source = Path(morphlm.__file__).parents[1]
    root = Path(__file__).parents[1]
    path = os.pathsep.join(map(str, (source, root / "generated", root)))
    command = [sys.executable, "-m", "tests.kernel_plans", *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [line.removeprefix(MARK) for line in done.stdout.splitlines() if line.startswith(MARK)]


def all_plans(folder: Path) -> dict[str, list[str]]:
    requested(folder, SETUP.split())
    return {name: requested(folder, arguments.split()) for name, arguments in COMMANDS.items()}


def recorded() -> dict[str, list[str]]:
    rows = [line.split("\t", 1) for line in PLANS.read_text().splitlines()]
    return {name: [kernel for own, kernel in rows if own == name] for name in COMMANDS}


def main(arguments: list[str]) -> None:
    if not arguments:
        with tempfile.TemporaryDirectory() as folder:
            plans = all_plans(Path(folder))
        PLANS.write_text("".join(f"{name}\t{kernel}\n" for name, kernels in plans.items() for kernel in kernels))
        return
    try:
        run(arguments)
    finally:
        for kernel, signature in COMPILATIONS.requested:
            print(MARK + text_of(kernel, signature))


if __name__ == "__main__":
    main(sys.argv[1:])
