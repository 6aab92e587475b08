"""The tension of the diagonal prior: how closely links keep to the diagonal, fitted to the links that are expected."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from morphlm.arrays import Array
from morphlm.threads import Workers
from morphlm.translation.alignment.config import TENSION_RANGE
from morphlm.translation.alignment.kernels.tension import expected_distances, linked_masses
from morphlm.translation.alignment.rows import AlignmentLayout


def fitted_tension(layout: AlignmentLayout, links: Array, observed: float, pool: Workers) -> float:
    """The tension under which the expected distance of links from the diagonal is the observed one.

    This is where the expected log-likelihood is highest: its derivative is expected - observed distance, which falls as
    the tension grows. `links` are posteriors.
    """
    shapes, rows = layout.shapes, layout.rows
    masses, sums = np.empty(shapes.mass_starts[-1]), np.empty(len(shapes.sizes))
    pool.run_ranges(lambda begin, end: linked_masses(rows, links, shapes, begin, end, masses), len(sums))

    def excess(tension: float) -> float:
        pool.run_ranges(lambda begin, end: expected_distances(shapes, masses, begin, end, tension, sums), len(sums))
        return float(sums.sum()) - observed

    low, high = TENSION_RANGE
    if excess(low) <= 0:
        return low
    return high if excess(high) >= 0 else float(brentq(excess, low, high, xtol=1e-6, rtol=1e-9))
