from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from morphlm import kinds, modelfile
from morphlm.errors import FormatError, InputError
from morphlm.modelfile import (
    COMPONENTS,
    MANIFEST,
    TENSORS,
    ModelFiles,
    PartWriter,
    canonical_json,
    check_self_test,
    read_model,
    write_model,
)
from morphlm.schema import Anything, ArtefactSchema, ListOf, Record, SchemaError, Tensor, Text
from morphlm.tensorfile import map_tensors, write_tensors

SCHEMA = ArtefactSchema(
    configuration=Record({}, is_open=True),
    self_test=ListOf(Anything()),
    texts={"vocabulary.tsv": Text(lines="V")},
    tensors={"a": Tensor("float32", (2, 3)), "b": Tensor("int64", (5,)), "empty": Tensor("float32", (0,))},
)
WITH_PARTS = replace(SCHEMA, has_parts=True)


@pytest.fixture(autouse=True)
def _known_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds.OTHER_SCHEMAS, "test", f"{__name__}:SCHEMA")
    monkeypatch.setitem(kinds.OTHER_SCHEMAS, "test with parts", f"{__name__}:WITH_PARTS")


def model_of_parts() -> ModelFiles:
    return replace(small_model(), kind="test with parts")


def small_model(value: float = 1.5) -> ModelFiles:
    tensors: dict[str, np.ndarray] = {
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


def test_an_array_without_dimensions_comes_back_as_one(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", {"x": np.array(2.5, np.float32), "n": np.array(7, np.int64), "v": np.ones(1)})
    with (tmp_path / "t").open("rb") as file:
        ours = map_tensors(file)
    theirs = load((tmp_path / "t").read_bytes())
    for read in (ours, theirs):
        assert {name: array.shape for name, array in read.items()} == {"x": (), "n": (), "v": (1,)}
        assert (read["x"].item(), read["n"].item()) == (2.5, 7)


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


@pytest.mark.parametrize("step", ["write_tensors", "sha256_of", "_flush_to_disk", "_put_in_place"])
def test_an_interrupted_write_leaves_the_old_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    write_model(tmp_path / "model", small_model(1.0))

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(modelfile, step, interrupt)
        write_model(tmp_path / "model", small_model(2.0))
    assert read_model(tmp_path / "model").tensors["a"][0, 0] == 1.0
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()])
def test_without_an_exchange_a_failure_between_the_renames_puts_the_old_model_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, error: BaseException
) -> None:
    write_model(tmp_path / "model", small_model(1.0))
    renames, rename = iter(range(1, 9)), Path.rename

    def rename_or_fail(path: Path, target: Path) -> Path:
        if next(renames) == failing:
            raise error
        return rename(path, target)

    with monkeypatch.context() as broken, pytest.raises((InputError, KeyboardInterrupt)):
        broken.setattr(modelfile, "_exchange", lambda one, other: False)
        broken.setattr(Path, "rename", rename_or_fail)
        write_model(tmp_path / "model", small_model(2.0))
    assert read_model(tmp_path / "model").tensors["a"][0, 0] == 1.0
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("there", [False, True])
def test_the_folder_is_flushed_after_the_model_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    if there:
        write_model(tmp_path / "model", small_model(1.0))
    flushed: list[tuple[Path, bool]] = []

    def flush(path: Path) -> None:
        is_new = (tmp_path / "model").exists() and read_model(tmp_path / "model").tensors["a"][0, 0] == 2.0
        flushed.append((path, is_new))
        if path == tmp_path:
            raise OSError("not on this file system")

    monkeypatch.setattr(modelfile, "_flush_to_disk", flush)
    write_model(tmp_path / "model", small_model(2.0))
    assert flushed[-1] == (tmp_path, True)
    assert not any(is_new for _, is_new in flushed[:-1])


def test_the_manifest_is_readable_and_lists_hashes(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    raw = (tmp_path / "model" / MANIFEST).read_bytes()
    manifest = json.loads(raw)
    assert set(manifest["files"]) == {"tensors.safetensors", "vocabulary.tsv"}
    assert canonical_json(manifest) == raw
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".partial")]  # noqa: PTH208


# ---------------------------------------------------------------- models made of models


def part(value: float) -> PartWriter:
    return lambda folder: write_model(folder, small_model(value))


