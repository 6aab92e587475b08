"""Compiled loops of the diagonal prior: its normaliser and its expected distance by geometric series.

For generated position j of n and given positions i = 1 .. m the prior is exp(-tension |i/m - j/n|) / Z. With
k = floor(j m / n) the positions k, k-1, .. 1 and k+1, .. m are two geometric series with the ratio exp(-tension / m).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit
from morphlm.translation.alignment.kernels.expectation import LinkRows


class Shapes(NamedTuple):
    """Pairs with equally many words m and n: the prior is the same for all of them."""

    sizes: Array  # int64 (K, 2): m given and n generated words
    first: Array  # int64 (K + 1): where each shape's sentences begin in `sentences`
    sentences: Array  # int32, by shape
    mass_starts: Array  # int64 (K + 1): where the masses of each shape's generated positions begin


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
def expected_distances(shapes: Shapes, masses: Array, begin: int, end: int, tension: float, out: Array) -> None:
    """For some shapes (m, n): sum over j of mass(j) E|i/m - j/n| under the prior."""
    powers = np.empty(shapes.sizes[begin:end, 0].max() + 1)
    for shape in range(begin, end):
        m, n = shapes.sizes[shape]
        for power in range(m + 1):
            powers[power] = math.exp(-tension * power / m)
        total = 0.0
        for j in range(n):
            norm, weighted = normaliser(j + 1, n, m, tension, powers)
            total += masses[shapes.mass_starts[shape] + j] * weighted / norm
        out[shape] = total


@njit(cache=True, nogil=True)
def linked_masses(rows: LinkRows, links: Array, shapes: Shapes, begin: int, end: int, masses: Array) -> None:
    """For some shapes: how much of each generated position is linked to words, not to NULL; `links` are posteriors."""
    for shape in range(begin, end):
        mass = masses[shapes.mass_starts[shape] : shapes.mass_starts[shape + 1]]
        mass[:] = 0.0
        for k in range(shapes.first[shape], shapes.first[shape + 1]):
            offset = rows.link_starts[shapes.sentences[k]]
            for j in range(len(mass)):
                mass[j] += 1.0 - links[offset + j]
