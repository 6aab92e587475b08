"""Second stage: the three discounts of each order, after Chen & Goodman (1998), equation 26."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Float64Array, Int64Array

FALLBACK = (0.5, 1.0, 1.5)


@dataclass(frozen=True)
class Discounts:
    """What is taken from an n-gram with adjusted count 1, 2, and 3 or more."""

    order: int
    d1: float
    d2: float
    d3: float
    warning: str | None = None  # why the fallback stands here instead of an estimate

    def table(self) -> Float64Array:
        """The discounts by count, 0 to 3."""
        return np.array([0.0, self.d1, self.d2, self.d3])

    def to_json(self) -> dict[str, float | int | str | None]:
        return {"order": self.order, "D1": self.d1, "D2": self.d2, "D3+": self.d3, "warning": self.warning}


def estimate_discounts(order: int, counts_of_counts: Int64Array) -> Discounts:
    """Y = n1 / (n1 + 2 n2), D_k = k - (k + 1) Y n_{k+1} / n_k.

    Where a count of counts is zero or a discount leaves [0, k], as in tiny or artificial text, the whole order gets
    the fallback 0.5, 1, 1.5 (lmplz's --discount_fallback) and a warning that stays with the model.
    """
    n = counts_of_counts.astype(np.float64)
    missing = [k for k in (1, 2, 3) if n[k] == 0]
    if missing:
        return _fallback(order, f"no {order}-gram has adjusted count {missing[0]}")
    y = n[1] / (n[1] + 2 * n[2])
    estimates = [float(k - (k + 1) * y * n[k + 1] / n[k]) for k in (1, 2, 3)]
    for k, estimate in zip((1, 2, 3), estimates, strict=True):
        if not 0.0 <= estimate <= k:
            return _fallback(order, f"D{k} of {order}-grams comes out as {estimate:.3f}, outside [0, {k}]")
    d1, d2, d3 = estimates
    return Discounts(order, d1, d2, d3)


def _fallback(order: int, reason: str) -> Discounts:
    d1, d2, d3 = FALLBACK
    return Discounts(
        order, d1, d2, d3, f"{reason}; the text is small or unusual, discounts {d1}, {d2}, {d3} were taken instead"
    )
