"""`make fuzz`: coverage-guided fuzzing of every reader, each target in a process of its own.

    python -m fuzz.run [TARGET ...] --minutes 10 --jobs 2
    python -m fuzz.run TARGET --replay FILE

The time is shared by all targets. What libFuzzer finds interesting is kept in `fuzz/corpus/TARGET`, and the next run
goes on from there. A finding is an input that is neither read nor refused with a MorphlmError: another exception, a
crash, a hang, too much memory. It is kept in `fuzz/findings/TARGET`, with the traceback in a file beside it, until a
run finds that it passes. Exit status 1: there are findings.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fuzz.artefacts import make_artefacts
from fuzz.child import PACKAGE, ROOT, folder_in_memory
from fuzz.mutations import LONGEST
from fuzz.targets import Target, make_targets
from morphlm.progress import notify
from morphlm.tables import format_columns

HERE = Path(__file__).parent
CORPUS, FINDINGS, KERNELS = HERE / "corpus", HERE / "findings", HERE / "kernels"
SECONDS_AN_INPUT = 20  # more is a hang
MEMORY_MB = 3000  # more is a finding
MOST_RESTARTS = 5  # of a target whose process was ended by findings
ARTEFACT_NAMES = ("crash-*", "timeout-*", "oom-*", "leak-*")  # what libFuzzer calls inputs that ended the process
_PROGRESS = re.compile(r"^#(\d+)\s+\w+\s+cov: (\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What became of one target."""

    name: str
    executions: int
    edges: int  # of the package's code that inputs have reached
    inputs: int  # in the corpus
    findings: list[Path]

    def row(self) -> list[str]:
        return [
            self.name,
            *(f"{number:,}" for number in (self.executions, self.edges, self.inputs, len(self.findings))),
        ]


@dataclass(frozen=True)
class Session:
    """Where a run keeps what lasts only as long as it."""

    artefacts: Path
    seeds: Path
    environment: Mapping[str, str]

    def child(self, name: str, *arguments: str | Path) -> list[str]:
        command = [sys.executable, "-m", "fuzz.child", name, str(self.artefacts)]
        return [*command, *map(str, arguments)]


def child_environment() -> dict[str, str]:
    """Compiled code checks bounds. Numba's cache does not know that: it has a folder for each state of the code."""
    sources = sorted([*PACKAGE.rglob("kernels.py"), *PACKAGE.rglob("kernels/*.py"), *PACKAGE.glob("compiling/*.py")])
    state = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    folder = KERNELS / state
    folder.mkdir(parents=True, exist_ok=True)
    return os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT)}


def make_session(folder: Path) -> tuple[Session, dict[str, Target]]:
    """Make the artefacts, and the seeds of all targets as files."""
    notify("making small models, systems and files to begin from ...")
    artefacts, scratch, seeds = make_artefacts(folder / "artefacts"), folder / "scratch", folder / "seeds"
    scratch.mkdir()
    targets = make_targets(artefacts, scratch)
    for name, target in targets.items():
        (seeds / name).mkdir(parents=True)
        for number, seed in enumerate(target.seeds):
            (seeds / name / str(number)).write_bytes(seed)
    return Session(artefacts, seeds, child_environment()), targets


def findings_of(name: str) -> list[Path]:
    """The inputs in a target's folder of findings."""
    folder = FINDINGS / name
    return sorted(path for path in folder.iterdir() if path.suffix != ".txt") if folder.is_dir() else []


