"""Products of predictions and rows have one order of sums, whichever instructions compute them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.arrays import Float32Array
from morphlm.logbilinear.kernels.numerics import compiled
from morphlm.logbilinear.kernels.products import LANES, ROWS_OF_MANY, ROWS_OF_ONE
from morphlm.logbilinear.kernels.scores import score_block

F = np.float32
MARK = F(7.5)  # where nothing may be written


def product(p: Float32Array, x: Float32Array, bias: np.float32) -> np.float32:
    """The order that is promised; long doubles hold a product of floats plus a float, so that each step rounds once."""
    sums = [F(0.0)] * 4
    for k in range(len(p)):
        sums[k % 4] = F(np.longdouble(p[k]) * np.longdouble(x[k]) + np.longdouble(sums[k % 4]))
    return F(F(F(sums[0] + sums[2]) + F(sums[1] + sums[3])) + bias)


def arrays(rows: int, predictions: int, width: int, seed: int) -> tuple[Float32Array, Float32Array, Float32Array]:
    """A table, its biases, which are larger than products, and predictions."""
    drawn = np.random.default_rng(seed)
    table, block = (drawn.normal(size=(n, width)).astype(F) for n in (rows, predictions))
    return table, (10 * drawn.normal(size=rows)).astype(F), block


@compiled
def score_inside(
    table: Float32Array, biases: Float32Array, begin: int, end: int, block: Float32Array, size: int, out: Float32Array
) -> None:
    """Within a kernel that may reorder its own sums."""
    score_block(table, biases, begin, end, block, size, out)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 3 * ROWS_OF_ONE),
    st.integers(1, 2 * LANES + 3),
    st.integers(1, 21),
    st.integers(0, 99),
    st.booleans(),
)
def test_scores_have_one_order_of_sums(rows: int, size: int, width: int, seed: int, padded: bool) -> None:
    """Widths that are no multiple of 4, groups that are not full, with and without room for LANES at a time."""
    table, biases, block = arrays(rows + 2, size, width, seed)
    expected = np.array([[product(p, table[w], biases[w]) for w in range(1, rows + 1)] for p in block])
    for score in (score_block, score_inside):
        out = np.full((-(-size // LANES) * LANES if padded else size, rows + ROWS_OF_MANY), MARK, F)
        score(table, biases, 1, rows + 1, block, size, out)
        np.testing.assert_array_equal(out[:size, :rows], expected)
        assert (out[:, rows:] == MARK).all()


@pytest.mark.parametrize("size", [1, 4, 5, 16, 17, 40])
def test_infinite_and_missing_numbers_stay_in_their_row(size: int) -> None:
    """Rows that fill up a group, and lanes that no prediction has, leave no trace in others."""
    table, biases, block = arrays(13, size, 6, 1)
    table[3], table[7, 5] = np.inf, np.nan
    out = np.empty((48, 13), F)
    score_block(table, biases, 0, 13, block, size, out)
    finite = np.isfinite(out[:size]).all(axis=0)
    assert finite.tolist() == [w not in {3, 7} for w in range(13)]
