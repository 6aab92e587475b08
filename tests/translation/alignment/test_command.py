from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm.translation.alignment.align import align
from morphlm.translation.alignment.config import AlignmentConfig
from morphlm.translation.alignment.pharaoh import read_pharaoh, write_pharaoh
from tests.conftest import Outcome

from .generated import toy_text

Command = Callable[..., Outcome]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    source, target, _ = toy_text(80, 30)
    source.append([])
    target.append(["x"])
    for name, side in (("s", source), ("t", target)):
        (tmp_path / name).write_text("".join(" ".join(sentence) + "\n" for sentence in side))
    (tmp_path / "p").write_text(
        "".join(f"{' '.join(s)} ||| {' '.join(t)}\n" for s, t in zip(source, target, strict=True))
    )
    return tmp_path / "s", tmp_path / "t"


def test_the_command_writes_what_the_function_finds(files: tuple[Path, Path], morphlm_command: Command) -> None:
    out, expected = files[0].with_name("out"), files[0].with_name("expected")
    outcome = morphlm_command("translate", "align", *files, "--out", out)
    assert outcome.status == 0
    write_pharaoh(expected, align(*files))
    assert out.read_bytes() == expected.read_bytes()
    assert outcome.stdout.startswith("81 pairs, ")
    talk = outcome.stderr.splitlines()
    assert len(talk) == 10
    assert talk[0].startswith("forward: pass 1: tension 4.000, ")
    assert talk[9].startswith("backward: pass 5: tension ")


def test_pairs_json_and_all_options(files: tuple[Path, Path], morphlm_command: Command) -> None:
    out = files[0].with_name("out")
    options = ["--direction", "backward", "--iterations", "3", "--p0", "0.2", "--alpha", "0", "--tension", "6"]
    options += ["--fixed-tension", "--threads", "1", "--json"]
    outcome = morphlm_command("translate", "align", files[0].with_name("p"), "--out", out, *options)
    result = json.loads(outcome.stdout)
    config = AlignmentConfig(3, 0.2, 0.0, 6.0, False, "backward")
    expected = align(*files, config)
    found = read_pharaoh(out)
    assert [found.links(k) for k in range(81)] == [expected.links(k) for k in range(81)]
    assert result["links"] == len(expected.source)
    assert list(result["passes"]) == ["backward"]
    assert [one["tension"] for one in result["passes"]["backward"]] == [6, 6, 6]
    assert result["source_unlinked"] == 1 - len(expected.source) / result["source_tokens"]  # one link for each


def test_without_out_the_alignment_is_all_that_stdout_has(files: tuple[Path, Path], morphlm_command: Command) -> None:
    outcome = morphlm_command("translate", "align", "-", files[1], "--no-diagonal", "--method", "union", stdin=files[0])
    assert outcome.status == 0
    lines = outcome.stdout.split("\n")
    assert len(lines) == 82
    assert lines[80] == ""
    assert "pairs" in outcome.stderr
    assert "tension 0.000" in outcome.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--iterations", "0"], "--iterations is 0; it must be a whole number at least 1"),
        (["--no-diagonal", "--tension", "3"], "leave out --tension"),
        (["--p0", "1"], "--p0 is 1.0; it must be a finite number above 0 and below 1"),
        (["--method", "magic"], "magic"),
        (["--tension", "15"], "from 0.1 to 14"),
    ],
)
def test_bad_options(options: list[str], message: str, files: tuple[Path, Path], morphlm_command: Command) -> None:
    outcome = morphlm_command("translate", "align", *files, *options)
    assert outcome.status == 2
    assert message in outcome.stderr
    assert outcome.stdout == ""


def test_files_of_different_length(files: tuple[Path, Path], morphlm_command: Command) -> None:
    files[1].write_text("x\n")
    outcome = morphlm_command("translate", "align", *files)
    assert outcome.status == 2
    assert "s has 81 lines and" in outcome.stderr
    assert "t has 1, so" in outcome.stderr
