"""Ranks translate and tune to the bytes of one process; what fails or is interrupted leaves nothing running."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from morphlm import ranks
from morphlm.progress import messages_to
from morphlm.ranks import LATER, Communicator
from morphlm.translation.grammar.rules import write_rules
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.directory import RECASER, TUNING, WEIGHTS
from morphlm.translation.system.system import TranslationSystem
from tests.conftest import Outcome
from tests.training.test_ranks import FIRST, LAUNCHERS, finished, is_running, start
from tests.translation.generated import sentences, small_system, write

Command = Callable[..., Outcome]
needs_mpi = pytest.mark.skipif(not LAUNCHERS, reason="there is no mpi4py, or no mpirun")
TUNE = ["--kbest", "8", "--iterations", "2", "--restarts", "1", "--pop-limit", "10", "--threads", "1", "--runs", "3"]
FORMATS = {
    "text": [],
    "tokens": ["--tokenised", "--prepared"],
    "k-best": ["--kbest", "3", "--kbest-format", "cdec"],
    "json": ["--json", "--kbest", "2", "--graph"],
    "truecase": ["--truecase"],
    "recaser": ["--recaser", f"system/{RECASER}", "--json"],
    "force": ["--force", "given.txt"],
    "prefix": ["--prefix", "given.txt", "--incomplete", "--kbest", "2"],
    "sentence grammars": ["--sentence-grammars", "--kbest", "3", "--weights", "EgivenF=1 Own=1 Other=1"],
    "extra rules": ["--extra-rules", "rules.txt", "--weights", "EgivenF=1 Given=1"],
    "grammar": ["--grammar", "rules.txt", "--weights", "Given=1"],
    "unknown words": ["--open-vocabulary", "--pop-limit", "5"],
    "refused line": ["--markup", "refuse"],
    "missing grammar": ["--sentence-grammars"],
}
INPUTS = {
    "text": "long.source.txt",
    "sentence grammars": "segments.txt",
    "refused line": "refused.txt",
    "missing grammar": "missing.txt",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A system that is not tuned, with a recaser, and all that the formats ask for."""
    folder = tmp_path_factory.mktemp("ranked")
    small_system(folder, 120)
    cased = [(source, [word.replace("sust", "Sust") for word in target]) for source, target in sentences(120, 1)]
    sources = Sources(*write(folder, "cased", cased), models=[NamedModel("mkn", folder / "mkn")])
    shutil.rmtree(folder / "system")
    config = SystemConfig(tokenise=False).with_decoder(pop_limit=8)
    build_system(folder / "system", sources, config, recaser=True, threads=1)
    write(folder, "dev", sentences(8, 2))
    pairs = sentences(36, 3)
    pairs[7] = [], []
    texts = write(folder, "test", pairs)
    pairs[20] = ["Rotterdam", "verb2s", "a"] * 68, []  # so long that it is said
    write(folder, "long", pairs)
    lines = texts[0].read_text().splitlines(keepends=True)
    (folder / "given.txt").write_text(texts[1].read_text().replace("las", "los"))
    (folder / "rules.txt").write_text("[X] ||| a ||| un ||| Given=1\n[X] ||| noun1 ||| sust ||| EgivenF=-1\n")
    (folder / "refused.txt").write_text("".join([*lines[:18], "<b>\n", *lines[:5]]))
    _write_segments(folder, [line.strip() for line in lines[:10]])
    return folder


def _write_segments(folder: Path, lines: list[str]) -> None:
    """Sentences that name grammars, and the same with one in the second chunk that is not there."""
    system = TranslationSystem.load(folder / "system")
    write_rules(folder / "grammar.gz", system.rules(" ".join(lines).split()))
    (folder / "own.txt").write_text("[X] ||| a ||| uno ||| Own=1\n")
    named = f'grammar="{folder}/grammar.gz" grammar1="{folder}/own.txt"'
    segments = [f'<seg id="{3 * number}" {named}>{line}</seg>\n' for number, line in enumerate(lines)]
    (folder / "segments.txt").write_text("".join([*segments, *segments]))
    missing = f'<seg grammar="{folder}/none">a</seg>\n'
    (folder / "missing.txt").write_text("".join([*(f"{line}\n" for line in lines * 2), missing, "a\n"]))


