"""Checkpoints of a training: beside the model, in a directory with the model's name and `.checkpoint`.

A checkpoint is written like a model, in one step, so that it is whole whenever the process ends. It holds no state of a
random generator: what a minibatch draws depends on seed, epoch and its number. So parameters, AdaGrad's sums of squares
and the counters of `Progress` suffice.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.errors import ConfigError, FormatError
from morphlm.files import partial_path, remove_leftovers, remove_leftovers_in
from morphlm.logbilinear.parameters import Parameters
from morphlm.modelfile import ModelFiles, read_model, write_model
from morphlm.progress import notify

KIND = "checkpoint"
LARGEST_SQUARES = float(np.finfo(np.float32).max)


@dataclass
class Progress:
    """How far a training has come."""

    epoch: int = 0  # complete epochs
    batch: int = 0  # minibatches of the next one that are done
    due: bool = False  # an evaluation comes next, not a minibatch
    objective: float = 0.0  # summed since the last evaluation
    tokens: int = 0  # since the last evaluation
    total_tokens: int = 0  # since the beginning
    undecayed: int = 0  # tokens since weight decay was last applied
    seconds: float = 0.0
    step: float = 0.0  # the current xi
    best: float | None = None  # the lowest development perplexity
    worse: int = 0  # evaluations since then
    ended: str = ""  # why training has ended, if it has
    log: list[dict[str, Any]] = field(default_factory=list)  # one entry per evaluation
    machines: list[dict[str, str]] = field(default_factory=list)  # types of machine that it ran on, the last one last


class TrainingState(NamedTuple):
    """Everything that the next minibatch depends on."""

    progress: Progress
    parameters: Parameters
    squares: Parameters  # AdaGrad's sums of squared gradients


def checkpoint_path(out: Path) -> Path:
    """The checkpoint directory of a model."""
    named = out if out.name else out.absolute()
    return named.with_name(named.name + ".checkpoint")


def lock_path(out: Path) -> Path:
    """The file that is locked while a training writes to `out`."""
    target = out.resolve()  # a link leads to the same lock
    return target.with_name(f".{target.name[:200]}.lock")


def write_checkpoint(
    path: Path, identity: str, progress: Progress, parameters: Parameters | None, squares: Parameters | None
) -> None:
    """Write a checkpoint; without arrays it only says that a training has been started."""
    tensors: dict[str, Array] = {}
    for prefix, arrays in (("", parameters), ("squares.", squares)):
        if arrays is not None:
            tensors |= {prefix + name: array for name, array in arrays.named()}
    write_model(path, ModelFiles(KIND, {"identity": identity}, asdict(progress), tensors))


def has_begun(path: Path) -> bool:
    """Whether there is a checkpoint with parameters in it."""
    return path.exists() and bool(read_model(path).tensors)


def read_checkpoint(path: Path, identity: str) -> TrainingState:
    """Map a checkpoint with parameters; one of other data or settings is refused."""
    files = read_model(path)
    if files.kind != KIND or files.configuration.get("identity") != identity:
        raise ConfigError(
            f"{path}: this checkpoint is of other data or other settings; resume with those it was begun with, or "
            "remove it to begin anew"
        )
    if not files.tensors:
        raise FormatError(f"{path}: it holds no parameters yet; remove it to begin anew")
    return TrainingState(Progress(**files.training), _mapped(files, ""), _mapped(files, "squares."))


def belongs_to(path: Path, identity: str) -> bool:
    """Whether there is an undamaged checkpoint of the same data and settings."""
    try:
        files = read_model(path)
    except FormatError:
        return False
    return files.kind == KIND and files.configuration.get("identity") == identity


def _mapped(files: ModelFiles, prefix: str) -> Parameters:
    return Parameters(*(files.tensors[prefix + name] for name in Parameters._fields))


def remove_checkpoint(path: Path) -> None:
    """Rename it first, so that half a checkpoint never has its name."""
    if path.exists():
        doomed = partial_path(path)
        path.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def remove_foreign_checkpoint(out: Path, identity: str, warn: Callable[[str], None] = notify) -> None:
    """Let the training of a model begin anew where a checkpoint beside it is of other data or settings."""
    path = checkpoint_path(out)
    if path.exists() and not belongs_to(path, identity):
        warn(f"{path}: this is a training of other data or settings; it is removed, and training begins anew")
        remove_checkpoint(path)


def remove_leftovers_of_training(out: Path) -> None:
    """Remove what a killed process was writing: models and checkpoints beside `out`, files in it."""
    for path in (out, checkpoint_path(out)):
        remove_leftovers(path.resolve())
    remove_leftovers_in(out)
