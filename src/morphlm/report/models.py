"""What the report and the explorer ask of any model: how to call it, its word vectors, and whether it has a cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from morphlm.cache.model import CacheModel
from morphlm.cache.neural import NeuralCacheModel
from morphlm.errors import ConfigError
from morphlm.files import source_name
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.mixture import numbered
from morphlm.vectors.vectors import WordVectors

LONGEST = 3  # parts of a path that a name has at most


def vectors_of(model: LanguageModel) -> WordVectors | None:
    """The word vectors of a model; None if it has none."""
    try:
        return model.vectors
    except ConfigError:
        return None


def has_cache(model: LanguageModel) -> bool:
    """Whether it learns from the text before each sentence."""
    return any(isinstance(part, CacheModel | NeuralCacheModel) for part in model.parts)


# ---------------------------------------------------------------- names


def model_names(paths: Sequence[str | Path]) -> list[str]:
    """The last part of each path, or as many as tell it from the others: cs/clbl++, de/clbl++; else with a number."""
    parts = [_parts_of_path(path) for path in paths]
    names = [path[-1] for path in parts]
    for size in range(2, LONGEST + 1):
        longer = ["/".join(path[-size:]) for path in parts]
        names = [long if names.count(name) > 1 else name for name, long in zip(names, longer, strict=True)]
    return numbered([path[-1] if names.count(name) > 1 else name for name, path in zip(names, parts, strict=True)])


def _parts_of_path(path: str | Path) -> tuple[str, ...]:
    if str(path) == "-":
        return (source_name(path),)
    return tuple(map(shown, Path(os.path.abspath(path)).parts[1:])) or ("model",)  # noqa: PTH100 (links stay as named)


def shown(name: str) -> str:
    """The name of a file as text, even if it is no proper one."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
