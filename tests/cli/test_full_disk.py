"""Every command that writes a file meets a full disk: one line that names the file, status 2, nothing half-written.

A limit on the size of files stands for the full disk; the operating system then fails a write in the same way.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest

from morphlm import train, train_ngram
from morphlm.vocabulary.corpus import read_corpus
from tests.cli.test_bad_input import contents
from tests.conftest import Outcome

Command = Callable[..., Outcome]

LIMIT = 2048  # bytes of a file
SMALL_MODEL = ["--width", "8", "--epochs", "1", "--classes", "4"]
SYSTEM = ["translate", "build", "TEXT", "TEXT", "--no-tokenise", "--lm", "MODEL", "--out", "OUT", "--threads", "1"]

# name -> the command, and the file that the message names
COMMANDS: dict[str, tuple[list[str], str]] = {
    "prepare": (["prepare", "TEXT", "-l", "cs", "--out", "OUT", "--processes", "1"], "out"),
    "prepare, compressed": (["prepare", "NOISE", "-l", "cs", "--out", "OUT.gz", "--processes", "1"], "out.gz"),
    "prepare, zstd": (["prepare", "NOISE", "-l", "cs", "--out", "OUT.zst", "--processes", "1"], "out.zst"),
    "prepare a pair": (
        ["prepare", "--parallel", "TEXT", "TEXT", "--languages", "cs,en", "--out-pair", "OUT", "OUT.two"],
        "out",
    ),
    "data get": (["data", "get", "TEXT", "OUT", "--language", "cs"], "out"),
    "vocab": (["vocab", "TEXT", "--out", "OUT"], "out"),
    "train mkn": (["train", "mkn", "--train", "TEXT", "--out", "OUT"], "out"),
    "train mkn, ARPA": (["train", "mkn", "--train", "TEXT", "--arpa", "OUT"], "out"),
    "train clbl": (
        ["train", "clbl", "--train", "TEXT", "--dev", "TEXT", "--out", "OUT", *SMALL_MODEL],
        "artefacts/vocabulary-*.tsv",
    ),
    "segment": (["segment", "--train", "TEXT", "--out", "OUT"], "out"),
    "segment, saved": (["segment", "--train", "TEXT", "--save", "OUT"], "out"),
    "factors": (["factors", "ngrams:3-5", "--vocab", "VOCAB", "--out", "OUT"], "out/morphemes.tsv"),
    "classes": (["classes", "--train", "TEXT", "--out", "OUT", "--classes", "4"], "out"),
    "mix": (["mix", "MODEL", "ARPA", "--weights", "0.5,0.5", "--out", "OUT"], "out"),
    "export": (["export", "VECTORS", "OUT"], "out"),
    "export, compressed": (["export", "VECTORS", "OUT.gz"], "out.gz"),
    "export, binary": (["export", "VECTORS", "OUT.bin", "--format", "word2vec-binary"], "out.bin"),
    "export, npy": (["export", "VECTORS", "OUT.npy", "--format", "npy"], "out.words.txt"),
    "export, safetensors": (["export", "VECTORS", "OUT.safetensors", "--format", "safetensors"], "out.safetensors"),
    "report": (["report", "MODEL", "--test", "TEXT", "--out", "OUT"], "out"),
    "align": (["translate", "align", "TEXT", "TEXT", "--out", "OUT", "--threads", "1"], "out"),
    "translate prepare": (
        ["translate", "prepare", "TEXT", "TEXT", "--languages", "cs,en", "--out", "OUT", "OUT.two"],
        "out",
    ),
    "build": (SYSTEM, "out/text/source.txt"),
}


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Texts and models whose every product is larger than the limit."""
    folder = tmp_path_factory.mktemp("given")
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(400)]
    text = [" ".join(rng.choice(words, 8)) for _ in range(150)]
    (folder / "text").write_text("".join(f"{line}\n" for line in text))
    noise = ["".join(rng.choice(list("abcdefghijklmnop"), 80)) for _ in range(200)]
    (folder / "noise").write_text("".join(f"{line}\n" for line in noise))
    model = train_ngram(folder / "text", 2)
    model.save(folder / "model")
    model.write_arpa(folder / "arpa")
    train("lbl", folder / "text", folder / "text", folder / "vectors", width=8, epochs=1)
    read_corpus(folder / "text").words.vocabulary(0, 1).save(folder / "vocab")
    return {name.upper(): folder / name for name in ("text", "noise", "model", "arpa", "vocab", "vectors")}


@contextmanager
def small_disk() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def filled(name: str, places: dict[str, Path], out: Path) -> list[str]:
    return [
        str(places[word]) if word in places else str(out) + word[3:] if word.startswith("OUT") else word
        for word in COMMANDS[name][0]
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_line_that_names_the_file(
    name: str, given: dict[str, Path], tmp_path: Path, morphlm_command: Command
) -> None:
    assert morphlm_command(*filled(name, given, tmp_path / "whole")).status == 0  # compiles what it needs
    full = tmp_path / "full"
    full.mkdir()
    with small_disk():
        outcome = morphlm_command(*filled(name, given, full / "out"))
    assert outcome.status == 2
    place = f"morphlm: {full / COMMANDS[name][1]}: "
    message = f"{place}cannot write here (File too large); make room or choose another place"
    assert fnmatchcase(outcome.stderr.splitlines()[-1], message)
    assert contents(full) == {}
