"""How kernels with many small functions are compiled: some own arrays, the others only borrow them.

Numba counts who uses an array, by atomic instructions, whenever one is taken out of a tuple or handed over: in inner
loops that takes longer than all they do. Without its run-time (`_nrt`) functions only borrow arrays from their caller:
they can neither make nor return any. Where nothing is said, the first function that calls would decide.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_OWNING: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": True}
_BORROWING = _OWNING | {"_nrt": False}
owning = njit(**_OWNING)
borrowing = njit(**_BORROWING)
inlined = njit(**_BORROWING, forceinline=True)