def test_parts_are_written_and_read(tmp_path: Path) -> None:
    write_model(tmp_path / "model", model_of_parts(), {"one": part(2.0), "two": part(3.0)})
    read = read_model(tmp_path / "model")
    assert {name: inner.tensors["a"][0, 0] for name, inner in read.parts.items()} == {"one": 2.0, "two": 3.0}
    assert read.parts["one"].digest == read_model(tmp_path / "model" / COMPONENTS / "one").digest
    assert sorted(entry.name for entry in (tmp_path / "model" / COMPONENTS).iterdir()) == ["one", "two"]


def test_a_model_without_parts_says_nothing_of_them(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    assert "parts" not in json.loads((tmp_path / "model" / MANIFEST).read_bytes())
    assert read_model(tmp_path / "model").parts == {}


def test_a_part_that_belongs_to_another_model_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "model", model_of_parts(), {"one": part(2.0)})
    write_model(tmp_path / "model" / COMPONENTS / "one", small_model(3.0))
    with pytest.raises(FormatError, match=r"model/components/one/manifest\.json: it was changed or damaged"):
        read_model(tmp_path / "model")
    shutil.rmtree(tmp_path / "model" / COMPONENTS / "one")
    with pytest.raises(FormatError, match=r"components/one/manifest\.json: the file is missing"):
        read_model(tmp_path / "model")


def test_an_interrupted_part_leaves_the_old_model(tmp_path: Path) -> None:
    def full(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    def fail(folder: Path) -> None:
        write_model(folder, model_of_parts(), {"inner": full})

    write_model(tmp_path / "model", model_of_parts(), {"one": part(2.0)})
    with pytest.raises(InputError, match=rf"^{tmp_path / 'model'}: cannot write here \(No space left on device\)"):
        write_model(tmp_path / "model", model_of_parts(), {"one": part(3.0), "two": fail})
    assert read_model(tmp_path / "model").parts["one"].tensors["a"][0, 0] == 2.0
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


# ---------------------------------------------------------------- manifests that are whole but make no sense


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"files": None}, "files"),
        ({"files": {"../other/manifest.json": "0" * 64}}, "files"),
        ({"kind": 3}, "kind"),
        ({"configuration": []}, "configuration"),
        ({"self_test": {}}, "self_test"),
        ({"parts": []}, "parts"),
        ({"parts": {"../one": "0" * 64}}, "parts"),
        ({"parts": {"..": "0" * 64}}, "parts"),
        ({"parts": {"one": "0" * 64}}, "parts"),
        ({"files": {".": "0" * 64}}, "files"),
        ({"files": {"tensors.safetensors": "0"}}, "files"),
        ({"files": {}}, "tensors.safetensors"),
        ({"files": {"tensors.safetensors": "0" * 64}}, "vocabulary.tsv"),
        ({"format": True}, "format"),
        ({"more": 1}, "more"),
    ],
)
def test_a_manifest_that_lacks_something_is_refused(tmp_path: Path, change: dict[str, object], named: str) -> None:
    write_model(tmp_path / "model", small_model())
    path = tmp_path / "model" / MANIFEST
    manifest = json.loads(path.read_bytes()) | change
    manifest["sha256"] = modelfile._manifest_digest(manifest)
    path.write_bytes(canonical_json(manifest))
    with pytest.raises(FormatError, match=rf"manifest\.json: .*{named}"):
        read_model(tmp_path / "model")


@pytest.mark.parametrize("raw", [b"[]\n", b"3\n", b"null\n", b"[" * 100_000, b"\xff", b""])
def test_what_is_no_manifest_is_refused(tmp_path: Path, raw: bytes) -> None:
    write_model(tmp_path / "model", small_model())
    (tmp_path / "model" / MANIFEST).write_bytes(raw)
    with pytest.raises(FormatError, match=r"manifest\.json: not a manifest"):
        read_model(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (TENSORS, b""),
        (TENSORS, b"\xff" * 8),
        (TENSORS, b"\0\0\x10\0\0\0\0\0" + b"[" * (1 << 20)),
        (TENSORS, b"\x02\0\0\0\0\0\0\0[]"),
        (TENSORS, b"\x04\0\0\0\0\0\0\0null"),
        (TENSORS, b'\x0a\0\0\0\0\0\0\0{"a":null}'),
        (TENSORS, b'\x39\0\0\0\0\0\0\0{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}  ' + bytes(8)),
        ("vocabulary.tsv", b"\xff\n"),
    ],
)
def test_content_that_was_written_so_but_makes_no_sense_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    write_model(tmp_path / "model", small_model())
    (tmp_path / "model" / name).write_bytes(content)
    path = tmp_path / "model" / MANIFEST
    manifest = json.loads(path.read_bytes())
    manifest["files"][name] = hashlib.sha256(content).hexdigest()
    manifest["sha256"] = modelfile._manifest_digest(manifest)
    path.write_bytes(canonical_json(manifest))
    with pytest.raises(FormatError, match=f"model/{name}: "):
        read_model(tmp_path / "model")


