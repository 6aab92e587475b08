from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from morphlm import modelfile
from morphlm.errors import FormatError, InputError
from morphlm.modelfile import MANIFEST, ModelFiles, canonical_json, read_model, write_model


def small_model(value: float = 1.5) -> ModelFiles:
    tensors = {
        "a": np.full((2, 3), value, np.float32),
        "b": np.arange(5, dtype=np.int64),
        "empty": np.zeros(0, np.float32),
    }
    return ModelFiles("test", {"order": 2}, {"seed": 1}, tensors, {"vocabulary.tsv": f"školu\t{value}\n"})


def test_round_trip(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    read = read_model(tmp_path / "model")
    assert (read.kind, read.configuration, read.training) == ("test", {"order": 2}, {"seed": 1})
    assert read.texts == {"vocabulary.tsv": "školu\t1.5\n"}
    for name, tensor in small_model().tensors.items():
        np.testing.assert_array_equal(read.tensors[name], tensor)
        assert read.tensors[name].dtype == tensor.dtype
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_equal_models_are_equal_bytes(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        write_model(tmp_path / name, small_model())
        contents.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert contents[0] == contents[1]


def test_every_flipped_byte_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    for path in sorted((tmp_path / "model").iterdir()):
        original = path.read_bytes()
        for place in range(len(original)):
            damaged = bytearray(original)
            damaged[place] ^= 0x04
            path.write_bytes(damaged)
            with pytest.raises(FormatError, match=path.name):
                read_model(tmp_path / "model")
        path.write_bytes(original)
    read_model(tmp_path / "model")


def test_every_cut_length_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    for path in sorted((tmp_path / "model").iterdir()):
        original = path.read_bytes()
        for length in range(len(original)):
            path.write_bytes(original[:length])
            with pytest.raises(FormatError, match=path.name):
                read_model(tmp_path / "model")
        path.write_bytes(original)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    (tmp_path / "model" / "vocabulary.tsv").unlink()
    with pytest.raises(FormatError, match=r"vocabulary\.tsv: the file is missing"):
        read_model(tmp_path / "model")


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="there is no such model"):
        read_model(tmp_path / "nothing")
    with pytest.raises(FormatError, match="this is not a model"):
        read_model(tmp_path)


def test_an_unknown_format_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later.setattr(modelfile, "FORMAT_VERSION", 99)
        write_model(tmp_path / "model", small_model())
    with pytest.raises(FormatError, match="format 99, this morphlm reads 1"):
        read_model(tmp_path / "model")


def test_a_folder_that_is_no_model_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="is not a model"):
        write_model(tmp_path / "mine", small_model())
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("exchange", [True, False])
def test_a_model_is_replaced_and_nothing_is_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    if not exchange:
        monkeypatch.setattr(modelfile, "_exchange", lambda one, other: False)
    write_model(tmp_path / "model", small_model(1.0))
    write_model(tmp_path / "model", small_model(2.0))
    assert read_model(tmp_path / "model").tensors["a"][0, 0] == 2.0
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("step", ["save_file", "sha256_of", "_flush_to_disk", "_put_in_place"])
def test_an_interrupted_write_leaves_the_old_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    write_model(tmp_path / "model", small_model(1.0))

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(modelfile, step, interrupt)
        write_model(tmp_path / "model", small_model(2.0))
    assert read_model(tmp_path / "model").tensors["a"][0, 0] == 1.0
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_readers_see_the_old_or_the_new_model_while_a_writer_replaces_it(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model(0.0))
    stop = threading.Event()

    def replace() -> None:
        value = 0.0
        while not stop.is_set():
            value += 1.0
            write_model(tmp_path / "model", small_model(value))

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        for _ in range(100):
            read = read_model(tmp_path / "model")
            assert read.texts["vocabulary.tsv"] == f"školu\t{float(read.tensors['a'][0, 0])}\n"
    finally:
        stop.set()
        writer.join()


def test_the_manifest_is_readable_and_lists_hashes(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    raw = (tmp_path / "model" / MANIFEST).read_bytes()
    manifest = json.loads(raw)
    assert set(manifest["files"]) == {"tensors.safetensors", "vocabulary.tsv"}
    assert canonical_json(manifest) == raw
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".partial")]  # noqa: PTH208
