"""The model directory: manifest.json, tensors.safetensors and readable text files, replaced as a whole.

The manifest holds the format version, the kind of model, its configuration and training record, the SHA-256 of every
other file, and a self-test. A directory is written beside its final place and exchanged with what was there in one
step of the operating system; a damaged one is refused, naming the file and the cause. Nothing is executed on loading.
"""

from __future__ import annotations

import ctypes
import hashlib
import io
import json
import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.errors import FormatError, InputError
from morphlm.files import cannot_write, sha256_of
from morphlm.version import __version__

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
TENSORS = "tensors.safetensors"

Array = NDArray[Any]


@dataclass(frozen=True)
class ModelFiles:
    """What a model directory holds, in memory; the tensors that were read are maps of the file."""

    kind: str  # "mkn", "clbl++", ...
    configuration: dict[str, Any]  # what the model is: order, vocabulary policy, ...
    training: dict[str, Any]  # how it came about: seed, preparation of the text, discounts, warnings, ...
    tensors: Mapping[str, Array]
    texts: Mapping[str, str] = field(default_factory=dict)  # file name -> content
    self_test: list[dict[str, Any]] = field(default_factory=list)  # {"tokens": [...], "logprobs": [...]}
    notes: Mapping[str, str] = field(default_factory=dict)  # files for people: not hashed, not read, may change
    version: str = __version__


