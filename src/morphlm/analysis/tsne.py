"""t-SNE (van der Maaten and Hinton 2008): points of many dimensions on a plane, neighbours beside each other.

All pairs are compared exactly, which is quickest for the few hundred points that a map can show. The schedule is the
usual one: early exaggeration, momentum, and a gain of its own for every coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from morphlm.arrays import Float32Array, Float64Array

SEARCH_STEPS = 60  # bisections for the width of each point's neighbourhood
SMALLEST = 1e-12  # shares below it would give infinite logarithms
SPREAD = 1e-4  # standard deviation of the first coordinates
JITTER = 0.01  # of that, drawn at random, so that equal points do not stay on top of each other


@dataclass(frozen=True)
class Stage:
    """Some iterations of the descent."""

    iterations: int
    exaggeration: float  # of attraction
    momentum: float


# First clusters form, then they spread.
STAGES = (Stage(250, 12.0, 0.5), Stage(750, 1.0, 0.8))


def tsne(units: Float32Array, *, perplexity: float, seed: int, stages: Sequence[Stage] = STAGES) -> Float64Array:
    """Coordinates (n, 2) of rows of length 1, by their cosines. On one thread, so equal seeds give equal places."""
    with threadpool_limits(1):
        shares = joint_shares(_squared_distances(units.astype(np.float64)), perplexity)
        return _descend(shares, _beginning(units.astype(np.float64), seed), stages)


def divergence(shares: Float64Array, coordinates: Float64Array) -> float:
    """What t-SNE minimises: the Kullback-Leibler divergence of the map's neighbourhoods from those of the data."""
    kernel = _kernel(coordinates)
    return float((shares * np.log(np.maximum(shares, SMALLEST) / np.maximum(kernel / kernel.sum(), SMALLEST))).sum())


def joint_shares(distances: Float64Array, perplexity: float) -> Float64Array:
    """p_ij of squared distances (n, n): how much i and j are neighbours; symmetric, and sums to 1."""
    conditional = conditional_shares(distances, perplexity)
    return (conditional + conditional.T) / (2 * len(distances))


def conditional_shares(distances: Float64Array, perplexity: float) -> Float64Array:
    """p_j|i: a normal distribution around each point, so wide that its perplexity is the one that is asked for."""
    count, entropy = len(distances), np.log(perplexity)
    shifted = np.where(np.eye(count, dtype=bool), np.inf, distances)
    shifted -= shifted.min(1, keepdims=True)
    low, high = np.zeros((count, 1)), np.full((count, 1), np.inf)
    precision = np.ones((count, 1))
    for _ in range(SEARCH_STEPS):
        is_wide = _entropies(_normal(shifted, precision)) > entropy
        low, high = np.where(is_wide, precision, low), np.where(is_wide, high, precision)
        precision = np.where(np.isinf(high), precision * 2, (low + high) / 2)
    return _normal(shifted, precision)


def _normal(distances: Float64Array, precision: Float64Array) -> Float64Array:
    """Rows that sum to 1; the distance of a point to itself is infinite."""
    weights: Float64Array = np.exp(-distances * precision)
    weights /= weights.sum(1, keepdims=True)
    return weights


def _entropies(conditional: Float64Array) -> Float64Array:
    entropies: Float64Array = -(conditional * np.log(np.maximum(conditional, SMALLEST))).sum(1, keepdims=True)
    return entropies


def _squared_distances(rows: Float64Array, out: Float64Array | None = None) -> Float64Array:
    """(n, d) -> (n, n); of unit vectors they are 2 - 2 cos."""
    squares = (rows**2).sum(1)
    distances: Float64Array = np.matmul(rows, -2 * rows.T, out=out)
    distances += squares[:, None]
    distances += squares
    return np.maximum(distances, 0.0, out=distances)


def _beginning(rows: Float64Array, seed: int) -> Float64Array:
    """The first two principal components, small, with some noise; noise alone in directions that the rows lack."""
    centred = rows - rows.mean(0)
    left, lengths, right = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(1)])  # the decomposition leaves them open
    begin = np.zeros((len(rows), 2))
    components = (left * lengths * signs)[:, :2]
    begin[:, : components.shape[1]] = components
    spread = begin[:, 0].std()
    begin = begin / spread if spread > SMALLEST else np.zeros_like(begin)
    noise = np.random.default_rng(seed).standard_normal(begin.shape)
    return np.asarray(SPREAD * (begin + JITTER * noise), np.float64)


def _kernel(coordinates: Float64Array, out: Float64Array | None = None) -> Float64Array:
    """Student's t with one degree of freedom of all distances on the map, (n, n); 0 for a point itself."""
    kernel = _squared_distances(coordinates, out)
    kernel += 1.0
    np.reciprocal(kernel, out=kernel)
    np.fill_diagonal(kernel, 0.0)
    return kernel


def _descend(shares: Float64Array, coordinates: Float64Array, stages: Sequence[Stage]) -> Float64Array:
    step = max(len(coordinates) / 48, 50.0)  # points / early exaggeration / 4 (Belkina et al. 2019)
    for stage in stages:
        coordinates = _descend_stage(shares, coordinates, stage, step)
    return np.asarray(coordinates - coordinates.mean(0), np.float64)


def _descend_stage(shares: Float64Array, coordinates: Float64Array, stage: Stage, step: float) -> Float64Array:
    velocity, gains = np.zeros_like(coordinates), np.ones_like(coordinates)
    attraction = stage.exaggeration * shares
    kernel, forces = np.empty_like(shares), np.empty_like(shares)  # used again: new ones would take most of the time
    for _ in range(stage.iterations):
        gradient = _gradient(attraction, coordinates, kernel, forces)
        # A coordinate that keeps its direction goes faster, one that turns back slower.
        gains = np.where(velocity * gradient < 0, gains + 0.2, np.maximum(gains * 0.8, 0.01))
        velocity = stage.momentum * velocity - step * gains * gradient
        coordinates = coordinates + velocity
    return coordinates


def _gradient(
    attraction: Float64Array, coordinates: Float64Array, kernel: Float64Array, forces: Float64Array
) -> Float64Array:
    """4 sum_j (p_ij - q_ij) k_ij (y_i - y_j); `kernel` and `forces` are (n, n) to work in."""
    _kernel(coordinates, kernel)
    np.multiply(kernel, -1.0 / kernel.sum(), out=forces)  # -q_ij
    forces += attraction
    forces *= kernel
    return np.asarray(4 * (forces.sum(1)[:, None] * coordinates - forces @ coordinates), np.float64)
