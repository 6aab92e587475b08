"""Compiled loops of the diagonal prior: its normaliser and its expected distance by geometric series.

For generated position j of n and given positions i = 1 .. m the prior is exp(-tension |i/m - j/n|) / Z. With
k = floor(j m / n) the positions k, k-1, .. 1 and k+1, .. m are two geometric series with the ratio exp(-tension / m).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from morphlm.arrays import Array
from morphlm.translation.alignment.kernels.expectation import LinkRows


@njit(cache=True, nogil=True)
def _series(ratio: float, terms: int, power: float) -> tuple[float, float]:
    """The sums of ratio^l and of l ratio^l over l = 0 .. terms - 1; `power` is ratio^terms."""
    if terms == 0:
        return 0.0, 0.0
    rest = 1.0 - ratio
    geometric = (1.0 - power) / rest
    return geometric, (ratio * geometric - terms * power) / rest


@njit(cache=True, nogil=True)
def normaliser(j: int, n: int, m: int, tension: float, powers: Array) -> tuple[float, float]:
    """Z and the sum of |i/m - j/n| exp(-tension |i/m - j/n|), for j = 1 .. n; powers[l] = exp(-tension l / m)."""
    k = j * m // n
    near, far = j / n - k / m, (k + 1) / m - j / n
    low, low_rank = _series(powers[1], k, powers[k])
    high, high_rank = _series(powers[1], m - k, powers[m - k])
    at_near = math.exp(-tension * near)
    at_far = powers[1] / at_near  # near + far = 1/m
    weighted = at_near * (near * low + low_rank / m) + at_far * (far * high + high_rank / m)
    return at_near * low + at_far * high, weighted


@njit(cache=True, nogil=True)
def expected_distances(
    sizes: Array, weight_starts: Array, weights: Array, begin: int, end: int, tension: float, out: Array
) -> None:
    """For some shapes (m, n): sum over j of weight(j) E|i/m - j/n| under the prior."""
    powers = np.empty(sizes[begin:end, 0].max() + 1)
    for shape in range(begin, end):
        m, n = sizes[shape]
        for power in range(m + 1):
            powers[power] = math.exp(-tension * power / m)
        total = 0.0
        for j in range(n):
            norm, weighted = normaliser(j + 1, n, m, tension, powers)
            total += weights[weight_starts[shape] + j] * weighted / norm
        out[shape] = total


@njit(cache=True, nogil=True)
def linked_masses(
    rows: LinkRows,
    links: Array,
    first_of_shape: Array,
    by_shape: Array,
    begin: int,
    end: int,
    weight_starts: Array,
    weights: Array,
) -> None:
    """For some shapes: how much of each generated position is linked to words, not to NULL; `links` are posteriors."""
    for shape in range(begin, end):
        n = weight_starts[shape + 1] - weight_starts[shape]
        mass = weights[weight_starts[shape] : weight_starts[shape + 1]]
        mass[:] = 0.0
        for k in range(first_of_shape[shape], first_of_shape[shape + 1]):
            null = links[rows.link_starts[by_shape[k]] : rows.link_starts[by_shape[k]] + n]
            for j in range(n):
                mass[j] += 1.0 - null[j]
