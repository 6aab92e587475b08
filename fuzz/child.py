"""One target in a process of its own, with limits of memory and time: fuzzed by atheris, or run on one file.

    python -m fuzz.child NAME ARTEFACTS --replay FILE
    python -m fuzz.child NAME ARTEFACTS --mutations 1000 --findings DIR
    python -m fuzz.child NAME ARTEFACTS --findings DIR --libfuzzer OPTIONS AND FOLDERS

`fuzz.run` starts it, with `NUMBA_BOUNDSCHECK=1` and a folder of its own for compiled kernels. Findings are kept, and
fuzzing goes on; only what ends the process (a crash, a hang, too much memory) ends this.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import random
import resource
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzz.targets import Target

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "morphlm"
MEMORY = 4 << 30  # bytes of address space: what asks for more gets a MemoryError, which is a finding
STRUCTURED = 0.6  # share of the mutations that are ours, which know JSON, tensors and lines; the rest is libFuzzer's
AFRESH = 0.15  # share that begins from a seed again: libFuzzer drifts to the smallest inputs that reach the same code


def kernel_modules() -> list[str]:
    """The modules that Numba compiles from their bytecode, which must stay as it is."""
    files = [*PACKAGE.rglob("kernels.py"), *PACKAGE.rglob("kernels/*.py"), *PACKAGE.glob("compiling/*.py")]
    names = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in files]
    return [name.removesuffix(".__init__") for name in names]


@contextlib.contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A temporary folder; in memory, where the system has such a place."""
    memory = Path("/dev/shm")
    parent = memory if os.access(memory, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="morphlm-fuzz-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_bounds_are_checked() -> None:
    """Read beyond an array in compiled code: that must raise, or overruns would pass unseen."""
    import numba  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    try:
        numba.njit(lambda array, index: array[index])(np.zeros(3), 1 << 40)
    except IndexError:
        return
    raise SystemExit("compiled code does not check bounds; set NUMBA_BOUNDSCHECK=1")


class Findings:
    """The folder of a target's findings: the input, and beside it the traceback. One for each place of an error."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, data: bytes, error: BaseException) -> None:
        """Keep the smallest input that leads to the same error in the same place."""
        first = error
        while first.__cause__ is not None:
            first = first.__cause__
        frames = [frame for frame in traceback.extract_tb(first.__traceback__) if "morphlm" in frame.filename]
        where = f"{Path(frames[-1].filename).stem}-{frames[-1].lineno}" if frames else "unknown"
        path = self.folder / f"{type(error).__name__}-{where}"
        if path.is_file() and path.stat().st_size <= len(data):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.with_name(f"{path.name}.txt").write_text("".join(traceback.format_exception(error)), errors="replace")


def checked_run(target: Target, findings: Findings) -> Callable[[bytes], bool]:
    """The target as a function that keeps findings instead of raising them; whether the input passed."""
    from fuzz.targets import passes  # noqa: PLC0415

    def run(data: bytes) -> bool:
        try:
            passes(target, data)
        except Exception as error:  # everything that is not a MorphlmError is a finding
            findings.keep(data, error)
            return False
        return True

    return run


def replay(target: Target, path: Path) -> int:
    """Run one file; the traceback of what does not pass."""
    from fuzz.targets import passes  # noqa: PLC0415

    data = path.read_bytes()
    try:
        print(f"{path}: {'read' if passes(target, data) else 'refused'}, as it should be")
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def run_mutations(target: Target, run: Callable[[bytes], bool], count: int) -> int:
    """So many mutations of the seeds, the same every time and without atheris; the number of findings."""
    from fuzz.mutations import mutate  # noqa: PLC0415

    rng = random.Random(1)
    return sum(not run(mutate(rng, rng.choice(target.seeds), target.tokens)) for _ in range(count))


def fuzz(atheris: Any, target: Target, run: Callable[[bytes], bool], options: list[str]) -> None:
    """Let libFuzzer run the target; never returns."""
    from fuzz.mutations import mutate  # noqa: PLC0415

    def mutator(data: bytes, max_size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < AFRESH:
            data = rng.choice(target.seeds)
        if rng.random() < STRUCTURED:
            return mutate(rng, data, target.tokens)[:max_size]
        return bytes(atheris.Mutate(data[:max_size], max_size))

    atheris.Setup([sys.argv[0], *options], run, custom_mutator=mutator)
    atheris.Fuzz()


def prepare(target: Target, run: Callable[[bytes], bool]) -> None:
    """Run all seeds, so that kernels are compiled before time is limited."""
    for seed in target.seeds:
        run(seed)


def main() -> int:
    """Read the arguments and run the target."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("artefacts", type=Path)
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--mutations", type=int)
    parser.add_argument("--findings", type=Path, default=Path("findings"))
    parser.add_argument("--libfuzzer", nargs=argparse.REMAINDER, help="its options and folders")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    with contextlib.ExitStack() as stack:
        atheris = None
        if arguments.replay is None and arguments.mutations is None:
            atheris = importlib.import_module("atheris")  # of the extra `fuzz`
            stack.enter_context(atheris.instrument_imports(include=["morphlm", "tomllib"], exclude=kernel_modules()))
        from fuzz.targets import make_targets  # noqa: PLC0415  # after instrumentation has begun

        check_bounds_are_checked()
        # Beside the artefacts, for whoever made these to remove: libFuzzer ends the process without any cleaning up.
        scratch = Path(tempfile.mkdtemp(dir=arguments.artefacts.parent))
        target = make_targets(arguments.artefacts, scratch)[arguments.name]
        if arguments.replay is not None:
            return replay(target, arguments.replay)
        run = checked_run(target, Findings(arguments.findings))
        sys.stderr = stack.enter_context(Path(os.devnull).open("w"))  # for messages of readers; libFuzzer's stay
        prepare(target, run)
        if arguments.mutations is not None:
            print(f"{run_mutations(target, run, arguments.mutations)} of {arguments.mutations} do not pass")
            return 0
        fuzz(atheris, target, run, arguments.libfuzzer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
