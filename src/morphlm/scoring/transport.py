"""How a model gets to another process: by its directory, if it has one, else by the content of its files.

`LanguageModel` pickles itself so, whatever its kind. A directory is named with the digest of its manifest, so that
the other process maps the same files, or refuses what has taken their place.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from morphlm.errors import FormatError
from morphlm.kinds import ModelKind, find_kind, register
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.loading import load

Settings = Sequence[Mapping[str, Any]]  # of a model and of each of its parts
Reduced = tuple[Callable[..., LanguageModel], tuple[Any, ...]]

_SETTINGS = (
    "threads",
    "cache_megabytes",
    "prefix_cache_megabytes",
)  # what a program may set on a model; all else is what the model is


def reduce_by_directory(model: LanguageModel) -> Reduced | None:
    """For a model whose directory is still there; None for others."""
    if model.origin is None or not model.origin.holds(model):
        return None
    place = str(model.origin.directory), model.origin.digest
    return load_again, (*place, _settings_of(model), _foreign_kinds(model))


def reduce_by_content(model: LanguageModel) -> Reduced | None:
    """For any model of a known kind; None for others, which have no other way back."""
    if find_kind(model.kind) is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "model"
        copy.copy(model).save(directory)  # the copy remembers that place, which is soon gone
        paths = (path for path in sorted(directory.rglob("*")) if path.is_file())
        contents = {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}
    return restore_content, (contents, _settings_of(model), _foreign_kinds(model))


def load_again(directory: str, digest: str, settings: Settings, kinds: Sequence[ModelKind]) -> LanguageModel:
    """The model in a directory or a compiled file; another one that is there now is refused."""
    _register(kinds)
    model = load(directory)
    if model.origin is None or model.origin.digest != digest:
        raise FormatError(
            f"{directory}: another model is here now than the one that was pickled; pickle that one, or put the former "
            "model back"
        )
    return _with_settings(model, settings)


def restore_content(contents: Mapping[str, bytes], settings: Settings, kinds: Sequence[ModelKind]) -> LanguageModel:
    """The model whose files these are. It maps them, so that they need no place once it is loaded."""
    _register(kinds)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in contents.items():
            path = Path(folder) / "model" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        model = load(Path(folder) / "model")
    for part in (model, *model.parts):
        part.origin = None
    return _with_settings(model, settings)


def _settings_of(model: LanguageModel) -> Settings:
    return [own_settings(part) for part in (model, *model.parts)]


def own_settings(model: LanguageModel) -> dict[str, Any]:
    """What was set on a model itself."""
    return {name: vars(model)[name] for name in _SETTINGS if name in vars(model)}


def _with_settings(model: LanguageModel, settings: Settings) -> LanguageModel:
    for part, values in zip((model, *model.parts), settings, strict=True):
        vars(part).update(values)
    return model


def _foreign_kinds(model: LanguageModel) -> list[ModelKind]:
    """Kinds that another process may not know, as a running program has registered them."""
    kinds = {part.kind: find_kind(part.kind) for part in model.parts}
    return [kind for kind in kinds.values() if kind is not None and not kind.read.startswith("morphlm.")]


def _register(kinds: Sequence[ModelKind]) -> None:
    for kind in kinds:
        if find_kind(kind.name) is None:
            register(kind)
