"""The model directory: manifest.json, tensors.safetensors and readable text files, replaced as a whole.

The manifest holds the format version, the kind of model, its configuration and training record, the SHA-256 of every
other file, and a self-test. A model made of others holds them in `components/`, each with a manifest of its own, whose
SHA-256 stands in the outer one. A directory is written beside its final place and exchanged with what was there in one
step of the operating system; a damaged one is refused, naming the file and the cause. Nothing is executed on loading.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Array
from morphlm.errors import FormatError, InputError
from morphlm.files import cannot_write, partial_path, sha256_of
from morphlm.version import __version__

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
TENSORS = "tensors.safetensors"
COMPONENTS = "components"  # the folder of the models that a model is made of

Opener = Callable[[str, int], int]  # a name and flags to a file descriptor
PartWriter = Callable[[Path], None]  # writes a model directory


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
    parts: Mapping[str, ModelFiles] = field(default_factory=dict)  # name -> the model in COMPONENTS that was read
    digest: str = ""  # SHA-256 of the manifest that was read: equal ones stand for equal models


def canonical_json(content: dict[str, Any]) -> bytes:
    """The one way in which a manifest is written, so that any changed byte shows."""
    return (json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def write_model(directory: str | Path, files: ModelFiles, parts: Mapping[str, PartWriter] | None = None) -> None:
    """Write the directory beside its final place, then put it there in one step.

    `parts` write the models that this one is made of, each into the folder that it is called with.
    """
    check_can_hold_model(directory)
    target = Path(directory).resolve()  # a link stays, what it points to is replaced
    beside = partial_path(target)
    try:
        beside.mkdir(parents=True)
        for name, write_part in (parts or {}).items():
            write_part(beside / COMPONENTS / name)
        _write_files(beside, files, sorted(parts or {}))
        _put_in_place(beside, target)
    except OSError as error:
        raise cannot_write(directory, error) from error
    except InputError as error:  # of a part, whose place has a name for the moment only
        if isinstance(error.__cause__, OSError):
            raise cannot_write(directory, error.__cause__) from error
        raise
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


def _write_files(folder: Path, files: ModelFiles, parts: list[str]) -> None:
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
    if parts:
        manifest["parts"] = {name: sha256_of(folder / COMPONENTS / name / MANIFEST) for name in parts}
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
    """Give `fresh` the name `target`; what was there before is then at `fresh`, or removed."""
    if not target.exists():
        fresh.rename(target)
    elif not _exchange(fresh, target):
        _replace_by_renames(fresh, target)
    with contextlib.suppress(OSError):  # the model is there; some file systems cannot flush a folder
        _flush_to_disk(target.parent)


def _replace_by_renames(fresh: Path, target: Path) -> None:
    """Without an atomic exchange the old model is set aside for the moment between two renames, or put back.

    Set aside it has a name that nobody takes for a leftover: if the process is killed just then, it can be found.
    """
    aside = fresh.with_suffix(".old")
    try:
        target.rename(aside)
        fresh.rename(target)
    except BaseException:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two directories in one step (Linux renameat2 with RENAME_EXCHANGE); False where that is not to be had."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if renameat2 is None:
        return False
    at_fdcwd, rename_exchange = -100, 2
    return bool(renameat2(at_fdcwd, os.fsencode(first), at_fdcwd, os.fsencode(second), rename_exchange) == 0)


def copy_model(source: Path, digest: str, target: Path) -> None:
    """A model directory a second time, hard-linked where the file system allows it, with all models in it.

    `digest` is that of the manifest that was read: if the source has been replaced or damaged since, it is refused.
    """
    try:
        target.mkdir(parents=True)
        _link_or_copy(source / MANIFEST, target / MANIFEST)
        if sha256_of(target / MANIFEST) != digest:
            raise _damaged(source / MANIFEST)
        manifest = _read_manifest(source / MANIFEST, (target / MANIFEST).read_bytes())
        for name, expected in manifest["files"].items():
            _link_or_copy(source / name, target / name)
            if sha256_of(target / name) != expected:
                raise _damaged(source / name)
        for name, expected in manifest.get("parts", {}).items():
            copy_model(source / COMPONENTS / name, expected, target / COMPONENTS / name)
        for path in [*target.iterdir(), target]:
            _flush_to_disk(path)
    except FileNotFoundError as error:
        raise FormatError(f"{source}: a file of this model has gone; copy or make the model again") from error


def _link_or_copy(source: Path, target: Path) -> None:
    """Models are never changed in place, so that a file may belong to several of them."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links, or a file of somebody else's
        shutil.copyfile(source, target)


# ---------------------------------------------------------------- reading