# ---------------------------------------------------------------- notes


def test_notes_are_written_but_neither_hashed_nor_read(tmp_path: Path) -> None:
    write_model(tmp_path / "model", replace(small_model(), notes={"log.jsonl": "{}\n"}))
    assert (tmp_path / "model" / "log.jsonl").read_text() == "{}\n"
    assert set(json.loads((tmp_path / "model" / MANIFEST).read_bytes())["files"]) == {TENSORS, "vocabulary.tsv"}
    (tmp_path / "model" / "log.jsonl").write_text("changed")
    assert read_model(tmp_path / "model").notes == {}
    (tmp_path / "model" / "log.jsonl").unlink()
    assert set(read_model(tmp_path / "model").texts) == {"vocabulary.tsv"}


def test_notes_do_not_change_the_other_files(tmp_path: Path) -> None:
    write_model(tmp_path / "with", replace(small_model(), notes={"log.jsonl": "{}\n"}))
    write_model(tmp_path / "without", small_model())
    for path in (tmp_path / "without").iterdir():
        assert (tmp_path / "with" / path.name).read_bytes() == path.read_bytes()


# ---------------------------------------------------------------- tensors, with the library as the oracle

DTYPES = ["<f8", "<f4", "<f2", "<i8", "<i4", "<u8", "<u4", "|u1"]
shapes = st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)
specifications = st.dictionaries(
    st.text("abcdefghijkQRS_.", min_size=1, max_size=9), st.tuples(shapes, st.sampled_from(DTYPES)), max_size=6
)


def arrays_of(specification: dict[str, tuple[tuple[int, ...], str]]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {name: rng.integers(0, 99, shape).astype(dtype) for name, (shape, dtype) in specification.items()}


@given(specifications)
def test_the_library_reads_what_is_written(
    tmp_path_factory: pytest.TempPathFactory, specification: dict[str, tuple[tuple[int, ...], str]]
) -> None:
    arrays, path = arrays_of(specification), tmp_path_factory.mktemp("tensors") / TENSORS
    write_tensors(path, arrays)
    assert_equal_arrays(load(path.read_bytes()), arrays)
    assert data_size(path.read_bytes()) == data_size(save(arrays))


def data_size(file: bytes) -> int:
    """Bytes behind the header; its own length depends on the order of the tensors, by the digits of their offsets."""
    length = int.from_bytes(file[:8], "little")
    assert length % 8 == 0
    return len(file) - 8 - length


@given(specifications)
def test_what_the_library_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, specification: dict[str, tuple[tuple[int, ...], str]]
) -> None:
    arrays, path = arrays_of(specification), tmp_path_factory.mktemp("tensors") / TENSORS
    path.write_bytes(save(arrays, metadata={"made": "elsewhere"}))
    with path.open("rb") as file:
        assert_equal_arrays(map_tensors(file), arrays)


def assert_equal_arrays(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert set(found) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)


def test_arrays_in_another_order_of_memory_are_written_in_theirs(tmp_path: Path) -> None:
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    write_tensors(tmp_path / TENSORS, {"columns": table.T, "every": table[:, ::2]})
    read = load((tmp_path / TENSORS).read_bytes())
    np.testing.assert_array_equal(read["columns"], table.T)
    np.testing.assert_array_equal(read["every"], table[:, ::2])


