"""Reading models back: every damage is refused, readers share memory, and a writer does not disturb them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm import kinds
from morphlm.errors import FormatError
from morphlm.modelfile import COMPONENTS, MANIFEST, ModelFiles, read_model, write_model
from morphlm.ngram.training import train_ngram
from morphlm.schema import Anything, ArtefactSchema, Integer, ListOf, Record, Tensor, Text
from morphlm.scoring.loading import load
from morphlm.scoring.mixing import mix
from morphlm.segmentation.segmenter import MorphemeSegmenter, train_segmenter
from morphlm.training.log import LOG_FILE
from morphlm.training.loop import train_model
from tests.training.small import task

TEXT = [["školu", "domu"], ["domu", "školou"], ["školu"]]
Loader = Callable[[Path], Any]


def save_ngrams(place: Path) -> None:
    train_ngram(TEXT, 2).save(place)


def save_neural(place: Path) -> None:
    train_model(task("clbl++", text=TEXT, dev=TEXT, order=2, width=1, classes=2, kappa=0.0, epochs=1), place)


def save_mixture(place: Path) -> None:
    mix([train_ngram(TEXT, 1), train_ngram(TEXT, 2)], TEXT, place)


def save_segmenter(place: Path) -> None:
    train_segmenter({"školu": 2, "školou": 1, "domu": 1}).save(place)


FAMILIES: dict[str, tuple[Callable[[Path], None], Loader]] = {
    "mkn": (save_ngrams, load),
    "clbl++": (save_neural, load),
    "mixture": (save_mixture, load),
    "segmenter": (save_segmenter, MorphemeSegmenter.load),
}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Loader]:
    """A small model that can be read, and how."""
    save, loader = FAMILIES[request.param]
    place = tmp_path_factory.mktemp(request.param.replace("+", "")) / "model"
    save(place)
    loader(place)
    return place, loader


def files_of(place: Path) -> Iterator[Path]:
    """All but the notes; the log of a training is one."""
    return (path for path in sorted(place.rglob("*")) if path.is_file() and path.name != LOG_FILE)


def places_in(path: Path) -> range:
    """Every byte of a file; of the components of a mixture, which are models like the others here, every seventh."""
    return range(0, path.stat().st_size, 7 if path.parent.parent.name == COMPONENTS else 1)


def assert_refused(loader: Loader, place: Path, damaged: Path) -> None:
    """Nothing but a FormatError, which names the file. Damage is found before anything is made of the files."""
    try:
        loader(place)
    except FormatError as error:
        assert str(damaged) in str(error)
        assert ";" in str(error)
    else:
        pytest.fail(f"{damaged} was taken as it is")


def test_every_flipped_byte_is_refused(family: tuple[Path, Loader]) -> None:
    place, loader = family
    for path in files_of(place):
        original = path.read_bytes()
        with path.open("r+b", buffering=0) as file:
            for position in places_in(path):
                byte = original[position]
                os.pwrite(file.fileno(), bytes([byte ^ (1 << position % 8)]), position)
                assert_refused(loader, place, path)
                os.pwrite(file.fileno(), bytes([byte]), position)
    loader(place)


def test_every_cut_length_is_refused(family: tuple[Path, Loader]) -> None:
    place, loader = family
    for path in files_of(place):
        original = path.read_bytes()
        for length in reversed(places_in(path)):
            os.truncate(path, length)
            assert_refused(loader, place, path)
        path.write_bytes(original)
    loader(place)


def test_longer_files_are_refused(family: tuple[Path, Loader]) -> None:
    place, loader = family
    for path in files_of(place):
        original = path.read_bytes()
        for more in (b"\0", b"\n", b" ", original):
            path.write_bytes(original + more)
            assert_refused(loader, place, path)
        path.write_bytes(original)


def test_missing_files_are_named(family: tuple[Path, Loader]) -> None:
    place, loader = family
    for path in files_of(place):
        aside = path.with_name("aside")
        path.rename(aside)
        named = path.parent if path == place / MANIFEST else path
        assert_refused(loader, place, named)
        path.mkdir()
        assert_refused(loader, place, path)
        path.rmdir()
        aside.rename(path)
    loader(place)


def test_files_of_one_model_do_not_pass_for_those_of_another(tmp_path: Path) -> None:
    train_ngram(TEXT, 2).save(tmp_path / "one")
    train_ngram([*TEXT, ["domu"]], 2).save(tmp_path / "two")
    for path in files_of(tmp_path / "one"):
        original = path.read_bytes()
        path.write_bytes((tmp_path / "two" / path.name).read_bytes())
        with pytest.raises(FormatError, match="changed or damaged"):
            load(tmp_path / "one")
        path.write_bytes(original)


@pytest.mark.parametrize("change", ["configuration", "tensors", "texts", "numbers"])
def test_a_model_that_is_whole_but_does_not_fit_is_refused(tmp_path: Path, change: str) -> None:
    """Written by somebody else's program, with all hashes right: no array is read beyond its end."""
    save_ngrams(tmp_path / "model")
    files = read_model(tmp_path / "model")
    words = files.tensors["words"]
    changes: dict[str, dict[str, Any]] = {
        "configuration": {"configuration": {"order": 2}},
        "tensors": {"tensors": {**files.tensors, "words": words[:-1]}},
        "texts": {"texts": {"vocabulary.tsv": "one\t1\n"}},
        "numbers": {"tensors": {**files.tensors, "words": words + 1000}},
    }
    fields = {name: getattr(files, name) for name in ("kind", "configuration", "training", "tensors", "texts")}
    write_model(tmp_path / "model", ModelFiles(**(fields | changes[change])))
    with pytest.raises(FormatError, match=f"^{tmp_path / 'model'}.*make the model again$"):
        load(tmp_path / "model")


