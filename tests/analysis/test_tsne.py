"""t-SNE: its parts by their definitions, and the whole as good as scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

from morphlm.analysis.tsne import (
    Stage,
    _gradient,
    _kernel,
    _squared_distances,
    conditional_shares,
    divergence,
    joint_shares,
    tsne,
)
from morphlm.arrays import Float32Array


def clusters(points: int, width: int = 20, seed: int = 0) -> Float32Array:
    """Rows of length 1 around twelve directions."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((12, width))
    rows = centres[rng.integers(0, 12, points)] + 0.8 * rng.standard_normal((points, width))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def shares_of(rows: Float32Array, perplexity: float) -> np.ndarray:
    return joint_shares(_squared_distances(rows.astype(np.float64)), perplexity)


@pytest.mark.parametrize("perplexity", [1.5, 5.0, 15.0])
def test_each_point_has_as_many_neighbours_as_the_perplexity_says(perplexity: float) -> None:
    found = conditional_shares(_squared_distances(clusters(50).astype(np.float64)), perplexity)
    entropies = [-sum(share * np.log(share) for share in row if share > 0) for row in found]
    np.testing.assert_allclose(np.exp(entropies), perplexity)
    np.testing.assert_allclose(found.sum(1), 1)


def test_shares_are_symmetric_and_those_of_scikit_learn() -> None:
    from scipy.spatial.distance import squareform
    from sklearn.manifold._t_sne import _joint_probabilities

    rows = clusters(50)
    found = shares_of(rows, 10.0)
    assert (found == found.T).all()
    distances = _squared_distances(rows.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(found, squareform(_joint_probabilities(distances, 10.0, 0)), atol=2e-6)


def test_the_gradient_is_that_of_the_divergence() -> None:
    rows = clusters(12)
    shares, places = shares_of(rows, 3.0), np.random.default_rng(2).standard_normal((12, 2))
    found = _gradient(shares, places, np.empty_like(shares), np.empty_like(shares))
    for point, axis in ((0, 0), (3, 1), (11, 0)):
        change = np.zeros_like(places)
        change[point, axis] = 1e-5
        slope = (divergence(shares, places + change) - divergence(shares, places - change)) / 2e-5
        assert found[point, axis] == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("points", [40, 150])
def test_the_map_is_as_good_as_that_of_scikit_learn(points: int) -> None:
    """There are many minima: on 18 samples (benchmarks/tsne.py) ours was up to 26 % higher, or 34 % lower."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    rows, perplexity = clusters(points), min(30.0, (points - 1) / 3)
    shares = shares_of(rows, perplexity)
    with threadpool_limits(1):
        reference = TSNE(method="exact", init="pca", perplexity=perplexity, random_state=1).fit_transform(rows)
    ours = divergence(shares, tsne(rows, perplexity=perplexity, seed=1))
    assert ours < 1.4 * divergence(shares, reference.astype(np.float64))
    assert ours < 0.5 * divergence(shares, np.random.default_rng(1).standard_normal((points, 2)))


def test_equal_seeds_give_equal_coordinates_and_others_others() -> None:
    rows, stages = clusters(30), (Stage(20, 12.0, 0.5), Stage(20, 1.0, 0.8))
    first, second, other = (tsne(rows, perplexity=5, seed=seed, stages=stages) for seed in (1, 1, 2))
    assert (first == second).all()
    assert (first != other).any()


def test_points_that_are_all_equal_or_on_a_line_have_a_map() -> None:
    for rows in (np.ones((10, 3), np.float32) / np.sqrt(3), np.array([[1.0]] * 5 + [[-1.0]] * 5)):
        places = tsne(rows.astype(np.float32), perplexity=3, seed=1)
        assert np.isfinite(places).all()
        assert len(np.unique(places, axis=0)) == 10  # none hides another


def test_the_kernel_of_a_point_with_itself_counts_nothing() -> None:
    kernel = _kernel(np.array([[0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_allclose(kernel, [[0, 1 / 26], [1 / 26, 0]])