def test_what_is_read_cannot_be_changed(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    with pytest.raises(ValueError, match="read-only"):
        read_model(tmp_path / "model").tensors["a"][0, 0] = 2.0


# ---------------------------------------------------------------- files of strangers


@pytest.mark.parametrize("name", [MANIFEST, TENSORS, "vocabulary.tsv"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "loop"])
def test_only_regular_files_are_read(tmp_path: Path, name: str, kind: str) -> None:
    """A pipe would block, /dev/zero would never end."""
    write_model(tmp_path / "model", small_model())
    path = tmp_path / "model" / name
    path.unlink()
    makers: dict[str, Callable[[], None]] = {
        "pipe": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "folder": path.mkdir,
        "loop": lambda: path.symlink_to(name),
    }
    makers[kind]()
    with pytest.raises(FormatError, match=rf"model/{name}: (this is no regular file|it cannot be read)"):
        read_model(tmp_path / "model")


def test_links_to_regular_files_are_followed(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    for name in (MANIFEST, TENSORS, "vocabulary.tsv"):
        (tmp_path / "model" / name).rename(tmp_path / name)
        (tmp_path / "model" / name).symlink_to(tmp_path / name)
    assert read_model(tmp_path / "model").tensors["a"][0, 0] == 1.5


def test_a_file_that_claims_to_be_huge_is_refused_before_it_is_hashed(tmp_path: Path) -> None:
    write_model(tmp_path / "model", small_model())
    for name, size in ((MANIFEST, 1 << 40), ("vocabulary.tsv", 1 << 40), (TENSORS, 1 << 40), (TENSORS, 1 << 37)):
        original = (tmp_path / "model" / name).read_bytes()
        with (tmp_path / "model" / name).open("r+b") as file:
            file.truncate(size)
        with pytest.raises(FormatError, match=f"model/{name}: .*{size:,}"):
            read_model(tmp_path / "model")
        (tmp_path / "model" / name).write_bytes(original)


def test_a_manifest_that_would_take_long_to_check_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "model", replace(small_model(), training={"text": "a" * (16 << 20)}))
    with pytest.raises(FormatError, match=r"manifest.json: .*bytes"):
        read_model(tmp_path / "model")


@pytest.mark.parametrize(
    "self_test",
    [
        [{"tokens": ["a"] * 21, "logprobs": [-1.0] * 21}],
        [{"tokens": ["a"], "logprobs": [-1.0] * 22}],
        [{"tokens": ["a"], "logprobs": [-1.0, -1.0]}] * 21,
    ],
)
def test_a_self_test_that_would_take_long_is_refused(self_test: list[dict[str, Any]]) -> None:
    with pytest.raises(SchemaError, match="self_test"):
        ArtefactSchema().check_records({}, {}, self_test)


def test_a_self_test_that_fails_quotes_no_more_than_the_beginning_of_its_words() -> None:
    case = {"tokens": ["\x1b\n" * 100_000], "logprobs": [-1.0, -1.0]}
    with pytest.raises(FormatError) as refused:
        check_self_test("model", [case], lambda tokens: [-2.0, -2.0])
    assert len(str(refused.value)) < 2100
    assert str(refused.value).startswith("model: the self-test failed on '\\x1b\\n")
    assert str(refused.value).endswith("do not agree, train it again")


def chain(folder: Path, depth: int) -> list[Path]:
    """Models of two parts that are one model of two parts ...: level k has 2^k models at its end, in k + 1 folders."""
    places = [folder / "0"]
    write_model(places[0], small_model())
    for level in range(1, depth + 1):
        outer, inner = folder / str(level), places[-1]
        write_model(outer, model_of_parts(), {"one": part(1.0), "two": part(1.0)})
        manifest = json.loads((outer / MANIFEST).read_bytes())
        for name in ("one", "two"):
            shutil.rmtree(outer / COMPONENTS / name)
            (outer / COMPONENTS / name).symlink_to(inner)
            manifest["parts"][name] = hashlib.sha256((inner / MANIFEST).read_bytes()).hexdigest()
        manifest["sha256"] = modelfile._manifest_digest(manifest)
        (outer / MANIFEST).write_bytes(canonical_json(manifest))
        places.append(outer)
    return places


def test_models_in_models_are_bounded_and_each_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Path] = []
    check = modelfile._check_digest

    def count(path: Path, *rest: Any) -> None:
        hashed.append(path)
        check(path, *rest)

    monkeypatch.setattr(modelfile, "_check_digest", count)
    places = chain(tmp_path / "models", 10)
    assert read_model(places[5]).models == 63
    assert len(hashed) == 12  # the tensors and the text of each of the six levels
    for place in places[6:]:
        with pytest.raises(FormatError, match="this is made of more than 100 models, or more than 8 levels of them"):
            read_model(place)
