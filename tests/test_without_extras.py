"""Every command with the core's dependencies alone: it works, or names the extra that it lacks and how to get it.

One new process that cannot import any other package runs all of them, in the order of the data's way.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import click
import pytest

from morphlm import ranks
from morphlm.cli.main import morphlm
from morphlm.errors import ConfigError
from morphlm.extras import MissingExtraError, check_extra, how_to_install, import_extra
from tests.training.small import sentences
from tests.translation import generated

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
PROGRAM = """
import contextlib, importlib.abc, io, json, sys
blocked, commands = json.load(sys.stdin)

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
from morphlm.cli.main import run
outcomes = []
for command in commands:
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run(command)
        except SystemExit as end:
            status = end.code
    outcomes.append([status, err.getvalue()])
print(json.dumps(outcomes))
"""
FEW = "--order 3 --width 4 --epochs 1 --threads 1"
# Commands, as they are typed in a folder with texts; behind each the extra that it needs, or ''.
COMMANDS = {
    "data list": "",
    "data get generated data --sentences 200": "",
    "prepare raw.txt --language cs --out prepared.txt --processes 1": "",
    "learn train.txt --out learned --language cs": "",
    "vocab train.txt --out vocabulary.tsv": "",
    "segment --vocab vocabulary.tsv --save segmenter": "",
    "factors segmenter:segmenter --vocab vocabulary.tsv": "",
    "factors unigram:20 --vocab vocabulary.tsv": "sentencepiece",
    "classes --train train.txt --classes 4 --out classes.tsv": "",
    "train mkn --train train.txt --kappa 0.2 --out mkn": "",
    f"train --all --kinds mkn,clbl,clbl++ --train train.txt --dev dev.txt --out models {FEW}": "",
    f"train --all --kinds mkn,clbl,clbl++ --train train.txt --dev dev.txt --kappa 1 --out models.1 {FEW}": "",
    "tune clbl --train train.txt --dev dev.txt --minutes 0.001 --order 3 --width 4 --epochs 1": "",
    "mix models/mkn models/clbl++ --dev dev.txt --out mixture": "",
    "cache models/clbl++ --dev dev.txt --out cached": "",
    "extend mixture words.txt --out extended": "",
    "ppl mixture dev.txt": "",
    "score mixture dev.txt": "",
    "rescore mixture kbest.txt": "",
    "predict mixture škola": "",
    "generate mixture --sentences 2": "",
    "neighbours mixture škola": "",
    "similarity mixture pairs.tsv": "",
    "analogies mixture questions.txt": "",
    "export mixture vectors.txt": "",
    "report models/mkn models/clbl++ --test dev.txt --out report.html": "",
    "explore mixture --port 0 --no-browser": "explore",
    "analyse frequency models/clbl models/clbl++ dev.txt": "",
    "analyse frequency models/clbl models/clbl++ dev.txt --picture frequency.svg": "pictures",
    "analyse pos models/clbl models/clbl++ tagged.txt --format slashes": "",
    "analyse pos models/clbl models/clbl++ raw.txt --format hanta": "pos",
    "analyse selection --language cs models dev.txt": "",
    "analyse scaling --test dev.txt --growing models": "",
    "analyse kappa --language cs models models.1 dev.txt": "",
    "analyse morphemes models/clbl++": "",
    "analyse morphemes models/clbl++ --picture map.png": "pictures",
    "reproduce --list": "",
    "translate prepare train.source.txt train.target.txt --languages en,cs --out a.txt b.txt --processes 1": "",
    "translate align train.source.txt train.target.txt --out alignment": "",
    "translate extract bitext --from train.source.txt train.target.txt alignment": "",
    "translate build train.source.txt train.target.txt --no-tokenise --lm lm --out built --threads 1": "",
    "translate tune built --dev dev.source.txt dev.target.txt --kbest 4 --iterations 1 --restarts 1 --threads 1": "",
    "translate decode built dev.source.txt --threads 1": "",
    "translate recaser cased.txt --language cs --out recaser --processes 1": "",
    "translate serve built --port 0": "explore",
    "translate weights built --to cdec": "",
    "translate kbest kbest.txt --from moses --to cdec": "",
    "translate evaluate dev.target.txt dev.target.txt": "translation",
}
COMPOSED = {"demo"}  # calls what other commands call, and takes minutes


def dependencies(requirements: list[str]) -> set[str]:
    """The distributions that these requirements bring with them, without those of extras."""
    found: set[str] = set()
    waiting = list(requirements)
    while waiting:
        requirement, _, marker = waiting.pop().partition(";")
        name = re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement.strip())[0]).lower()
        if "extra ==" in marker or name in found:
            continue
        try:
            waiting += metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # for another system or version of Python
            continue
        found.add(name)
    return found


def modules_beyond_the_core() -> list[str]:
    core = {"morphlm", *dependencies(PROJECT["dependencies"])}
    return [
        module
        for module, distributions in metadata.packages_distributions().items()
        if not any(re.sub(r"[-_.]+", "-", name).lower() in core for name in distributions)
    ]


def documented(command: click.Command, name: str) -> Iterator[str]:
    """All commands that docs/commands.md has, but for the kinds of models, which are one command."""
    if isinstance(command, click.Group) and name != "train":
        context = click.Context(command)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from documented(found, f"{name} {child}".strip())
    else:
        yield name


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    folder = tmp_path_factory.mktemp("core")
    texts = {"train": sentences(120, 1, rare=True), "dev": sentences(20, 2)}
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text("".join(f"{' '.join(words)}\n" for words in text))
    (folder / "raw.txt").write_text("Nová škola stojí ve městě.\n")
    (folder / "words.txt").write_text("školami\nřekami\n")
    (folder / "cased.txt").write_text("Nová škola stojí v Praze.\n")
    (folder / "tagged.txt").write_text("škola/N domu/N\n")
    (folder / "kbest.txt").write_text("0 ||| škola domu ||| LM0= -1 ||| -2\n")
    (folder / "questions.txt").write_text(": cases\nškola školu řeka řeku\n")
    (folder / "pairs.tsv").write_text("škola\tškolu\t9\ndomu\tdomem\t8\nřeka\tpole\t1\n")
    generated.small_system(folder, 60)
    (folder / "mkn").rename(folder / "lm")
    generated.write(folder, "dev", generated.sentences(4, 2))
    arguments = [command.split() for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps([modules_beyond_the_core(), arguments]),
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {command: (status, err) for command, (status, err) in zip(COMMANDS, json.loads(done.stdout), strict=True)}


@pytest.mark.parametrize("command", [command for command, extra in COMMANDS.items() if not extra])
def test_the_core_is_enough(command: str, outcomes: dict[str, tuple[int, str]]) -> None:
    status, told = outcomes[command]
    assert status == 0, told


@pytest.mark.parametrize(("command", "extra"), [(command, extra) for command, extra in COMMANDS.items() if extra])
def test_a_missing_extra_is_named(command: str, extra: str, outcomes: dict[str, tuple[int, str]]) -> None:
    status, told = outcomes[command]
    assert status == 2
    assert told.endswith(
        f", which is not installed; pip install 'morphlm[{extra}]' (in a checkout: pip install '.[{extra}]')\n"
    )
    assert extra in PROJECT["optional-dependencies"]


def test_every_documented_command_is_tried() -> None:
    names = set(documented(morphlm, ""))
    tried = {name for name in names if any(f"{command} ".startswith(f"{name} ") for command in COMMANDS)}
    assert tried | COMPOSED == names


def test_the_message_names_the_package_and_the_command() -> None:
    wanted = "maps need nowhere_to_be_found, which is not installed; " + how_to_install("maps")
    with pytest.raises(MissingExtraError) as imported:
        import_extra("nowhere_to_be_found.inside", "maps", "maps need")
    with pytest.raises(MissingExtraError) as checked:
        check_extra("nowhere_to_be_found", "maps", "maps need")
    assert str(imported.value) == str(checked.value) == wanted
    assert import_extra("json", "maps", "maps need") is json


def test_an_mpi_that_mpi4py_cannot_load_is_not_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(module: str) -> None:
        raise ImportError("libmpi.so.12: cannot open shared object file")

    monkeypatch.setattr("morphlm.extras.importlib.import_module", fail)
    with pytest.raises(ConfigError, match=r"cannot load a library of MPI \(libmpi\.so\.12.*pip install mpich"):
        ranks.world()
