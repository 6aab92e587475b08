"""Every command and example of the README and the tutorial runs, in the order of the page, on a small text."""

from __future__ import annotations

import contextlib
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from morphlm.text.datasets.folder import DatasetOrigin, DatasetRequest
from morphlm.text.datasets.registry import DATASETS
from tests.conftest import Outcome
from tests.learning.small import write_text
from tests.test_docs import FENCE, ROOT

PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]
INSTALLATION = re.compile(r"make |pip |git |python3 -m venv |\. |cd ")
PIPELINE = re.compile(r"(?:(?P<source>.+?) \| )?morphlm (?P<arguments>[^|>]+)(?: > (?P<file>\S+))?$")


@dataclass(frozen=True)
class Example:
    """A block of the page, or one line of a block for the shell."""

    page: str
    line: int  # its number in the page
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def examples(page: Path) -> Iterator[Example]:
    text = page.read_text()
    for block in FENCE.finditer(text):
        language, body, first = block[1], block[3], text[: block.start(3)].count("\n") + 1
        if language == "python":
            yield Example(page.name, first, language, body)
        elif language == "sh":
            for number, line in enumerate(body.splitlines(), first):
                if words := line.partition("  #")[0].strip():
                    yield Example(page.name, number, language, words)


def small_help(directory: Path, request: DatasetRequest) -> DatasetOrigin:
    """A small text under the name of the data set that would be fetched."""
    for seed, (part, count) in enumerate((("train", 100), ("dev", 10), ("test", 10))):
        write_text(directory / f"{part}.{request.language}.txt", count, seed)
    return DatasetOrigin("CC0-1.0", {"generator": "morphlm"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for both pages, as what the first one has learned, the second finds complete."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def small_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory, where getting data writes a small text."""
    monkeypatch.chdir(folder)
    monkeypatch.setitem(
        DATASETS, "libreoffice-help", replace(DATASETS["libreoffice-help"], make=small_help, identity=lambda _: {})
    )


def run_installation(example: Example) -> None:
    """What installs something is not run, but what it names is there."""
    words = shlex.split(example.text)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), example.place
    extras = re.findall(r"\[(.+)\]", example.text) if words[0] == "pip" else []
    for extra in ",".join(extras).split(",") if extras else []:
        metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
        assert extra in metadata["project"]["optional-dependencies"], example.place


def run_explorer(example: Example) -> None:
    """The server answers, and ends by Ctrl-C."""
    command = [sys.executable, "-m", *shlex.split(example.text), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert httpx.get(f"{address}api/models", timeout=60).json(), example.place
            process.send_signal(signal.SIGINT)
            assert process.wait() == 130, example.place
        finally:
            process.kill()


def run_line(example: Example, morphlm_command: Callable[..., Outcome], folder: Path) -> str:
    """Run a line as the shell would; what it prints."""
    pipeline = PIPELINE.fullmatch(example.text)
    if pipeline is None:
        return subprocess.run(example.text, shell=True, check=True, capture_output=True, text=True).stdout
    stdin = None
    if pipeline["source"]:
        stdin = folder / "stdin"
        stdin.write_bytes(subprocess.run(pipeline["source"], shell=True, check=True, capture_output=True).stdout)
    words = [expanded for word in shlex.split(pipeline["arguments"]) for expanded in sorted_matches(word)]
    outcome = morphlm_command(*words, stdin=stdin)
    assert outcome.status == 0, f"{example.place}\n{outcome.stderr}"
    if pipeline["file"]:
        Path(pipeline["file"]).write_text(outcome.stdout)
    return outcome.stdout


def sorted_matches(word: str) -> list[str]:
    """The files that a pattern names, or the word itself."""
    return (sorted(map(str, Path().glob(word))) if "*" in word else []) or [word]


@pytest.mark.usefixtures("small_text")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_runs(
    page: Path, tmp_path_factory: pytest.TempPathFactory, morphlm_command: Callable[..., Outcome]
) -> None:
    names: dict[str, object] = {}
    for example in examples(page):
        if example.language == "python":
            with contextlib.redirect_stdout(None):
                exec(compile(example.text, example.page, "exec"), names)
        elif INSTALLATION.match(example.text):
            run_installation(example)
        elif example.text.startswith("morphlm explore"):
            run_explorer(example)
        else:
            run_line(example, morphlm_command, tmp_path_factory.mktemp("input"))
