"""What the engine and the wide contexts share: sizes of the pieces of work for threads, and arrays that are reused."""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Float32Array

SMALLEST_PIECE = 64  # rows, of the work for a thread


class Workspace:
    """Arrays by name that are reused from minibatch to minibatch; they grow when needed."""

    def __init__(self) -> None:
        self._arrays: dict[str, Float32Array] = {}

    def rows(self, name: str, *shape: int) -> Float32Array:
        """An array whose first dimension, which varies from call to call, is cut from a larger one."""
        array = self._arrays.get(name)
        if array is None or len(array) < shape[0] or array.shape[1:] != shape[1:]:
            array = self._arrays[name] = np.empty((int(shape[0] * 1.1) + 1, *shape[1:]), np.float32)
        return array[: shape[0]]

    def forget(self, name: str) -> None:
        """Free an array, if there is one of this name."""
        self._arrays.pop(name, None)