def test_a_model_whose_self_test_fails_is_refused(tmp_path: Path) -> None:
    save_ngrams(tmp_path / "model")
    files = read_model(tmp_path / "model")
    case = {"tokens": ["domu"], "logprobs": [-1.0, -1.0]}
    parts = (files.kind, files.configuration, files.training, files.tensors, files.texts, [case])
    write_model(tmp_path / "model", ModelFiles(*parts))
    with pytest.raises(FormatError, match="model: the self-test failed on 'domu'"):
        load(tmp_path / "model")


# ---------------------------------------------------------------- several processes

READER = """
import sys
from morphlm.scoring.loading import load
model = load(sys.argv[1])
model.sentence(["w1", "w2"])
sum(int(array.view("u1").sum()) for array in model.trie.arrays)  # every page is looked at
print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="memory of processes as Linux shows it")
def test_readers_in_two_processes_share_the_memory_of_a_model(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    train_ngram([[f"w{word}" for word in rng.integers(0, 2000, 20)] for _ in range(1000)], 3).save(tmp_path / "model")
    tensors = tmp_path / "model" / "tensors.safetensors"
    command = [sys.executable, "-c", READER, str(tmp_path / "model")]
    readers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == b"ready\n"
        for reader in readers:
            memory = mapped_kilobytes(reader.pid, tensors)
            assert memory["Shared_Clean"] >= 0.9 * tensors.stat().st_size / 1024
            assert memory["Private_Dirty"] + memory["Private_Clean"] + memory["Shared_Dirty"] <= 16
    finally:
        for reader in readers:
            reader.communicate(b"\n")


def mapped_kilobytes(pid: int, path: Path) -> dict[str, int]:
    """What /proc says of the maps of a file in a process, summed."""
    total = dict.fromkeys(("Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty"), 0)
    inside = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        name, *rest = line.split()
        if not name.endswith(":"):
            inside = line.endswith(str(path))
        elif inside and name[:-1] in total:
            total[name[:-1]] += int(rest[0])
    return total


PART = ArtefactSchema(
    configuration=Record({"value": Integer(1)}),
    self_test=ListOf(Anything()),
    texts={"t.txt": Text()},
    tensors={"a": Tensor("int64", (100,))},
)
WHOLE = replace(PART, has_parts=True)

WRITER = """
import sys
from pathlib import Path
import numpy as np
from morphlm.modelfile import ModelFiles, write_model

def files(kind, value):
    return ModelFiles(kind, {"value": value}, {}, {"a": np.full(100, value)}, {"t.txt": f"{value}\\n"})

value = 0
while True:
    value += 1
    write_model(sys.argv[1], files("whole", value), {"part": lambda folder: write_model(folder, files("part", value))})
    if value == 1:
        print("ready", flush=True)
"""


def test_readers_see_the_old_or_the_new_model_while_another_process_replaces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For two seconds, as fast as both can: what is read belongs together, and never is older than before."""
    for kind, schema in (("part", "PART"), ("whole", "WHOLE")):
        monkeypatch.setitem(kinds.OTHER_SCHEMAS, kind, f"{__name__}:{schema}")
    place = tmp_path / "model"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(place)], stdout=subprocess.PIPE)
    seen: list[int] = []
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        end = time.monotonic() + 2.0
        while time.monotonic() < end:
            read = read_model(place)
            part = read.parts["part"]
            values = {files.configuration["value"] for files in (read, part)}
            values |= {int(text) for files in (read, part) for text in files.texts.values()}
            values |= {int(value) for files in (read, part) for value in files.tensors["a"]}
            assert len(values) == 1
            seen += values
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.communicate()
    assert seen == sorted(seen)
    assert len(set(seen)) > 10
    assert len(seen) > 50
    assert (read_model(place).parts.keys(), (place / COMPONENTS).is_dir()) == ({"part"}, True)
