from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm.analysis.frequency import frequency_comparison
from morphlm.ngram.training import train_ngram
from tests.analysis.cases import TEXT, models
from tests.conftest import Outcome

Command = Callable[..., Outcome]


@pytest.fixture
def one(tmp_path: Path) -> Path:
    models()[0].save(tmp_path / "one")
    return tmp_path / "one"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    models()[1].save(tmp_path / "two")
    return tmp_path / "two"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text("".join(" ".join(sentence) + "\n" for sentence in TEXT))
    return tmp_path / "text.txt"


def test_the_command_prints_what_python_returns(one: Path, two: Path, text: Path, morphlm_command: Command) -> None:
    expected = frequency_comparison(*models(), [text], names=(str(one), str(two)), seed=3)
    outcome = morphlm_command("analyse", "frequency", one, two, text, "--seed", "3")
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout == expected.to_table().format() + "\n"
    as_json = morphlm_command("analyse", "frequency", one, two, text, "--seed", "3", "--json")
    assert json.loads(as_json.stdout) == json.loads(json.dumps(expected.to_json()))


def test_standard_input_is_a_text_too(one: Path, two: Path, text: Path, morphlm_command: Command) -> None:
    named = json.loads(morphlm_command("analyse", "frequency", one, two, text, "--json").stdout)
    piped = json.loads(morphlm_command("analyse", "frequency", one, two, "--json", stdin=text).stdout)
    assert piped["text"] == "<stdin>"
    assert piped["groups"] == named["groups"]


def test_options(one: Path, two: Path, text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    without = json.loads(morphlm_command("analyse", "frequency", one, two, text, "--no-ends", "--json").stdout)
    assert without["whole"]["tokens"] == 9
    train_ngram([["pro"] * 50], 1).vocabulary.save(tmp_path / "v.tsv")
    arguments = ["analyse", "frequency", one, two, text, "--vocab", tmp_path / "v.tsv", "--json"]
    counted = {group["name"]: group["tokens"] for group in json.loads(morphlm_command(*arguments).stdout)["groups"]}
    assert counted == {"unseen": 7, "1-9": 3, "10-99": 2}


def test_models_of_different_kinds_go_by_them(one: Path, text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    models()[1].write_arpa(tmp_path / "two.arpa")
    outcome = json.loads(morphlm_command("analyse", "frequency", one, tmp_path / "two.arpa", text, "--json").stdout)
    assert outcome["whole"]["tokens"] == 12
    refused = morphlm_command("analyse", "frequency", tmp_path / "two.arpa", one, text)
    assert (refused.status, refused.stdout) == (2, "")
    assert "has no counts); give a vocabulary with counts (--vocab)" in refused.stderr


@pytest.mark.parametrize("name", ["f.svg", "f.png", "f.pdf"])
def test_pictures(name: str, one: Path, two: Path, text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("analyse", "frequency", one, two, text, "--picture", tmp_path / name)
    assert (outcome.status, outcome.stderr) == (0, "")
    starts = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    assert (tmp_path / name).read_bytes().startswith(starts[Path(name).suffix])


@pytest.mark.parametrize("name", ["f.jpg", "none/f.svg"])
def test_a_picture_that_cannot_be_is_refused_before_any_work(
    name: str, one: Path, tmp_path: Path, morphlm_command: Command
) -> None:
    outcome = morphlm_command(
        "analyse", "frequency", one, tmp_path / "no-model", "no-text", "--picture", tmp_path / name
    )
    assert outcome.status == 2
    assert name in outcome.stderr
    assert ";" in outcome.stderr


def test_bad_input_is_one_line(one: Path, two: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "empty").write_text("")
    for arguments in ([one, two, tmp_path / "empty"], [one, two, tmp_path / "missing"], [one, "-", "-"], [one, two]):
        outcome = morphlm_command("analyse", "frequency", *arguments)
        assert (outcome.status, outcome.stdout) == (2, "")
        assert len(outcome.stderr.splitlines()) == 1


def test_subcommands_are_listed_and_unknown_ones_refused(morphlm_command: Command) -> None:
    listed = [line.split()[0] for line in morphlm_command("analyse", "--help").stdout.splitlines() if line.strip()]
    assert {"frequency", "pos", "selection", "scaling", "kappa", "morphemes"} <= set(listed)
    outcome = morphlm_command("analyse", "nothing")
    assert outcome.status == 2
    assert "no command 'nothing'" in outcome.stderr


def test_help_is_quick_because_no_subcommand_is_imported() -> None:
    code = (
        "import sys; from morphlm.cli.main import morphlm; morphlm.main(['analyse', '--help'], standalone_mode=False);"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'morphlm.cli.analyse.frequency')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
