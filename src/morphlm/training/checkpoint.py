"""The state of a training that goes on: beside the model, in a directory with the model's name and `.checkpoint`.

It is written like a model, in one step, so that it is whole whenever the process ends. Nothing random has a state:
what a minibatch draws depends on seed, epoch and its number. So parameters, AdaGrad's sums and these counters suffice.
"""

from __future__ import annotations

import mmap
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Array
from morphlm.errors import ConfigError, FormatError
from morphlm.files import partial_path, partial_pattern
from morphlm.logbilinear.parameters import Parameters
from morphlm.modelfile import ModelFiles, read_model, write_model
from morphlm.progress import notify

KIND = "checkpoint"


@dataclass
class Progress:
    """How far a training has come."""

    epoch: int = 0  # complete epochs
    batch: int = 0  # minibatches of the next one that are done
    due: bool = False  # what comes next is an evaluation, not a minibatch
    objective: float = 0.0  # summed since the last evaluation
    tokens: int = 0  # ... over so many tokens
    total_tokens: int = 0  # since the beginning
    undecayed: int = 0  # tokens since weight decay beside AdaGrad was applied
    seconds: float = 0.0
    step: float = 0.0  # xi now
    best: float | None = None  # the lowest development perplexity
    worse: int = 0  # evaluations since then
    ended: str = ""  # why training has ended, if it has
    log: list[dict[str, Any]] = field(default_factory=list)  # one entry an evaluation


def checkpoint_path(out: Path) -> Path:
    """Where the checkpoint of a model stands."""
    named = out if out.name else out.absolute()
    return named.with_name(named.name + ".checkpoint")


def lock_path(out: Path) -> Path:
    """The file that is locked while a training writes to a place."""
    target = out.resolve()  # a link leads to the same place
    return target.with_name(f".{target.name[:200]}.lock")


def write_checkpoint(
    place: Path, identity: str, progress: Progress, parameters: Parameters | None, squares: Parameters | None
) -> None:
    """Write it; without arrays it says that training begins at the beginning."""
    tensors: dict[str, Array] = {}
    for prefix, arrays in (("", parameters), ("squares.", squares)):
        if arrays is not None:
            tensors |= {prefix + name: array for name, array in arrays.named()}
    write_model(place, ModelFiles(KIND, {"identity": identity}, asdict(progress), tensors))


def has_begun(place: Path) -> bool:
    """Whether there is a checkpoint with something in it; one without arrays is as good as none."""
    return place.exists() and bool(read_model(place).tensors)


def read_checkpoint(place: Path, identity: str) -> tuple[Progress, Parameters, Parameters]:
    """Read it; it must have begun, and belong to the same data and settings."""
    files = read_model(place)
    if files.kind != KIND or files.configuration.get("identity") != identity:
        raise ConfigError(
            f"{place}: this checkpoint is of other data or other settings; resume with those it was begun with, or "
            "remove it to begin anew"
        )
    try:
        progress = Progress(**files.training)
        return progress, _copied(files, ""), _copied(files, "squares.")
    except (TypeError, KeyError) as error:
        raise FormatError(f"{place}: parts are missing or not known ({error}); remove it to begin anew") from error


def belongs_to(place: Path, identity: str) -> bool:
    """Whether there is a checkpoint, whole and of the same data and settings."""
    try:
        files = read_model(place)
    except FormatError:
        return False
    return files.kind == KIND and files.configuration.get("identity") == identity


def _copied(files: ModelFiles, prefix: str) -> Parameters:
    return Parameters(*(_taken(files.tensors[prefix + name]) for name in Parameters._fields))


def _taken(mapped: Array) -> Array:
    """A copy of a mapped array; the pages of the file do not stay in memory beside it."""
    copy = np.array(mapped)
    base: Any = mapped
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)
    return copy


def remove_checkpoint(place: Path) -> None:
    """It is not needed any more. It loses its name first: half a checkpoint would not be one."""
    if place.exists():
        aside = partial_path(place)
        place.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def remove_foreign_checkpoint(out: Path, identity: str, warn: Callable[[str], None] = notify) -> None:
    """Let the training of a model begin anew where a checkpoint beside it is of other data or settings."""
    path = checkpoint_path(out)
    if path.exists() and not belongs_to(path, identity):
        warn(f"{path}: this is a training of other data or settings; it is removed, and training begins anew")
        remove_checkpoint(path)


def remove_leftovers(out: Path) -> None:
    """What a process that was killed was writing: models and checkpoints beside `out`, files in it."""
    for path in (out, checkpoint_path(out)):
        target = path.resolve()
        leftover = partial_pattern(target)
        for entry in target.parent.iterdir():
            if leftover.fullmatch(entry.name):
                shutil.rmtree(entry, ignore_errors=True)
    for entry in out.glob(".*.partial"):
        entry.unlink(missing_ok=True)
