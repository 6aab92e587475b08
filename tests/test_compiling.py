"""The machine code of a kernel depends on nothing but itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite.binding import Linkage

from morphlm.compiling import njit
from morphlm.kernel_cache import PACKAGE


def smallest_and_largest(values: Any) -> Any:
    ordered = np.sort(values)  # functions of Numba's own, too long to be inlined
    return ordered[0], ordered[-1]


def linkages(module: Any) -> set[Linkage]:
    return {function.linkage for function in module.functions if not function.is_declaration}


def compiled_library(decorate: Any) -> Any:
    kernel = decorate()(smallest_and_largest)
    assert kernel(np.array([3.0, 1.0, 2.0])) == (1.0, 3.0)
    (overload,) = kernel.overloads.values()
    return overload.library


def test_no_function_of_a_kernel_can_be_replaced_by_another_ones() -> None:
    assert Linkage.linkonce_odr in linkages(compiled_library(numba.njit)._final_module)  # what would be replaced
    assert linkages(compiled_library(njit)._final_module) == {Linkage.external, Linkage.internal}


def test_other_kernels_link_what_a_kernel_calls_as_before() -> None:
    assert linkages(compiled_library(njit)._get_module_for_linking()) == {Linkage.linkonce_odr}
    library = njit()(smallest_and_largest)

    @njit()
    def spread(values: Any) -> Any:
        low, high = library(values)
        return high - low

    assert spread(np.array([3.0, 1.0, 7.0])) == 6.0


def test_all_kernels_are_compiled_this_way() -> None:
    own = re.compile(r"from numba import [^\n]*\bn?jit\b|\bnumba\.n?jit\b")
    using = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if own.search(path.read_text())]
    assert using == [Path("compiling.py")]