def read_model(directory: str | Path) -> ModelFiles:
    """Read and check a model directory. A writer that replaces it meanwhile leaves the reader with old or new."""
    directory = Path(directory)
    while True:
        with _open_folder(directory) as folder:
            try:
                return _read_folder(directory, folder)
            except FormatError:
                # The directory that we hold open cannot get its name back: if it has it, nobody has replaced it.
                if _is_at(folder, directory):
                    raise


@contextlib.contextmanager
def _open_folder(directory: Path) -> Iterator[int]:
    """A descriptor, relative to which all files are opened: it stays with one directory if the name changes hands."""
    try:
        folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError as error:
        raise FormatError(f"{directory}: there is no such model; check the name") from error
    except OSError as error:
        raise FormatError(f"{directory}: it cannot be read as a model ({error.strerror}); check the name") from error
    try:
        yield folder
    finally:
        os.close(folder)


def _is_at(folder: int, directory: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(folder), directory.stat())
    except OSError:
        return False


def _read_folder(root: Path, folder: int, inside: str = "", digest: str | None = None) -> ModelFiles:
    """The model in `inside`, a path below the open folder; its manifest must have the digest, if one is known."""
    directory = root / inside

    def opener(name: str, flags: int) -> int:
        return os.open(f"{inside}{name}", flags, dir_fd=folder)

    with _opened(directory, MANIFEST, opener) as file:
        raw = file.read()
    actual_digest = hashlib.sha256(raw).hexdigest()
    if digest is not None and actual_digest != digest:
        raise _damaged(directory / MANIFEST)
    manifest = _read_manifest(directory / MANIFEST, raw)
    tensors, texts = _read_contents(directory, manifest["files"], opener)
    parts = {
        name: _read_folder(root, folder, f"{inside}{COMPONENTS}/{name}/", expected)
        for name, expected in manifest.get("parts", {}).items()
    }
    return ModelFiles(
        kind=manifest["kind"],
        configuration=manifest["configuration"],
        training=manifest["training"],
        tensors=tensors,
        texts=texts,
        self_test=manifest["self_test"],
        version=manifest["version"],
        parts=parts,
        digest=actual_digest,
    )


def _read_contents(
    directory: Path, digests: Mapping[str, str], opener: Opener
) -> tuple[dict[str, Array], dict[str, str]]:
    """The tensors and the texts, each checked against its digest."""
    tensors: dict[str, Array] = {}
    texts: dict[str, str] = {}
    for name, digest in digests.items():
        with _opened(directory, name, opener) as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise _damaged(directory / name)
            file.seek(0)
            if name == TENSORS:
                tensors = map_tensors(file)
            else:
                texts[name] = file.read().decode()
    return tensors, texts


@contextlib.contextmanager
def _opened(directory: Path, name: str, opener: Opener) -> Iterator[io.BufferedReader]:
    """A file of a model; whatever goes wrong with it becomes a message that names it."""
    path = directory / name
    try:
        with open(name, "rb", opener=opener) as file:
            yield file
    except FileNotFoundError as error:
        if name == MANIFEST and directory.parent.name != COMPONENTS:
            message = f"this is not a model, {MANIFEST} is missing; name a folder that morphlm wrote"
            raise FormatError(f"{directory}: {message}") from error
        raise FormatError(f"{path}: the file is missing; copy or make the model again") from error
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read ({error.strerror}); check it with `ls -l`") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:  # it was written so
        raise FormatError(f"{path}: its content makes no sense; make the model again") from error


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
    if not _has_its_fields(manifest):
        raise FormatError(f"{path}: it is not complete; make the model again")
    return dict(manifest)


_FIELDS = {"kind": str, "version": str, "configuration": dict, "training": dict, "self_test": list, "files": dict}


def _has_its_fields(manifest: dict[str, Any]) -> bool:
    """Whether all that is read later is there; files and models are named without a path, so that none lies outside."""
    if not all(isinstance(manifest.get(name), kind) for name, kind in _FIELDS.items()):
        return False
    parts = manifest.get("parts", {})
    names = [*manifest["files"], *parts] if isinstance(parts, dict) else [""]
    return all(Path(name).name == name and name not in ("", "..") for name in names)


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
_LONGEST_HEADER = 100_000_000  # bytes, as the library has it


def map_tensors(file: io.BufferedReader) -> dict[str, Array]:
    """The tensors of an open safetensors file as read-only maps: readers of one model share its memory."""
    header_length = int.from_bytes(file.read(8), "little")
    if header_length > _LONGEST_HEADER:
        raise ValueError("no such header")
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
    # np.ascontiguousarray would make a vector of an array without dimensions.
    arrays = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
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
