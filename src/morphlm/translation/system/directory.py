"""The directory of a translation system: what its manifest says, how it is written and checked.

    system.json     format, settings, and of each stage a hash of what it depends on and the hashes of what it made
    text/           the prepared training text and its alignment
    bitext/         what rules are found in (see grammar/bitext.py)
    lm/NAME/        the language models, a model directory each
    rules.gz        rules of a file, if any
    recaser/        an n-gram model of target text with capitals, if translations are to have them
    tuning/         what an interrupted tuning needs to go on
    weights.json    of each tuning run

The manifest is written after each stage, in one step. A stage that it lists is complete.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from morphlm.errors import FormatError, InputError, MissingModelError
from morphlm.files import atomic_writer, cannot_write, check_can_make, checked_path, read_regular, sha256_of
from morphlm.modelfile import MANIFEST as MODEL_MANIFEST
from morphlm.modelfile import canonical_json
from morphlm.schema import Document, SchemaError, parse_json
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.schema import AGAIN, FORMAT, KIND, SYSTEM
from morphlm.version import __version__
from morphlm.wording import either

MANIFEST, WEIGHTS, LOCK = "system.json", "weights.json", ".lock"
TEXTS, BITEXT, MODELS, TUNING = "text", "bitext", "lm", "tuning"
SOURCE_TEXT, TARGET_TEXT, ALIGNMENT = f"{TEXTS}/source.txt", f"{TEXTS}/target.txt", f"{TEXTS}/alignment.txt"
EXTRA_RULES = "rules.gz"
RECASER = "recaser"


@dataclass(frozen=True)
class Stage:
    """What is known of a stage that is complete."""

    key: str  # a hash of all that it depends on
    files: Mapping[str, str]  # path in the directory -> SHA-256; of a model directory its manifest's
    figures: Mapping[str, Any] = field(default_factory=dict)  # what it has to tell

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "files": dict(self.files), "figures": dict(self.figures)}


@dataclass(frozen=True)
class Manifest:
    """What a directory holds."""

    config: SystemConfig
    models: tuple[str, ...] = ()  # their names, in order
    stages: Mapping[str, Stage] = field(default_factory=dict)

    def with_stage(self, name: str, stage: Stage) -> Manifest:
        return replace(self, stages={**self.stages, name: stage})

    def write(self, directory: Path) -> None:
        content = {
            "format": FORMAT,
            "kind": KIND,
            "version": __version__,
            "config": self.config.to_json(),
            "models": list(self.models),
            "stages": {name: stage.to_json() for name, stage in self.stages.items()},
        }
        write_signed(directory / MANIFEST, content)


def write_signed(path: Path, content: dict[str, Any]) -> None:
    """JSON with its own SHA-256 in it, so that any changed byte shows."""
    with atomic_writer(path, is_ours=True) as file:
        file.write(canonical_json(content | {"sha256": _digest(content)}))


def read_signed(path: Path, document: Document) -> dict[str, Any]:
    """The reverse, for content that fits its schema; anything else is a FormatError."""
    try:
        raw = read_regular(path, document.largest)
        content = parse_json(raw, "the content")
        is_intact = isinstance(content, dict) and canonical_json(content) == raw
        if not is_intact or content.get("sha256") != _digest({k: v for k, v in content.items() if k != "sha256"}):
            raise FormatError(f"{path}: it was changed or damaged after it was written; {AGAIN}")
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read ({error.strerror}); check it with `ls -l`") from error
    except SchemaError as problem:
        raise FormatError(f"{path}: it was changed or damaged ({problem}); {AGAIN}") from problem
    return {name: value for name, value in document.parse(raw, str(path)).items() if name != "sha256"}


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(content)).hexdigest()


def read_manifest(directory: str | Path) -> Manifest:
    """What a directory says of itself."""
    path = checked_path(directory) / MANIFEST
    if not Path(directory).is_dir():
        raise MissingModelError(f"{directory}: there is no such translation system; check the name")
    if not path.is_file():
        problem = (
            f"this is no translation system, {MANIFEST} is missing; name a folder of "
            f"{either('`morphlm translate build`', '`build_system`')}"
        )
        raise FormatError(f"{directory}: {problem}")
    content = read_signed(path, SYSTEM)
    try:
        config = SystemConfig.from_json(content["config"])
    except FormatError as error:
        raise FormatError(f"{path}: its content makes no sense ({error}); {AGAIN}") from error
    return Manifest(
        config, tuple(content["models"]), {name: Stage(**stage) for name, stage in content["stages"].items()}
    )


def check_can_hold_system(directory: str | Path) -> None:
    """Refuse, before any work is done, a place that a system must not or cannot take."""
    folder = Path(directory)
    check_can_make(folder)
    try:
        taken = folder.exists() and not (folder.is_dir() and {path.name for path in folder.iterdir()} <= {LOCK})
    except OSError as error:
        raise cannot_write(folder, error) from error
    if taken and not (folder / MANIFEST).is_file():
        raise InputError("this exists and is no translation system; choose another place", source=str(folder))


def check_files(directory: Path, stage: Stage) -> None:
    """The files of a stage must be those that it made; of model directories only the manifest is looked at."""
    for name, digest in stage.files.items():
        path = directory / name
        path = path / MODEL_MANIFEST if path.is_dir() else path
        try:
            actual = sha256_of(path)
        except FileNotFoundError as error:
            raise FormatError(f"{path}: it is missing; {AGAIN}") from error
        except OSError as error:
            raise FormatError(f"{path}: it cannot be read ({error.strerror}); {AGAIN}") from error
        if actual != digest:
            raise FormatError(f"{path}: it was changed or damaged after it was written; {AGAIN}")


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, or of the manifest of a model directory, which has those of all its files."""
    return sha256_of(path / MODEL_MANIFEST if path.is_dir() else path)