def replay(session: Session, name: str, path: Path, *, show: bool) -> bool:
    """Run one input as the fuzzer would; whether it passes."""
    command = session.child(name, "--replay", path)
    try:
        done = subprocess.run(
            command,
            env=session.environment,
            cwd=ROOT,
            capture_output=not show,
            timeout=10 * SECONDS_AN_INPUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        notify(f"{path}: not done after {10 * SECONDS_AN_INPUT} seconds")
        return False
    if show and done.returncode < 0:
        notify(f"{path}: the process was ended by signal {-done.returncode}")
    return done.returncode == 0


def forget_mended(session: Session, name: str) -> None:
    """Remove earlier findings that pass now."""
    for path in findings_of(name):
        if replay(session, name, path, show=False):
            notify(f"{name}: {path.name} passes now")
            path.unlink()
            path.with_name(f"{path.name}.txt").unlink(missing_ok=True)


def fuzz_target(session: Session, name: str, seconds: float) -> Outcome:
    """Fuzz one target for some time, again if a finding ends its process."""
    forget_mended(session, name)
    corpus, findings = CORPUS / name, FINDINGS / name
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    executions, edges, end = 0, 0, time.monotonic() + seconds
    for _ in range(MOST_RESTARTS):
        log = _run_child(session, name, max(1, round(end - time.monotonic())))
        counts = [(int(match[1]), int(match[2])) for match in _PROGRESS.finditer(log)]
        if not counts:
            raise SystemExit(f"{name}: the target did not start:\n{log[-2000:]}")
        executions, edges = executions + counts[-1][0], max(edges, *(edge for _, edge in counts))
        if not _explain(findings, log) or time.monotonic() > end:
            break
    return Outcome(name, executions, edges, sum(1 for _ in corpus.iterdir()), findings_of(name))


def _run_child(session: Session, name: str, seconds: int) -> str:
    """What libFuzzer has to say of its run."""
    findings = FINDINGS / name
    options = [
        f"-max_total_time={seconds}",
        f"-timeout={SECONDS_AN_INPUT}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={findings}/",
        "-print_final_stats=1",
        "-keep_seed=1",
        "-reduce_inputs=0",  # what is smaller and reaches the same of our code may reach less of a library's
    ]
    folders = [CORPUS / name, session.seeds / name]
    command = session.child(name, "--findings", findings, "--libfuzzer", *options, *folders)
    done = subprocess.run(command, env=session.environment, cwd=ROOT, capture_output=True, check=False)
    return done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")


def _explain(findings: Path, log: str) -> bool:
    """Put the end of the log beside an input that ended the process; whether there is a new one."""
    new = [path for pattern in ARTEFACT_NAMES for path in findings.glob(pattern) if path.suffix != ".txt"]
    new = [path for path in new if not path.with_name(f"{path.name}.txt").exists()]
    for path in new:
        path.with_name(f"{path.name}.txt").write_text(log[-10_000:])
    return bool(new)


def fuzz_all(session: Session, names: Sequence[str], minutes: float, jobs: int) -> list[Outcome]:
    """Fuzz targets, several at a time."""
    seconds = minutes * 60 * jobs / len(names)
    notify(f"{len(names)} targets, {seconds:.0f} seconds each; the first run also compiles kernels with bounds checks")
    count = itertools.count(1)

    def one(name: str) -> Outcome:
        outcome = fuzz_target(session, name, seconds)
        figures = f"{outcome.executions:,} runs, {outcome.edges:,} edges, {len(outcome.findings)} findings"
        notify(f"[{next(count)}/{len(names)}] {name}: {figures}")
        return outcome

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, names))


def report(outcomes: Sequence[Outcome], show: Callable[[str], None] = print) -> int:
    """A table, and where the findings are; the exit status."""
    show(format_columns(["target", "runs", "edges", "corpus", "findings"], [outcome.row() for outcome in outcomes]))
    found = [(outcome.name, path) for outcome in outcomes for path in outcome.findings]
    for name, path in found:
        show(f"python -m fuzz.run {name} --replay {path.relative_to(ROOT)}")
    return 1 if found else 0


def main() -> int:
    """Read the arguments, and fuzz or replay."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all by default")
    parser.add_argument("--minutes", type=float, default=10, help="of fuzzing, for all targets together")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one input, and show what happens")
    arguments = parser.parse_args()
    with folder_in_memory() as folder:
        session, targets = make_session(folder)
        names = arguments.targets or list(targets)
        if unknown := set(names) - targets.keys():
            parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(targets)}")
        if arguments.replay is not None:
            if len(names) != 1:
                parser.error("name the one target that the file is for")
            return 0 if replay(session, names[0], arguments.replay.resolve(), show=True) else 1
        return report(fuzz_all(session, names, arguments.minutes, arguments.jobs))


if __name__ == "__main__":
    sys.exit(main())
