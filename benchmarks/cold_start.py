"""Seconds of the first and of the second run of commands: with an empty kernel cache, and with what that run kept.

    python benchmarks/cold_start.py [--sentences 3000] [--repeats 3] [--cores 2] [COMMAND ...]

Every command runs with a copy of the package beside which there is no compiled code, and with a cache of its own. CPU
seconds are user and system time with all child processes; the least of the repeats is shown, since other programs on
the machine only add to it. Wall time is of use only on a machine that does nothing else. The bars are those for two
cores; `--cores 1` shows what compiling side by side costs.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import morphlm

ROOT = Path(__file__).resolve().parents[1]
TRAIN, DEV, TEST = (f"data/{part}.gen.txt" for part in ("train", "dev", "test"))
# What later commands need; made before anything is measured.
SETUP = (
    "data get generated data --sentences {sentences}",
    f"vocab {TRAIN} --kappa 0.2 --out vocabulary",
    f"segment --train {TRAIN} --save segmenter",
    f"train clbl++ --train {TRAIN} --dev {DEV} --vocab vocabulary --epochs 2 --out clbl++",
    f"train mkn --train {TRAIN} --vocab vocabulary --out mkn",
    f"mix mkn clbl++ --dev {DEV} --out mixture",
)
COMMANDS = {
    "segment --train": f"segment --train {TRAIN} --save OUT/segmenter",
    "segment --load": "segment --load segmenter words",
    "classes": f"classes --train {TRAIN} --out OUT/classes",
    "train mkn": f"train mkn --train {TRAIN} --out OUT/mkn",
    "train clbl++": f"train clbl++ --train {TRAIN} --dev {DEV} --epochs 2 --out OUT/clbl++",
    "mix": f"mix mkn clbl++ --dev {DEV} --out OUT/mixture",
    "ppl mkn": f"ppl mkn {TEST}",
    "ppl clbl++": f"ppl clbl++ {TEST}",
    "ppl mixture": f"ppl mixture {TEST}",
    "score": f"score mixture {TEST}",
    "predict": "predict mixture {word}",
    "generate": "generate mixture",
    "neighbours": "neighbours clbl++ {word}",
    "neighbours, composed": "neighbours clbl++ notaword",
    "similarity": "similarity clbl++ data/similarity.tsv",
}
BARS = {"segment --train": 15.0, "train clbl++": 20.0, "ppl mixture": 5.0, "neighbours": 5.0}  # CPU s; wall: half
WARM_BARS = {"ppl mixture": 0.8}


@dataclass(frozen=True)
class Seconds:
    """Of one run."""

    cpu: float
    wall: float

    def least(self, other: Seconds | None) -> Seconds:
        return self if other is None else Seconds(min(self.cpu, other.cpu), min(self.wall, other.wall))


def environment(package: Path, cache: Path) -> dict[str, str]:
    places = {"NUMBA_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache)}
    return {**os.environ, **places, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}


def copied_package(folder: Path) -> Path:
    """The package without compiled kernels, but with Python's own bytecode."""
    package = folder / "package"
    for source in (Path(morphlm.__file__).parent, ROOT / "generated" / "morphlm_generated"):
        shutil.copytree(source, package / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(package)], check=True)
    return package


def run(arguments: list[str], folder: Path, package: Path, cache: Path) -> Seconds:
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "morphlm", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(package, cache), capture_output=True, check=False)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr.decode()}")
    return Seconds(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall)


def measure(command: str, folder: Path, package: Path, repeats: int) -> tuple[Seconds, Seconds]:
    """The least seconds with an empty and with a filled cache."""
    cold: Seconds | None = None
    warm: Seconds | None = None
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as place:
            cache = Path(place) / "cache"
            for run_name in ("cold", "warm"):
                out = Path(place) / run_name
                out.mkdir()
                seconds = run(command.replace("OUT", str(out)).split(), folder, package, cache)
                if run_name == "cold":
                    cold = seconds.least(cold)
                else:
                    warm = seconds.least(warm)
    assert cold is not None and warm is not None
    return cold, warm


def bar(limit: float | None) -> str:
    return "" if limit is None else f"{limit:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=", ".join(COMMANDS))
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    with tempfile.TemporaryDirectory() as place:
        folder, cache = Path(place), Path(place) / "setup"
        package = copied_package(folder)
        for command in SETUP:
            run(command.format(sentences=options.sentences).split(), folder, package, cache)
        words = (folder / TEST).read_text().split()
        (folder / "words").write_text("\n".join(words[:50]) + "\n")
        print("command | cold: CPU s | bar | wall s | bar | warm: CPU s | bar | wall s", flush=True)
        print("---|---:|---:|---:|---:|---:|---:|---:", flush=True)
        for name in options.commands or COMMANDS:
            cold, warm = measure(COMMANDS[name].format(word=words[0]), folder, package, options.repeats)
            limit, half = BARS.get(name), None if name not in BARS else BARS[name] / 2
            print(
                f"{name} | {cold.cpu:.1f} | {bar(limit)} | {cold.wall:.1f} | {bar(half)} | "
                f"{warm.cpu:.2f} | {bar(WARM_BARS.get(name))} | {warm.wall:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
