"""What several ranks of MPI cost and save in translation, next to one process in the same run.

    python benchmarks/ranks_translation.py [--ranks 2] [--sentences 6000] [--lines 2000] [--dev 150] [--runs 4]
                                           [--iterations 4] [--mpirun mpirun]

A system of generated text with an n-gram model translates some lines, and is tuned by several runs on some others, each
rank with one thread. Printed for each number of ranks: CPU seconds of all ranks together, and of the busiest; seconds
on the clock; each as a ratio to one process. The start of the program and the loading of the system, which every rank
does, are measured by the translation of one line and printed too. Outputs and weights must be the same bytes.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from morphlm.__main__ import start
from morphlm.cli.ranked import started_rank

CPU_FOLDER = "MORPHLM_BENCHMARK_CPU"  # where each rank writes its CPU seconds


@dataclass(frozen=True)
class Cost:
    """Seconds of a command."""

    cpu: tuple[float, ...]  # of each rank
    wall: float
    output: bytes

    def report(self, alone: Cost) -> str:
        total, most, before = sum(self.cpu), max(self.cpu), sum(alone.cpu)
        return (
            f"CPU of all {total:6.1f} s ({total / before:.2f}), of the busiest {most:6.1f} s ({most / before:.2f}), "
            f"clock {self.wall:6.1f} s ({self.wall / alone.wall:.2f})"
        )


def work() -> None:
    """At every rank: run the command that follows, and tell how much CPU time it has taken."""
    path = Path(os.environ[CPU_FOLDER]) / str(started_rank()[0])
    atexit.register(lambda: path.write_text(str(time.process_time())))
    sys.argv[1:] = sys.argv[2:]
    start()


def measure(mpirun: str, ranks: int, *arguments: str | Path) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--work", *map(str, arguments)]
        command = command if ranks == 1 else [mpirun, "-n", str(ranks), *command]
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, env={**os.environ, CPU_FOLDER: folder}, check=False)
        wall = time.monotonic() - begin
        if done.returncode:
            sys.exit(done.stderr.decode())
        return Cost(tuple(float(path.read_text()) for path in Path(folder).iterdir()), wall, done.stdout)


def make_system(folder: Path, arguments: argparse.Namespace) -> Path:
    """Generated text with its translation, an n-gram model of order 4, and a system that is not tuned."""

    def run(*words: str | Path) -> None:
        command = [sys.executable, "-m", "morphlm", *map(str, words)]
        subprocess.run(command, check=True, capture_output=True)

    run("data", "get", "generated", folder, "--parallel", "en", "--sentences", str(arguments.sentences))
    run("train", "mkn", folder / "train.gen.txt", "--order", "4", "--out", folder / "mkn")
    texts = [folder / "train.en.txt", folder / "train.gen.txt"]
    run("translate", "build", *texts, "--no-tokenise", "--lm", folder / "mkn", "--out", folder / "system")
    head(folder / "train.en.txt", folder / "text", arguments.lines)
    head(folder / "train.en.txt", folder / "line", 1)
    for side in ("en", "gen"):
        head(folder / f"dev.{side}.txt", folder / f"short.{side}.txt", arguments.dev)
    return folder / "system"


def head(source: Path, target: Path, lines: int) -> None:
    target.write_text("".join(source.read_text().splitlines(keepends=True)[:lines]))


def decode_cost(folder: Path, arguments: argparse.Namespace, ranks: int, text: str) -> Cost:
    kbest = ["--kbest", "100", "--threads", "1"]
    return measure(arguments.mpirun, ranks, "translate", "decode", folder / "system", folder / text, *kbest)


def tune_cost(folder: Path, arguments: argparse.Namespace, ranks: int) -> Cost:
    system = folder / f"tuned-{ranks}"
    shutil.copytree(folder / "system", system)
    dev = ["--dev", folder / "short.en.txt", folder / "short.gen.txt"]
    options = ["--runs", str(arguments.runs), "--iterations", str(arguments.iterations), "--threads", "1"]
    return measure(arguments.mpirun, ranks, "translate", "tune", system, *dev, *options)


def costs(folder: Path, arguments: argparse.Namespace, ranks: int) -> dict[str, Cost]:
    return {"decode": decode_cost(folder, arguments, ranks, "text"), "tune": tune_cost(folder, arguments, ranks)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--sentences", type=int, default=6000)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--dev", type=int, default=150)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--mpirun", default="mpirun")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_system(folder, arguments)
        decode_cost(folder, arguments, 1, "line")  # compiles
        loading = decode_cost(folder, arguments, 1, "line")
        print(f"to start and load: {sum(loading.cpu):.1f} s of CPU", flush=True)
        alone = costs(folder, arguments, 1)
        for task, cost in alone.items():
            print(f"{task}, one process: {cost.report(cost)}", flush=True)
        for ranks in map(int, arguments.ranks.split(",")):
            for task, cost in costs(folder, arguments, ranks).items():
                if cost.output != alone[task].output:
                    sys.exit(f"{task}: {ranks} ranks give other bytes than one process")
                print(f"{task}, {ranks} ranks: {cost.report(alone[task])}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work()
    else:
        main()
