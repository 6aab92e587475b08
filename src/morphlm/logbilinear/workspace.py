"""How the engine hands work to threads: ranges of a kernel's work, shards of its sums, arrays that are used again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from morphlm.arrays import Float32Array

SHARDS = 8  # of every sum over the tokens or words of a minibatch
SMALLEST_PIECE = 64  # rows, of the work for a thread


class Workspace:
    """Arrays that are used again and again; they grow when they must."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._arrays: dict[str, Float32Array] = {}

    def rows(self, name: str, *shape: int) -> Float32Array:
        """An array whose first dimension, which varies from call to call, is cut from a larger one."""
        held = self._arrays.get(name)
        if held is None or len(held) < shape[0] or held.shape[1:] != shape[1:]:
            held = self._arrays[name] = np.empty((int(shape[0] * 1.1) + 1, *shape[1:]), np.float32)
        return held[: shape[0]]

    def forget(self, name: str) -> None:
        """Give an array back, if there is one of this name."""
        self._arrays.pop(name, None)


def over_range(kernel: Callable[..., Any], *arguments: Any) -> None:
    """Call a kernel whose first two arguments, the range, are given last by `Workers.run_ranges`."""
    *fixed, begin, end = arguments
    kernel(begin, end, *fixed)
