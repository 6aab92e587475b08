"""Kernels that a command needs are compiled beside it: once, by processes that leave nothing behind."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import morphlm
from morphlm import command
from morphlm.compiling import helpers as compiling_helpers
from morphlm.compiling.helpers import PARTS, Helpers, helpers_wanted, planned_kernels
from morphlm.compiling.signatures import kernel_named, parse_signature, signature_text

KERNELS = [f"kernel {number}" for number in range(6)]
forks = pytest.mark.skipif(sys.platform != "linux", reason="helpers are forked on Linux only")


def children() -> list[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    return [int(number) for number in listed.split()]


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def compiled(tmp_path: Path) -> Iterator[Path]:
    """A folder in which each compiled kernel is a file with the numbers of the processes that compiled it."""
    before = children()
    yield tmp_path
    assert children() == before  # nobody stays


def compile_in(folder: Path, seconds: float = 0.0) -> Callable[[str], None]:
    def work(kernel: str) -> None:
        time.sleep(seconds)
        with (folder / kernel).open("a") as file:
            file.write(f"{os.getpid()}\n")

    return work


def everything(helpers: Helpers, work: Callable[[str], None]) -> None:
    """What a command does that needs all kernels in order."""
    for kernel in KERNELS:
        if not helpers.take(kernel, lambda _: None):
            work(kernel)
            helpers.finish(kernel)


@forks
@pytest.mark.parametrize("processes", [0, 1, 3, 9])
def test_every_kernel_is_compiled_once_and_helpers_help(compiled: Path, processes: int) -> None:
    work = compile_in(compiled, 0.05)
    helpers = Helpers(KERNELS, work, processes)
    everything(helpers, work)
    assert helpers.done == len(KERNELS)
    helpers.stop()
    workers = [(compiled / kernel).read_text().split() for kernel in KERNELS]
    assert all(len(own) == 1 for own in workers)
    assert workers[0] == [str(os.getpid())]  # the one that was needed at once
    assert (len({own[0] for own in workers}) > 1) == (processes > 0)


@forks
def test_what_a_killed_helper_was_at_is_compiled_by_the_command(compiled: Path) -> None:
    work = compile_in(compiled)
    helpers = Helpers(KERNELS, lambda _: time.sleep(60), 1)
    wait_until(lambda: helpers._states[-1] > 2)
    os.kill(next(iter(helpers._processes.values())), signal.SIGKILL)
    everything(helpers, work)
    helpers.stop()
    assert [len((compiled / kernel).read_text().split()) for kernel in KERNELS] == [1] * len(KERNELS)


@forks
def test_an_error_in_a_helper_is_the_command_s_to_find(compiled: Path) -> None:
    def fail(kernel: str) -> None:
        raise RuntimeError(kernel)

    helpers = Helpers(KERNELS, fail, 1)
    work = compile_in(compiled)
    everything(helpers, work)
    helpers.stop()  # on a busy machine it may not even have begun
    assert len(list(compiled.iterdir())) == len(KERNELS)


@forks
def test_helpers_end_at_once_and_do_not_hold_the_parent_s_files(compiled: Path) -> None:
    reading, writing = os.pipe()
    helpers = Helpers(KERNELS, lambda _: time.sleep(60), 2)
    wait_until(lambda: helpers._states[-1] > 2)
    os.close(writing)
    assert os.read(reading, 1) == b""  # nobody else can write
    begin = time.monotonic()
    helpers.stop()
    assert time.monotonic() - begin < 10


def test_kernels_that_nobody_planned_are_the_command_s_own(compiled: Path) -> None:
    helpers = Helpers(KERNELS[:1], compile_in(compiled), 2)
    assert not helpers.take("another", lambda _: None)


def test_no_helpers_in_programs_of_others_on_one_core_or_beside_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert helpers_wanted() == 0  # this is no command
    monkeypatch.setattr(command, "arguments", ("ppl",))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert helpers_wanted() == (2 if sys.platform == "linux" else 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    assert helpers_wanted() == 0
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert helpers_wanted() == 0


# ---------------------------------------------------------------- plans


def test_plans_name_kernels_and_types_that_exist() -> None:
    lines = compiling_helpers.PLANS.read_text().splitlines()
    for line in {line.split("\t", 1)[1] for line in lines}:
        name, signature = line.split("\t")
        assert callable(kernel_named(name))
        assert signature_text(parse_signature(signature)) == signature


def test_the_plan_of_a_command_is_that_of_its_first_words() -> None:
    assert planned_kernels(["segment", "--train", "x"])
    assert planned_kernels(["train", "mkn", "--train", "x"]) != planned_kernels(["train", "clbl++", "--train", "x"])
    assert planned_kernels(["prepare", "segment"]) == planned_kernels([]) == []
    for whole, parts in PARTS.items():
        planned = planned_kernels(whole.split())
        assert set(planned) == {kernel for part in parts for kernel in planned_kernels(part.split())}
        assert len(planned) == len(set(planned))


# ---------------------------------------------------------------- commands


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a text and a model of n-grams."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "text").write_text("a b c\nb c a\nc a\n" * 40)
    run(folder, "train", "mkn", "--train", "text", "--out", "mkn", "--order", "3", cache=folder / "warm")
    run(folder, "ppl", "--prepared", "mkn", "text", cache=folder / "warm")
    return folder


def environment(cache: Path, **changes: str) -> dict[str, str]:
    """With a copy of the package, beside which there is no code."""
    copy = cache.parent / "copy"
    if not copy.exists():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(morphlm.__file__).parent, copy / "morphlm", ignore=ignored)
    source = os.pathsep.join([str(copy), str(Path(__file__).parents[2] / "generated")])
    kept = {name: value for name, value in os.environ.items() if name != "MORPHLM_COMPILING"}
    return kept | {"PYTHONPATH": source, "NUMBA_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache)} | changes


def run(folder: Path, *arguments: str, cache: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "morphlm", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(cache, **changes), capture_output=True, text=True, check=True
    )


def code_files(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.rglob("*") if path.is_file() and path.name != "kernels.json")


def test_compiling_is_announced_once_and_not_when_everything_is_there(package: Path, tmp_path: Path) -> None:
    cold = run(package, "ppl", "--prepared", "mkn", "text", cache=tmp_path / "cache")
    assert cold.stderr == "compiling, once after installation ...\n"
    kept = code_files(tmp_path / "cache")
    assert kept and all(name.endswith(".nbc") for name in kept)  # nothing half written
    warm = run(package, "ppl", "--prepared", "mkn", "text", cache=tmp_path / "cache")
    assert (warm.stderr, warm.stdout) == ("", cold.stdout)
    assert code_files(tmp_path / "cache") == kept


def test_it_can_be_told_to_be_quiet(package: Path, tmp_path: Path) -> None:
    done = run(package, "ppl", "--prepared", "mkn", "text", cache=tmp_path / "cache", MORPHLM_COMPILING="quiet")
    assert done.stderr == ""


@forks
def test_on_a_terminal_a_bar_shows_how_far_it_is(package: Path) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 120))
    command = [sys.executable, "-m", "morphlm", "ppl", "--prepared", "mkn", "text"]
    cache = environment(package / "bar")
    done = subprocess.run(command, cwd=package, env=cache, stdout=subprocess.DEVNULL, stderr=theirs, check=True)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert done.returncode == 0
    planned = len(compiling_helpers.planned_kernels(["ppl"]))
    for compiled in (0, 1):
        assert f"compiling, once after installation: {compiled} of {planned} |".encode() in shown


@forks
def test_one_core_is_enough(package: Path) -> None:
    two = run(package, "ppl", "--prepared", "mkn", "text", cache=package / "two")
    affinity = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(affinity)})
    try:
        one = run(package, "ppl", "--prepared", "mkn", "text", cache=package / "one")
    finally:
        os.sched_setaffinity(0, affinity)
    assert (one.stdout, one.stderr) == (two.stdout, two.stderr)
    assert set(code_files(package / "one")) <= set(code_files(package / "two"))


@forks
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_helpers_end_with_a_command_that_is_killed(package: Path, number: signal.Signals) -> None:
    cache = package / f"killed-{number}"
    command = [sys.executable, "-m", "morphlm", "segment", "--train", "text"]
    with subprocess.Popen(
        command, cwd=package, env=environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        wait_until(lambda: len(os.sched_getaffinity(0)) == 1 or bool(listed.read_text()), 60)
        helpers = [int(pid) for pid in listed.read_text().split()]
        process.send_signal(number)
        process.wait()
    wait_until(lambda: not any(is_running(pid) for pid in helpers))
    assert all(name.endswith(".nbc") for name in code_files(cache))


def is_running(pid: int) -> bool:
    """Not gone, and not only waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
