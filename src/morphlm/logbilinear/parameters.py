"""The parameters of a model, the same arrays for all eight variants, and their initial values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array, Float32Array, Float64Array
from morphlm.errors import FormatError
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.structure import Structure
from morphlm.vocabulary.vocabulary import BEGIN_ID

# Trained parameters stay below 100. With this bound p . r + b cannot overflow: (1e6 x factors)^2 x 1e6 x d^2.
LARGEST_PARAMETER = 1e6
DRAWN_ROWS = 1 << 14  # rows whose first values are drawn at a time


class Parameters(NamedTuple):
    """The paper's names. Vectors are rows; rows of Q and R belong to factors, which are the words in a plain model."""

    Q: Float32Array  # Q^(f), (F, d): context vectors
    C: Float32Array  # (n - 1, d, d) or diagonal (n - 1, d): the nearest word first; then that of the wide context
    R: Float32Array  # R^(f), (F, d): output vectors
    b: Float32Array  # (V,): biases of the surface words
    S: Float32Array  # (|C|, d): class vectors; no rows without classes
    t: Float32Array  # (|C|,): class biases

    @property
    def weights(self) -> tuple[Float32Array, ...]:
        """All but the biases; the L2 term is of these."""
        return self.Q, self.C, self.R, self.S

    def named(self) -> Iterator[tuple[str, Float32Array]]:
        """Pairs of name and array."""
        return zip(self._fields, self, strict=True)

    @property
    def numbers(self) -> int:
        """The number of parameters."""
        return sum(array.size for array in self)

    def first_out_of_range(self, largest: float = LARGEST_PARAMETER) -> str | None:
        """The name of the first array with a NaN, an infinity or a larger number."""
        for name, array in self.named():
            # NaN, if there is one, is the minimum and the maximum, and compares as false.
            if array.size and not (array.min() >= -largest and array.max() <= largest):
                return name
        return None


def shapes(config: LogBilinearConfig, structure: Structure) -> dict[str, tuple[int, ...]]:
    """The shape of each array."""
    d, transforms = config.width, config.distances + bool(config.wide)
    classes = structure.classes if config.classes else 0
    return {
        "Q": (structure.context.factors, d),
        "C": (transforms, d) if config.diagonal else (transforms, d, d),
        "R": (structure.output.factors, d),
        "b": (len(structure.vocabulary),),
        "S": (classes, d),
        "t": (classes,),
    }


def check_shapes(parameters: Parameters, config: LogBilinearConfig, structure: Structure, source: str | Path) -> None:
    """Refuse arrays that belong to another vocabulary, other factors or other classes."""
    for name, shape in shapes(config, structure).items():
        if getattr(parameters, name).shape != shape:
            raise FormatError(f"{source}: {name} does not fit the vocabulary; make it again")


def initial_parameters(
    config: LogBilinearConfig,
    structure: Structure,
    seed: int,
    init_std: float,
    *,
    near_identity: bool = False,
    rows: Mapping[str, Array] | None = None,
) -> Parameters:
    """Biases are log unigram probabilities, everything else comes from a narrow Gaussian (paper, section 3.3).

    With `near_identity` the matrices C_j are I/j plus such numbers: contexts and outputs are compared from the start.
    Of the tables that `rows` names, only these rows are made, in this order.
    """
    rng = np.random.default_rng([seed, 0, 1])  # not the stream that orders an epoch
    arrays: dict[str, Any] = {
        name: _drawn(rng, shape, np.float32(init_std), (rows or {}).get(name))
        for name, shape in shapes(config, structure).items()
        if name not in ("b", "t")
    }
    if near_identity:
        arrays["C"] += _scaled_identities(config)
    words = log_unigram(structure.vocabulary.counts)
    counts = structure.vocabulary.counts.copy()
    counts[BEGIN_ID] = 0  # it carries the class of END but is never predicted
    masses = np.bincount(structure.class_of, counts)
    classes = log_unigram(masses, skip=None) if config.classes else np.zeros(0)
    return Parameters(**arrays, b=words.astype(np.float32), t=classes.astype(np.float32))


def _drawn(rng: np.random.Generator, shape: tuple[int, ...], init_std: np.float32, rows: Array | None) -> Float32Array:
    """A Gaussian table, or some rows of it: the numbers of all are drawn, so that each row is the same in any case."""
    if rows is None:
        return rng.standard_normal(shape, dtype=np.float32) * init_std
    order, out = np.argsort(rows, kind="stable"), np.empty((len(rows), *shape[1:]), np.float32)
    ordered = rows[order]
    for begin in range(0, shape[0], DRAWN_ROWS):
        end = min(begin + DRAWN_ROWS, shape[0])
        drawn = rng.standard_normal((end - begin, *shape[1:]), dtype=np.float32)
        first, last = np.searchsorted(ordered, (begin, end))
        out[order[first:last]] = drawn[ordered[first:last] - begin] * init_std
    return out


def _scaled_identities(config: LogBilinearConfig) -> Float32Array:
    """I/j for the word at distance j, I for the wide context."""
    scales = [1.0 / j for j in range(1, config.order)] + [1.0] * bool(config.wide)
    identity = np.ones(config.width) if config.diagonal else np.eye(config.width)
    return np.stack([scale * identity for scale in scales]).astype(np.float32)


def log_unigram(counts: Array, skip: int | None = BEGIN_ID) -> Float64Array:
    """ln of the relative frequencies with one added to each count (Laplace); what is never predicted stays 0."""
    smoothed = counts.astype(np.float64) + 1.0
    if skip is not None:
        smoothed[skip] = 0.0
    logs = np.zeros(len(smoothed))
    np.log(smoothed / smoothed.sum(), out=logs, where=smoothed > 0)
    return logs


def filled_like(parameters: Parameters, value: float) -> Parameters:
    """Arrays of the same shapes with one value throughout."""
    return Parameters(*(np.full(array.shape, value, np.float32) for array in parameters))
