"""Several ranks of MPI give the bytes of one process, whatever their number, and whatever becomes of them."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from morphlm.extras import is_installed
from morphlm.training.checkpoint import checkpoint_path
from morphlm.training.log import read_log
from tests.training.rank_runs import CASES, run

OVERSUBSCRIBED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OVERSUBSCRIBED |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def launchers() -> dict[str, tuple[str, dict[str, str]]]:
    """The MPIs of this machine: mpirun, and what mpi4py needs to know to load the library that belongs to it."""
    own = Path(sys.executable).with_name("mpirun")
    found: dict[str, tuple[str, dict[str, str]]] = {"own": (str(own), {})} if own.exists() else {}
    path = shutil.which("mpirun.openmpi")  # not Debian's MPICH: mpi4py's wheels cannot load its library, libmpich
    if path:
        found["openmpi"] = (path, {"MPI4PY_MPIABI": "openmpi", "MPI4PY_LIBMPI": "libmpi.so.40"})
    return found if is_installed("mpi4py") else {}


LAUNCHERS = launchers()
pytestmark = pytest.mark.skipif(not LAUNCHERS, reason="there is no mpi4py, or no mpirun")
FIRST = next(iter(LAUNCHERS), "")


def start(launcher: str, ranks: int, *arguments: str) -> subprocess.Popen[bytes]:
    mpirun, variables = LAUNCHERS[launcher]
    environment = os.environ | OVERSUBSCRIBED | variables
    command = [mpirun, "-n", str(ranks), sys.executable, "-m", *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finished(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, (out + err).decode(errors="replace")


def train_on(launcher: str, ranks: int, threads: int, folder: Path, cases: tuple[str, ...] = CASES) -> None:
    status, output = finished(start(launcher, ranks, "tests.training.rank_runs", str(folder), str(threads), *cases))
    assert status == 0, output


def contents(folder: Path, cases: tuple[str, ...] = CASES) -> dict[str, object]:
    """Every file of the models; logs without seconds, which alone may differ."""
    found: dict[str, object] = {}
    for case in cases:
        for path in sorted((folder / case).iterdir()):
            found[f"{case}/{path.name}"] = path.read_bytes()
        found[f"{case}/log.jsonl"] = [entry | {"seconds": 0} for entry in read_log(folder / case)]
        assert not checkpoint_path(folder / case).exists()
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("one")
    run(folder, 1, list(CASES))
    return contents(folder)


@pytest.mark.parametrize(("ranks", "threads"), [(2, 2), (3, 1)])
def test_ranks_give_the_bytes_of_one_process(
    tmp_path: Path, expected: dict[str, object], ranks: int, threads: int
) -> None:
    train_on(FIRST, ranks, threads, tmp_path)
    assert contents(tmp_path) == expected


@pytest.mark.full
@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8])
def test_all_numbers_of_ranks_give_the_bytes_of_one_process(
    tmp_path: Path, expected: dict[str, object], launcher: str, ranks: int, threads: int
) -> None:
    train_on(launcher, ranks, threads, tmp_path)
    assert contents(tmp_path) == expected


# ---------------------------------------------------------------- killed ranks

LONG = ("clbl++,epochs=12,patience=12",)  # 48 minibatches, each with a checkpoint


def is_running(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def start_long(launcher: str, ranks: int, folder: Path) -> tuple[subprocess.Popen[bytes], list[int]]:
    """A long training, and the numbers of its processes."""
    pids = folder / "ranks"
    shutil.rmtree(pids, ignore_errors=True)
    job = start(launcher, ranks, "tests.training.rank_runs", str(folder), "1", *LONG)
    while job.poll() is None and not (pids.exists() and len(list(pids.iterdir())) == ranks):
        time.sleep(0.01)
    return job, [int(path.read_text() or 0) for path in pids.iterdir()]


def kill_at_random(launcher: str, ranks: int, folder: Path, dice: random.Random, longest: float) -> bool:
    """Start a training and kill one of its ranks; whether the training was still under way."""
    job, numbers = start_long(launcher, ranks, folder)
    time.sleep(dice.uniform(0.0, longest))
    if job.poll() is None:
        with suppress(ProcessLookupError):  # it has just ended by itself
            os.kill(dice.choice(numbers), signal.SIGKILL)
    killed = time.monotonic()
    status, _ = finished(job)
    while any(map(is_running, numbers)) and time.monotonic() < killed + 10.0:
        time.sleep(0.05)
    assert time.monotonic() < killed + 10.0
    assert not any(map(is_running, numbers))
    return status != 0


def take_result(folder: Path, expected: dict[str, object]) -> None:
    """A training that has ended gave the expected bytes; the next one begins anew."""
    assert contents(folder, LONG) == expected
    shutil.rmtree(folder / LONG[0])


def kill_and_resume(launcher: str, folder: Path, kills: int, expected: dict[str, object]) -> None:
    """Kill a rank so many times in the midst of a training, which goes on with another number of ranks each time."""
    dice, began = random.Random(5), time.monotonic()
    finished(start_long(launcher, 3, folder)[0])
    longest = time.monotonic() - began
    take_result(folder, expected)
    for _ in range(6 * kills):  # many moments are after the end of what was left of the training
        kills -= kill_at_random(launcher, dice.choice((2, 3, 4)), folder, dice, longest)
        if not checkpoint_path(folder / LONG[0]).exists() and (folder / LONG[0]).exists():
            take_result(folder, expected)
        if kills == 0:
            break
    assert kills == 0
    train_on(launcher, 2, 1, folder, LONG)
    assert contents(folder, LONG) == expected


@pytest.fixture(scope="module")
def expected_long(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("long")
    run(folder, 1, list(LONG))
    return contents(folder, LONG)


def test_after_kills_another_number_of_ranks_gives_the_same_bytes(
    tmp_path: Path, expected_long: dict[str, object]
) -> None:
    kill_and_resume(FIRST, tmp_path, 2, expected_long)


@pytest.mark.full
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_ranks_may_be_killed_at_any_moment(tmp_path: Path, expected_long: dict[str, object], launcher: str) -> None:
    kill_and_resume(launcher, tmp_path, 20, expected_long)


# ---------------------------------------------------------------- the command

TEXT = "alfa beta gama\nbeta alfa\ngama beta alfa delta\n"


@pytest.fixture
def texts(tmp_path: Path) -> Iterator[list[str]]:
    (tmp_path / "train.txt").write_text(TEXT * 40)
    (tmp_path / "dev.txt").write_text(TEXT * 4)
    yield ["--train", str(tmp_path / "train.txt"), "--dev", str(tmp_path / "dev.txt"), "--width", "4", "--epochs", "2"]


def train_command(kind: str, *more: str, ranks: int = 2) -> tuple[int, str]:
    return finished(start(FIRST, ranks, "morphlm", "train", kind, *more))


def test_the_command_trains_on_all_ranks_and_prints_once(tmp_path: Path, texts: list[str]) -> None:
    status, output = train_command("clbl", *texts, "--out", str(tmp_path / "two"))
    assert status == 0, output
    assert output.count("written to") == output.count("epoch 2:") == 1
    alone = [sys.executable, "-m", "morphlm", "train", "clbl", *texts, "--out", str(tmp_path / "one")]
    subprocess.run(alone, check=True, capture_output=True)
    for name in ("tensors.safetensors", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--bad"], "no option --bad"),
        (["--step", "1e30"], "not finite any more"),
        (["--shards", "1"], "2 ranks are more than the 1 shards"),
        (["--shards", "3"], "it must be a power of two"),
    ],
)
def test_errors_are_one_line_of_rank_0(tmp_path: Path, texts: list[str], changes: list[str], message: str) -> None:
    status, output = train_command("clbl", *texts, "--out", str(tmp_path / "out"), *changes)
    assert status != 0
    assert output.count("morphlm: ") == output.count(message) == 1
    assert "Traceback" not in output


def test_a_full_disk_at_rank_0_ends_all_ranks(tmp_path: Path, texts: list[str]) -> None:
    (tmp_path / "blocked").write_text("a file where a folder should be")
    status, output = train_command("clbl", *texts, "--out", str(tmp_path / "blocked" / "out"))
    assert status != 0
    assert output.count("morphlm: ") == 1


def run_program(command: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | OVERSUBSCRIBED | variables
    return subprocess.run(command, env=environment, capture_output=True, timeout=200, check=False)


PROGRAM = """
import sys
from mpi4py import MPI
import morphlm
import hashlib

