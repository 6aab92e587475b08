"""The tension of the diagonal prior: how closely links keep to the diagonal, fitted to the links that are expected."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from morphlm.arrays import Array
from morphlm.threads import Workers
from morphlm.translation.alignment.config import TENSION_RANGE
from morphlm.translation.alignment.kernels import tension
from morphlm.translation.alignment.rows import AlignmentLayout, Shapes


def linked_masses(layout: AlignmentLayout, links: Array, pool: Workers) -> Array:
    """For each generated position of each shape, how many links to words are expected; `links` are posteriors."""
    shapes, rows = layout.shapes, layout.rows
    masses = np.empty(shapes.weight_starts[-1])
    pool.run_ranges(
        lambda begin, end: tension.linked_masses(
            rows, links, shapes.first, shapes.sentences, begin, end, shapes.weight_starts, masses
        ),
        len(shapes.sizes),
    )
    return masses


def fitted_tension(shapes: Shapes, masses: Array, observed: float, pool: Workers) -> float:
    """The tension under which the expected distance of links from the diagonal is the observed one.

    This is where the expected log-likelihood is highest: its derivative is expected - observed distance, which falls as
    the tension grows.
    """
    sums = np.empty(len(shapes.sizes))

    def excess(value: float) -> float:
        pool.run_ranges(
            lambda begin, end: tension.expected_distances(
                shapes.sizes, shapes.weight_starts, masses, begin, end, value, sums
            ),
            len(sums),
        )
        return float(sums.sum()) - observed

    low, high = TENSION_RANGE
    if excess(low) <= 0:
        return low
    return high if excess(high) >= 0 else float(brentq(excess, low, high, xtol=1e-6, rtol=1e-9))
