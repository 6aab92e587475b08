"""The records that several kernels share: sparse rows, predictions and their errors, tables that AdaGrad updates."""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array


class SparseRows(NamedTuple):
    """A sparse matrix of ones in compressed rows: the items of row i are items[starts[i] : starts[i + 1]]."""

    starts: Array  # int64
    items: Array  # int32


class Predictions(NamedTuple):
    """The tokens of a minibatch between the two sides of the model."""

    vectors: Array  # float32 (L, d): p
    errors: Array  # float32 (L, d): dL/dp, which the output side writes
    scale: np.float32  # of the error of each token: 1, or 1/L for mean gradients


class Layer(NamedTuple):
    """An output layer, scores = p vectors' + biases; also its gradient, which has the same shapes."""

    vectors: Array  # float32 (outputs, d): S, R, or rows of R
    biases: Array  # float32 (outputs,)


class AdaGrad(NamedTuple):
    """Parameters and their AdaGrad state: G += g^2, w -= xi g / sqrt(G)."""

    weights: Array  # float32
    squares: Array  # float32: G
    step: np.float32  # xi
    shrink: np.float32  # g is the gradient plus shrink x w: the L2 term; 0: none


class SurfaceDropout(NamedTuple):
    """Factor dropout: the surface forms of words are left out at a rate."""

    surfaces: int  # the factors below are surface forms
    key: np.uint64  # decides which
    rate: np.float32
