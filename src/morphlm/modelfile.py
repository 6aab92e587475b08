"""The model directory: manifest.json, tensors.safetensors and readable text files, replaced as a whole.

The manifest holds the format version, the kind of model, its configuration and training record, the SHA-256 of every
other file, and a self-test; the schema of the kind says what may be in all of them. A model made of others holds them
in `components/`, each with a manifest of its own, whose SHA-256 stands in the outer one. A directory is written beside
its final place and exchanged with what was there in one step of the operating system; one that is damaged or does not
fit its schema is refused, naming the file and the cause. Nothing is executed on loading.
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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Array, release_pages
from morphlm.display import dataclass_repr
from morphlm.errors import FormatError, InputError, MissingModelError, MorphlmError
from morphlm.files import cannot_write, checked_path, open_regular, partial_folder, read_regular, sha256_of
from morphlm.kinds import find_schema, kind_names
from morphlm.schema import (
    DIGEST,
    FILE_NAME,
    Anything,
    ArtefactSchema,
    Contents,
    Integer,
    ListOf,
    MapOf,
    Record,
    SchemaError,
    String,
    parse_json,
)
from morphlm.tensorfile import map_tensors, read_layouts, write_tensors
from morphlm.version import __version__
from morphlm.wording import either

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
TENSORS = "tensors.safetensors"
COMPONENTS = "components"  # the folder of the models that a model is made of
# A directory that `morphlm learn` has written: its record, the model and the segmenter in it.
LEARNED_RECORD, LEARNED_MODEL, LEARNED_SEGMENTER = "learn.json", "model", "segmenter"

LARGEST_MANIFEST, LARGEST_TENSORS = 1 << 24, 1 << 38  # bytes; a megabyte of JSON takes up to half a second
MOST_PARTS, DEEPEST_PARTS = 100, 8  # models in a model, counted as often as they occur; levels of them

MANIFEST_SCHEMA = Record(
    {
        "format": Integer(),
        "version": String(longest=100),
        "kind": String(longest=100),
        "configuration": Record({}, is_open=True),
        "training": Record({}, is_open=True),
        "self_test": ListOf(Anything()),
        "files": MapOf(DIGEST, keys=FILE_NAME, longest=100),
        "sha256": DIGEST,
    },
    optional={"parts": MapOf(DIGEST, keys=FILE_NAME, longest=MOST_PARTS)},
)

PartWriter = Callable[[Path], object]  # writes a model directory


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

    __repr__ = dataclass_repr

    @property
    def models(self) -> int:
        """How many models it is, those in it counted as often as they occur."""
        return 1 + sum(part.models for part in self.parts.values())


def canonical_json(content: dict[str, Any]) -> bytes:
    """The one way in which a manifest is written, so that any changed byte shows."""
    return (json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def write_model(directory: str | Path, files: ModelFiles, parts: Mapping[str, PartWriter] | None = None) -> str:
    """Write the directory beside its final place, then put it there in one step; gives the digest of its manifest.

    `files` are its content. `parts` write the models that this one is made of, each into the folder that it is called
    with.
    """
    check_can_hold_model(directory)
    target = Path(directory).resolve()  # a link stays, what it points to is replaced
    try:
        with partial_folder(target) as beside:
            for name, write_part in (parts or {}).items():
                write_part(beside / COMPONENTS / name)
            _write_files(beside, files, sorted(parts or {}))
            digest = sha256_of(beside / MANIFEST)
            _put_in_place(beside, target)
            return digest
    except MorphlmError as error:
        # Of a part, whose place has a name for the moment only.
        if isinstance(error, InputError) and isinstance(error.__cause__, OSError):
            raise cannot_write(directory, error.__cause__) from error
        raise
    except OSError as error:
        raise cannot_write(directory, error) from error


def check_can_hold_model(directory: str | Path) -> None:
    """Refuse, before any work is done, a place that a model must not or cannot take."""
    directory = checked_path(directory)
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


def learned_part(directory: str | Path, part: str = LEARNED_MODEL) -> Path:
    """The model, or another part, in a directory of `morphlm learn`; any other directory itself."""
    directory = checked_path(directory)
    if not (directory / LEARNED_RECORD).is_file() or (directory / MANIFEST).exists():
        return directory
    if not (directory / part).is_dir():
        raise FormatError(
            f"{directory}: there is no {part} here yet; go on with "
            f"{either(f'`morphlm learn ... --out {directory}`', f'`learn(..., {str(directory)!r})`')}, which "
            "was interrupted"
        )
    return directory / part


def copy_model(source: Path, digest: str, target: Path) -> None:
    """A model directory a second time, hard-linked where the file system allows it, with all models in it.

    `digest` is that of the manifest that was read: if the source has been replaced or damaged since, it is refused.
    """
    source = learned_part(source)
    try:
        target.mkdir(parents=True)
        _link_or_copy(source / MANIFEST, target / MANIFEST)
        if sha256_of(target / MANIFEST) != digest:
            raise _damaged(source / MANIFEST)
        manifest = _read_manifest(source / MANIFEST, read_regular(target / MANIFEST, LARGEST_MANIFEST))
        for name, expected in manifest["files"].items():
            _link_or_copy(source / name, target / name)
            if sha256_of(target / name) != expected:
                raise _damaged(source / name)
        for name, expected in manifest.get("parts", {}).items():
            copy_model(source / COMPONENTS / name, expected, target / COMPONENTS / name)
        for path in [*target.iterdir(), target]:
            _flush_to_disk(path)
    except FormatError:
        raise
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
    """Read a directory and check it against the schema of its kind.

    A writer that replaces it meanwhile leaves the reader with the old or the new one. Where `morphlm learn` has
    written the directory, the model in it is read.
    """
    directory = learned_part(directory)
    while True:
        with _open_folder(directory) as folder:
            try:
                return _Reading(directory, folder).read()
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
        raise MissingModelError(f"{directory}: there is no such model; check the name") from error
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


@dataclass
class _Reading:
    """One reading of a directory with all models in it; what it costs is bounded, however they are linked."""

    root: Path
    folder: int  # descriptor of the root
    known: dict[str, ModelFiles] = field(default_factory=dict)  # by the digest of the manifest: each is read once

    def read(self, inside: str = "", digest: str | None = None, depth: int = 0) -> ModelFiles:
        """The model in `inside`, a path below the root; its manifest must have the digest, if one is known."""
        if digest is not None and digest in self.known:
            return self.known[digest]
        directory = self.root / inside
        if depth > DEEPEST_PARTS or len(self.known) >= MOST_PARTS:
            raise _too_many_parts(directory)
        with self._opened(inside, MANIFEST, LARGEST_MANIFEST) as file:
            raw = file.read(LARGEST_MANIFEST)
        actual_digest = hashlib.sha256(raw).hexdigest()
        if digest is not None and actual_digest != digest:
            raise _damaged(directory / MANIFEST)
        manifest = _read_manifest(directory / MANIFEST, raw)
        files = self._read_contents(inside, manifest)
        parts = {
            name: self.read(f"{inside}{COMPONENTS}/{name}/", expected, depth + 1)
            for name, expected in manifest.get("parts", {}).items()
        }
        files = replace(files, parts=parts, digest=actual_digest)
        if files.models > MOST_PARTS:
            raise _too_many_parts(directory)
        self.known[actual_digest] = files
        return files

    def _read_contents(self, inside: str, manifest: dict[str, Any]) -> ModelFiles:
        """The texts and tensors, each checked against its digest and the schema: first what is small."""
        directory, digests = self.root / inside, manifest["files"]
        schema = _schema_of(directory, manifest["kind"])
        configuration = manifest["configuration"]
        with _fitting(directory / MANIFEST):
            schema.check_records(configuration, manifest["training"], manifest["self_test"])
            if bool(manifest.get("parts")) != schema.has_parts:
                raise SchemaError("it should have parts" if schema.has_parts else "it should have no parts")
            if TENSORS not in digests:
                raise SchemaError(f"the file {TENSORS} is missing")
            declared = schema.texts_of(configuration, {name: None for name in digests if name != TENSORS})
        texts = {name: self._read_text(inside, name, text.largest, digests[name]) for name, text in declared.items()}
        with _fitting(directory):
            sizes = schema.check_texts(configuration, texts)
        contents = Contents(configuration, manifest["training"], texts, parts=tuple(manifest.get("parts", ())))
        with self._opened(inside, TENSORS, LARGEST_TENSORS) as file, _fitting(directory / TENSORS):
            layouts = read_layouts(file)
            contents = replace(contents, layouts=layouts)
            schema.check_tensors(contents, layouts, sizes)
            _check_digest(directory / TENSORS, file, digests[TENSORS])
            tensors = map_tensors(file)
            schema.check_contents(replace(contents, tensors=tensors, sizes=sizes))
            for tensor in list(tensors.values())[:1]:  # all are maps of one file
                release_pages(tensor)
        return ModelFiles(
            kind=manifest["kind"],
            configuration=configuration,
            training=manifest["training"],
            tensors=tensors,
            texts=texts,
            self_test=manifest["self_test"],
            version=manifest["version"],
        )

    def _read_text(self, inside: str, name: str, largest: int, digest: str) -> str:
        with self._opened(inside, name, largest) as file:
            _check_digest(self.root / inside / name, file, digest)
            return file.read(largest).decode()

    @contextlib.contextmanager
    def _opened(self, inside: str, name: str, largest: int) -> Iterator[io.BufferedReader]:
        """A file of a model; whatever goes wrong with it becomes a message that names it."""
        directory = self.root / inside
        path = directory / name
        try:
            with open_regular(f"{inside}{name}", largest, dir_fd=self.folder) as file:
                yield file
        except FileNotFoundError as error:
            if name == MANIFEST and not inside:
                message = f"this is not a model, {MANIFEST} is missing; name a folder that morphlm wrote"
                raise FormatError(f"{directory}: {message}") from error
            raise FormatError(f"{path}: the file is missing; copy or make the model again") from error
        except OSError as error:
            raise FormatError(f"{path}: it cannot be read ({error.strerror}); check it with `ls -l`") from error
        except UnicodeDecodeError as error:
            raise FormatError(f"{path}: byte {error.start} is not UTF-8; make the model again") from error
        except FormatError as error:
            # `open_regular` knows only the name inside the folder.
            problem = str(error).removeprefix(f"{inside}{name}: ")
            if problem == str(error):
                raise
            raise FormatError(f"{path}: {problem}") from error


def _schema_of(directory: Path, kind: str) -> ArtefactSchema:
    schema = find_schema(kind)
    if schema is None:
        known = ", ".join(sorted(kind_names(trainable=False)))
        raise FormatError(
            f"{directory}: a model of the kind {kind!a}; this morphlm knows {known}, use a newer one or install the "
            "package that has it"
        )
    return schema


@contextlib.contextmanager
def _fitting(path: Path) -> Iterator[None]:
    """What does not fit the schema names the file. The hashes may be right: then it was written so."""
    try:
        yield
    except SchemaError as problem:
        raise FormatError(f"{path}: {problem}; copy or make the model again") from problem


def _check_digest(path: Path, file: io.BufferedReader, digest: str) -> None:
    file.seek(0)
    if hashlib.file_digest(file, "sha256").hexdigest() != digest:
        raise _damaged(path)
    file.seek(0)


def _damaged(path: Path) -> FormatError:
    return FormatError(f"{path}: it was changed or damaged after it was written; copy or make the model again")


def _too_many_parts(directory: Path) -> FormatError:
    bounds = f"more than {MOST_PARTS} models, or more than {DEEPEST_PARTS} levels of them"
    return FormatError(f"{directory}: this is made of {bounds}; mix fewer")


def _read_manifest(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        manifest = parse_json(raw, "the manifest")
        if not isinstance(manifest, dict) or "format" not in manifest:
            raise SchemaError("no object with a format")
        intact = canonical_json(manifest) == raw and manifest.get("sha256") == _manifest_digest(manifest)
    except SchemaError as error:
        raise FormatError(f"{path}: not a manifest ({error}); copy or make the model again") from error
    if not intact:
        raise _damaged(path)
    if manifest["format"] != FORMAT_VERSION:
        raise FormatError(
            f"{path}: format {ascii(manifest['format'])[:60]}, this morphlm reads {FORMAT_VERSION}; use the version "
            "that wrote it"
        )
    with _fitting(path):
        MANIFEST_SCHEMA.check(manifest, "the manifest")
    return manifest


def check_self_test(
    directory: str | Path, self_test: list[dict[str, Any]], score: Callable[[list[str]], list[float]]
) -> None:
    """Call `score` with the sentences of a `self_test`; they must give the figures that they gave when it was saved."""
    for case in self_test:
        got = score(case["tokens"])
        if len(got) != len(case["logprobs"]) or not np.allclose(got, case["logprobs"], rtol=1e-4, atol=1e-4):
            raise FormatError(
                f"{directory}: the self-test failed on {' '.join(case['tokens'])!r}; the model and this version of "
                "morphlm do not agree, train it again"
            )