def decoding(name: str) -> list[str]:
    """The command line of a format, for those who stand in the folder."""
    return ["translate", "decode", "system", INPUTS.get(name, "test.source.txt"), "--threads", "1", *FORMATS[name]]


def tuning(folder: Path, system: Path) -> list[str]:
    dev = [str(folder / "dev.source.txt"), str(folder / "dev.target.txt")]
    return ["translate", "tune", str(system), "--dev", *dev, *TUNE]


class PostedCommunicator(Communicator):
    """One process that does what two ranks do: all that goes to tasks and comes from them is sent as bytes."""

    size = 2

    def farm_out(self, function: str, items: Iterable[Any], shared: Any = None) -> Generator[ranks.Outcome, None, None]:
        posted = pickle.loads(pickle.dumps(shared))
        for item in items:
            if item is not LATER:
                with Path(os.devnull).open("w") as nowhere, messages_to(nowhere):
                    [outcome] = super().farm_out(function, [pickle.loads(pickle.dumps(item))], posted)
                yield pickle.loads(pickle.dumps(outcome))


@pytest.mark.parametrize("name", FORMATS)
def test_chunks_that_are_sent_give_what_one_process_gives(
    folder: Path, morphlm_command: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(folder)
    expected = morphlm_command(*decoding(name))
    with ranks.using(PostedCommunicator()):
        found = morphlm_command(*decoding(name))
    # What was refused is the same line with the same message; messages on the way may come earlier.
    assert (found.status, found.stdout) == (expected.status, expected.stdout)
    assert sorted(found.stderr.splitlines()) == sorted(expected.stderr.splitlines())
    assert expected.stdout.count("\n") >= 18
    assert (expected.status == 2) == (name in ("refused line", "missing grammar"))
    assert ("Other" in expected.stderr) == (name == "sentence grammars")
    assert ("a sentence of 204 words" in expected.stderr) == (name == "text")
    assert "Own" not in expected.stderr


def test_runs_that_are_sent_give_the_weights_of_one_process(
    folder: Path, tmp_path: Path, morphlm_command: Command
) -> None:
    shutil.copytree(folder / "system", tmp_path / "one")
    expected = morphlm_command(*tuning(folder, tmp_path / "one"))
    shutil.copytree(folder / "system", tmp_path / "two")
    (tmp_path / "two" / TUNING).mkdir()
    (tmp_path / "two" / TUNING / "run-2").write_text("a file in the place of a folder")
    with ranks.using(PostedCommunicator()):
        failed = morphlm_command(*tuning(folder, tmp_path / "two"))
        (tmp_path / "two" / TUNING / "run-2").unlink()
        found = morphlm_command(*tuning(folder, tmp_path / "two"))
    assert failed.status == 2 and failed.stderr.splitlines()[-1].startswith("morphlm: run 2: ")
    assert failed.stderr.count("run 1: BLEU") == failed.stderr.count("run 3: BLEU") == 1
    assert failed.stderr.count("decoded with") == 5 and "decoded with" not in found.stderr
    assert (found.status, found.stdout) == (0, expected.stdout)
    assert (tmp_path / "two" / WEIGHTS).read_bytes() == (tmp_path / "one" / WEIGHTS).read_bytes()
    assert not list((tmp_path / "two" / TUNING).glob("*.gz"))


# ---------------------------------------------------------------- under mpirun


def run_ranks(count: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    job = start(FIRST, count, "morphlm", *arguments)
    out, err = job.communicate(timeout=300)
    return subprocess.CompletedProcess([], job.returncode, out.decode(), err.decode())


def check_decoding(command: Command, name: str, count: int) -> None:
    expected, found = command(*decoding(name)), run_ranks(count, *decoding(name))
    assert (found.returncode, found.stdout) == (expected.status, expected.stdout)
    assert sorted(found.stderr.splitlines()) == sorted(expected.stderr.splitlines())


@needs_mpi
def test_ranks_translate(folder: Path, morphlm_command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    check_decoding(morphlm_command, "text", 3)


@needs_mpi
@pytest.mark.full
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", FORMATS)
def test_any_number_of_ranks_translates_to_all_formats(
    folder: Path, morphlm_command: Command, monkeypatch: pytest.MonkeyPatch, name: str, count: int
) -> None:
    monkeypatch.chdir(folder)
    check_decoding(morphlm_command, name, count)


@pytest.fixture(scope="module")
def tuned(folder: Path) -> bytes:
    """The weights that one process finds."""
    system = folder / "tuned"
    shutil.copytree(folder / "system", system)
    status, output = finished(start(FIRST, 1, "morphlm", *tuning(folder, system)))
    assert status == 0, output
    return (system / WEIGHTS).read_bytes()


@needs_mpi
@pytest.mark.parametrize("count", [2, *(pytest.param(count, marks=pytest.mark.full) for count in (1, 3, 4))])
def test_a_run_that_fails_leaves_the_others(folder: Path, tmp_path: Path, tuned: bytes, count: int) -> None:
    system = tmp_path / "system"
    shutil.copytree(folder / "system", system)
    (system / TUNING).mkdir()
    (system / TUNING / "run-2").write_text("a file in the place of a folder")
    failed = run_ranks(count, *tuning(folder, system))
    assert failed.returncode == 2
    assert failed.stderr.count("morphlm: ") == 1 and "Traceback" not in failed.stderr
    if count > 1:
        assert failed.stderr.splitlines()[-1].startswith("morphlm: run 2: ")
        assert (system / TUNING / "run-3" / "state.json").exists()
    assert not (system / WEIGHTS).exists()
    (system / TUNING / "run-2").unlink()
    assert run_ranks(count, *tuning(folder, system)).returncode == 0
    assert (system / WEIGHTS).read_bytes() == tuned


@needs_mpi
@pytest.mark.full
def test_a_system_that_ranks_build_and_tune(folder: Path, tmp_path: Path) -> None:
    texts = [str(folder / name) for name in ("train.source.txt", "train.target.txt")]
    dev = [str(folder / "dev.source.txt"), str(folder / "dev.target.txt")]
    for count in (1, 2):
        out = ["--lm", str(folder / "mkn"), "--out", str(tmp_path / str(count))]
        built = run_ranks(count, "translate", "build", *texts, "--no-tokenise", "--dev", *dev, *out, *TUNE)
        assert (built.returncode, built.stdout.count("mean")) == (0, 1), built.stderr
    assert (tmp_path / "1" / WEIGHTS).read_bytes() == (tmp_path / "2" / WEIGHTS).read_bytes()


@needs_mpi
def test_commands_without_work_for_ranks_print_once() -> None:
    done = run_ranks(2, "translate", "kbest", "--help")
    assert (done.returncode, done.stdout.count("Usage: "), done.stderr) == (0, 1, "")


def processes_of(system: Path) -> list[int]:
    """The ranks that have a system in their command line."""
    lines = {path: path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()}
    found = [int(path.parent.name) for path, line in lines.items() if str(system).encode() in line]
    return [process for process in found if "mpi" not in Path(f"/proc/{process}/comm").read_text()]


@needs_mpi
@pytest.mark.parametrize("sent", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.full)])
def test_ranks_end_at_once_and_go_on_later(folder: Path, tmp_path: Path, tuned: bytes, sent: signal.Signals) -> None:
    """Ctrl-C, or the end of one of the ranks, while both have a run that would take long."""
    system = tmp_path / "system"
    shutil.copytree(folder / "system", system)
    text = [str(folder / "train.source.txt"), str(folder / "train.target.txt")]
    job = start(FIRST, 2, "morphlm", "translate", "tune", str(system), "--dev", *text, "--runs", "4", "--probes", "0")
    while job.poll() is None and len(list((system / TUNING).glob("run-*/state.json"))) < 1:
        time.sleep(0.02)
    numbers = processes_of(system)
    assert len(numbers) >= 2 and job.poll() is None
    if sent == signal.SIGINT:
        job.send_signal(sent)
    else:
        os.kill(max(numbers), sent)
    sent_at = time.monotonic()
    status, output = finished(job)
    while any(map(is_running, numbers)) and time.monotonic() < sent_at + 10.0:
        time.sleep(0.05)
    assert time.monotonic() < sent_at + 10.0 and not any(map(is_running, numbers))
    assert status == 130 and output.count("morphlm: interrupted") == 1 if sent == signal.SIGINT else status != 0
    assert not (system / WEIGHTS).exists()
    assert run_ranks(2, *tuning(folder, system)).returncode == 0
    assert (system / WEIGHTS).read_bytes() == tuned