try:
    model = morphlm.train("clbl++", *[[line.split() for line in open(name)] for name in sys.argv[1:3]],
                          comm=MPI.COMM_WORLD, width=4, epochs=2, kappa=float(sys.argv[3]))
    found = hashlib.sha256(model.parameters.R.tobytes()).hexdigest()[:8]
except ValueError as error:
    found = "kappa" in str(error)
sys.stdout.write(f"{MPI.COMM_WORLD.rank} {found}\\n")  # in one piece
"""


@pytest.mark.parametrize("kappa", ["0.5", "7"])
def test_in_python_all_ranks_get_the_model_or_the_error(tmp_path: Path, texts: list[str], kappa: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    mpirun, variables = LAUNCHERS[FIRST]
    command = [mpirun, "-n", "2", sys.executable, str(program), texts[1], texts[3], kappa]
    done = run_program(command, variables)
    assert done.returncode == 0, done.stderr
    results = dict(line.split(" ", 1) for line in done.stdout.decode().splitlines())
    assert set(results) == {"0", "1"}
    assert len(set(results.values())) == 1
    assert ("True" in results.values()) == (kappa == "7")


def test_a_machine_that_computes_other_digits_is_refused(tmp_path: Path, texts: list[str]) -> None:
    program = tmp_path / "other.py"
    program.write_text(
        "import sys\nfrom morphlm.training import rank_check\n"
        "from morphlm.__main__ import start\nimport os\n"
        "from morphlm.cli.ranked import started_rank\n"
        "if started_rank()[0] == 1:\n    rank_check.small_step = lambda *_: 'other'\n"
        "start()\n"
    )
    mpirun, variables = LAUNCHERS[FIRST]
    command = [mpirun, "-n", "2", sys.executable, str(program), "train", "clbl", *texts, "--out", str(tmp_path / "o")]
    done = run_program(command, variables)
    assert done.returncode != 0
    assert f"{os.uname().nodename} (" in done.stderr.decode()
    assert "computes other last digits" in done.stderr.decode()
