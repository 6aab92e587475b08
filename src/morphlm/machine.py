"""The type of machine: what decides the last digits of computed numbers, beside the code.

Numba compiles for the CPU that it finds (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES), and BLAS chooses its kernels by it
(OPENBLAS_CORETYPE), NumPy its logarithms: last digits differ. So the records of trainings, of n-grams and segmenters
too, say on what they were made. It is part of no key: what was made on one type of machine serves on another.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

VECTOR_FEATURES = ("avx", "avx2", "avx512f", "fma", "neon", "sve", "sve2")  # these decide how sums are cut and rounded


@cache
def machine_type() -> Mapping[str, str]:
    """CPU and vector instructions as Numba uses them; name, version and kernels of the BLAS that kernels call."""
    from numba.core.registry import cpu_target  # noqa: PLC0415  # what only reads records needs no compiler

    _, cpu, features = cpu_target.target_context.codegen().magic_tuple()
    enabled = [name for name in VECTOR_FEATURES if f"+{name}" in features.split(",")]
    libraries = blas_libraries()
    blas = {
        key: "+".join(sorted({str(library.get(field) or "unknown") for library in libraries})) or "unknown"
        for key, field in (("blas", "internal_api"), ("blas_version", "version"), ("blas_kernels", "architecture"))
    }
    return {"cpu": cpu, "vectors": " ".join(enabled), **blas}


def blas_libraries() -> list[dict[str, Any]]:
    """SciPy's BLAS, as threadpoolctl describes it; where SciPy shares one with others, all that are loaded."""
    import scipy  # noqa: PLC0415

    from morphlm.threads import blas_pools  # noqa: PLC0415

    libraries = [library for library in blas_pools() if library["user_api"] == "blas"]
    folder = Path(scipy.__file__).parent
    own = (folder.with_name("scipy.libs"), folder / ".dylibs")
    return [library for library in libraries if Path(library["filepath"]).parent in own] or libraries


def describe_machine(machine: Mapping[str, str]) -> str:
    """In a few words: `znver3, openblas 0.3.30 Haswell`."""
    cpu, *blas = (machine.get(key, "unknown") for key in ("cpu", "blas", "blas_version", "blas_kernels"))
    return f"{cpu}, {' '.join(blas)}"