def canonical_json(content: dict[str, Any]) -> bytes:
    """The one way in which a manifest is written, so that any changed byte shows."""
    return (json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def write_model(directory: str | Path, files: ModelFiles) -> None:
    """Write the directory beside its final place, then put it there in one step."""
    check_can_hold_model(directory)
    target = Path(directory).resolve()  # a link stays, what it points to is replaced
    beside = target.with_name(f".{target.name[:200]}.{uuid.uuid4().hex[:8]}.partial")
    try:
        beside.mkdir(parents=True)
        _write_files(beside, files)
        _put_in_place(beside, target)
    except OSError as error:
        raise cannot_write(directory, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def check_can_hold_model(directory: str | Path) -> None:
    """Refuse, before any work is done, a place that a model must not or cannot take."""
    directory = Path(directory)
    try:
        is_model = (directory / MANIFEST).is_file()
        is_free = not directory.exists() or (directory.is_dir() and not any(directory.iterdir()))
        if not (is_model or is_free):
            raise InputError("this exists and is not a model; choose another place or remove it", source=str(directory))
    except OSError as error:
        raise cannot_write(directory, error) from error


def _write_files(folder: Path, files: ModelFiles) -> None:
    for name, text in [*files.texts.items(), *files.notes.items()]:
        (folder / name).write_bytes(text.encode())
    write_tensors(folder / TENSORS, files.tensors)
    names = sorted([*files.texts, TENSORS])
    manifest = {
        "format": FORMAT_VERSION,
        "version": files.version,
        "kind": files.kind,
        "configuration": files.configuration,
        "training": files.training,
        "self_test": files.self_test,
        "files": {name: sha256_of(folder / name) for name in names},
    }
    manifest["sha256"] = _manifest_digest(manifest)
    (folder / MANIFEST).write_bytes(canonical_json(manifest))
    for path in [*folder.iterdir(), folder]:
        _flush_to_disk(path)


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _manifest_digest(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json({k: v for k, v in manifest.items() if k != "sha256"})).hexdigest()


def _put_in_place(fresh: Path, target: Path) -> None:
    """Give `fresh` the name `target`; afterwards `fresh` holds what was there before, if anything was."""
    if not target.exists():
        fresh.rename(target)
    elif not _exchange(fresh, target):
        # No atomic exchange on this system: the old model is set aside for the moment between two renames.
        aside = fresh.with_suffix(".old")
        target.rename(aside)
        fresh.rename(target)
        aside.rename(fresh)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two directories in one step (Linux renameat2 with RENAME_EXCHANGE); False where that is not to be had."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if renameat2 is None:
        return False
    at_fdcwd, rename_exchange = -100, 2
    return bool(renameat2(at_fdcwd, os.fsencode(one), at_fdcwd, os.fsencode(other), rename_exchange) == 0)


def read_model(directory: str | Path) -> ModelFiles:
    """Read and check a model directory. A writer that replaces it meanwhile leaves the reader with old or new."""
    directory = Path(directory)
    while True:
        identity = _identity(directory)
        try:
            return _read_checked(directory)
        except FormatError:
            if _identity(directory) == identity:
                raise


def _identity(directory: Path) -> tuple[int, int] | None:
    try:
        status = directory.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _read_checked(directory: Path) -> ModelFiles:
    try:
        # All files are opened relative to this descriptor: it stays with one directory even if the name changes hands.
        folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError as error:
        raise FormatError(f"{directory}: there is no such model; check the name") from error
    except OSError as error:
        raise FormatError(f"{directory}: it cannot be read as a model ({error.strerror}); check the name") from error
    try:
        return _read_folder(directory, lambda name, flags: os.open(name, flags, dir_fd=folder))
    finally:
        os.close(folder)


def _read_folder(directory: Path, opener: Callable[[str, int], int]) -> ModelFiles:
    with _open_in(directory, MANIFEST, opener) as file:
        manifest = _read_manifest(directory / MANIFEST, file.read())
    tensors: dict[str, Array] = {}
    texts: dict[str, str] = {}
    for name, digest in manifest["files"].items():
        with _open_in(directory, name, opener) as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise _damaged(directory / name)
            file.seek(0)
            if name == TENSORS:
                tensors = map_tensors(file)
            else:
                texts[name] = file.read().decode()
    return ModelFiles(
        kind=manifest["kind"],
        configuration=manifest["configuration"],
        training=manifest["training"],
        tensors=tensors,
        texts=texts,
        self_test=manifest["self_test"],
        version=manifest["version"],
    )


def _open_in(directory: Path, name: str, opener: Callable[[str, int], int]) -> io.BufferedReader:
    try:
        return open(name, "rb", opener=opener)
    except FileNotFoundError as error:
        if name == MANIFEST:
            what = f"this is not a model, {MANIFEST} is missing; name a folder that morphlm wrote"
            raise FormatError(f"{directory}: {what}") from error
        raise FormatError(f"{directory / name}: the file is missing; copy or make the model again") from error
    except OSError as error:
        raise FormatError(f"{directory / name}: it cannot be read ({error.strerror}); check it with `ls -l`") from error


def _damaged(path: Path) -> FormatError:
    return FormatError(f"{path}: it was changed or damaged after it was written; copy or make the model again")


def _read_manifest(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(raw)
        version = manifest["format"]
        intact = canonical_json(manifest) == raw and manifest["sha256"] == _manifest_digest(manifest)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FormatError(f"{path}: not a manifest ({type(error).__name__}); copy or make the model again") from error
    if not intact:
        raise _damaged(path)
    if version != FORMAT_VERSION:
        raise FormatError(
            f"{path}: format {version}, this morphlm reads {FORMAT_VERSION}; use the version that wrote it"
        )
    return dict(manifest)


_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "U64": "<u8",
    "U32": "<u4",
    "U8": "|u1",
}


def map_tensors(file: io.BufferedReader) -> dict[str, Array]:
    """The tensors of an open safetensors file as read-only maps: readers of one model share its memory."""
    header_length = int.from_bytes(file.read(8), "little")
    header = json.loads(file.read(header_length))
    header.pop("__metadata__", None)
    data = np.memmap(file, mode="r", offset=8 + header_length) if _has_data(header) else np.zeros(0, np.uint8)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = np.asarray(data[begin:end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"]))
    return tensors


def write_tensors(path: Path, tensors: Mapping[str, Array]) -> None:
    """A safetensors file, written array by array: the library would hold a second copy of all of them in memory.

    Larger items come first, then by name, as the library orders them, so that every array is aligned to its items.
    """
    arrays = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    codes = {np.dtype(dtype): code for code, dtype in _DTYPES.items()}
    header: dict[str, Any] = {}
    end = 0
    for name in order:
        begin, end = end, end + arrays[name].nbytes
        header[name] = {
            "dtype": codes[arrays[name].dtype],
            "shape": list(arrays[name].shape),
            "data_offsets": [begin, end],
        }
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    with path.open("wb") as file:
        file.write(len(encoded).to_bytes(8, "little") + encoded)
        for name in order:
            file.write(arrays[name].reshape(-1).view(np.uint8).data)


def _has_data(header: dict[str, Any]) -> bool:
    return any(entry["data_offsets"][1] for entry in header.values())


def check_self_test(
    directory: str | Path, self_test: list[dict[str, Any]], score: Callable[[list[str]], list[float]]
) -> None:
    """Score the stored sentences with the model that was just loaded; the figures must be those of its making."""
    for case in self_test:
        got = score(case["tokens"])
        if len(got) != len(case["logprobs"]) or not np.allclose(got, case["logprobs"], rtol=1e-4, atol=1e-4):
            raise FormatError(
                f"{directory}: the self-test failed on {' '.join(case['tokens'])!r}; the model and this version of "
                "morphlm do not agree, train it again"
            )
