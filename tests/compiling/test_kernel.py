"""The machine code of a kernel depends on nothing but itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from llvmlite.binding import Linkage
from numba import types

from morphlm.compiling import code_files, compilations, helpers, njit
from morphlm.compiling.code_files import PACKAGE
from morphlm.compiling.compilations import QUIETLY, Compilations
from morphlm.compiling.kernel import callee_type


def smallest_and_largest(values: Any) -> Any:
    ordered = np.sort(values)  # functions of Numba's own, too long to be inlined
    return ordered[0], ordered[-1]


def linkages(module: Any) -> set[Linkage]:
    return {function.linkage for function in module.functions if not function.is_declaration}


def only(overloads: dict[Any, Any]) -> Any:
    (overload,) = overloads.values()
    return overload


def compiled_library(decorate: Any) -> Any:
    kernel = decorate()(smallest_and_largest)
    assert kernel(np.array([3.0, 1.0, 2.0])) == (1.0, 3.0)
    return only(kernel.overloads).library


def test_no_function_of_a_kernel_can_be_replaced_by_another_ones() -> None:
    assert Linkage.linkonce_odr in linkages(compiled_library(numba.njit)._final_module)  # what would be replaced
    assert linkages(compiled_library(njit)._final_module) == {Linkage.external, Linkage.internal}


@pytest.mark.parametrize("decorate", [njit, numba.njit])
def test_other_kernels_and_functions_of_users_link_copies_without_machine_code(decorate: Any) -> None:
    library = njit()(smallest_and_largest)

    @decorate()
    def spread(values: Any) -> Any:
        low, high = library(values)
        return high - low

    assert spread(np.array([3.0, 1.0, 7.0])) == 6.0
    callee = only(library._callees).library
    assert linkages(callee._get_module_for_linking()) == {Linkage.linkonce_odr}
    assert callee._compiled_object is None
    assert not library.overloads  # nothing that Python could call was compiled
    assert library(np.array([3.0, 1.0, 2.0])) == (1.0, 3.0)
    assert len(library.overloads) == len(library._callees) == 1


def test_one_callee_serves_literals_and_all_smaller_integers() -> None:
    @njit()
    def last(values: Any, skipped: int) -> Any:
        return values[len(values) - 1 - skipped]

    @njit()
    def ends(values: Any, small: Any) -> Any:
        return last(values, 0) + last(values, 1) + last(values, small) + last(values, len(values) - 1)

    assert ends(np.array([1, 10, 100, 1000], np.int32), np.int8(1)) == 1000 + 100 + 100 + 1
    assert len(last._callees) == 1


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (types.IntegerLiteral(3), types.int64),
        (types.int32, types.int64),
        (types.int8, types.int64),
        (types.int64, types.int64),
        (types.uint8, types.uint8),  # with int64 it would become a float64
        (types.uint64, types.uint64),
        (types.boolean, types.boolean),
        (types.float32, types.float32),
        (types.int32[:], types.int32[:]),
    ],
)
def test_what_a_callee_takes_holds_what_it_is_given(given: Any, taken: Any) -> None:
    assert callee_type(given) == taken


class Pair(NamedTuple):
    numbers: Any
    factor: float


@njit()
def scaled_sum(pair: Pair) -> float:
    total = 0.0
    for number in pair.numbers:
        total += number * pair.factor
    return total


def call_scaled_sum(numbers: Any, factor: float) -> float:
    return scaled_sum(Pair(numbers, factor))


@pytest.mark.parametrize("order", [[numba.njit, njit()], [njit(), numba.njit]], ids=["others first", "ours first"])
def test_records_reach_a_kernel_from_functions_that_others_compile(order: list[Any]) -> None:
    """Kernels hand records over as one value, Numba in parts; a function of each is called by functions of both."""
    for decorate in order:
        for numbers in (np.arange(4.0), np.arange(4)):
            assert decorate(call_scaled_sum)(numbers, 0.5) == 3.0


def test_types_that_numba_loads_later_can_be_compiled() -> None:
    """Numba registers the models of strings when it first compiles something; ours were a copy of before."""

    @njit()
    def length(text: str) -> int:
        return len(text)

    assert length("slovo") == 5


def test_a_kernel_that_calls_itself() -> None:
    @njit()
    def factorial(n: int) -> int:
        return 1 if n < 2 else n * factorial(n - 1)

    @njit()
    def caller(n: int) -> int:
        return factorial(n) + 1

    assert (factorial(5), caller(5)) == (120, 121)


def test_an_error_of_a_callee_reaches_python() -> None:
    @njit()
    def checked(n: int) -> int:
        if n < 0:
            raise ValueError("negative", n)
        return n

    @njit()
    def caller(n: int) -> int:
        return checked(n)

    assert caller(1) == 1
    with pytest.raises(ValueError, match="negative"):
        caller(-1)


@pytest.fixture
def talking(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    monkeypatch.delenv(QUIETLY, raising=False)
    return Compilations()


def test_what_cannot_be_kept_is_not_said_to_be_compiled_once(
    talking: Compilations, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = njit()(smallest_and_largest)
    for _ in range(2):
        with talking.announced(kernel, ()):
            pass
    assert capsys.readouterr() == ("", "warning: compiling ...\n")


def test_without_a_place_for_code_there_are_no_helpers(talking: Compilations, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = njit()(smallest_and_largest)
    planned = [f"{__name__}.smallest_and_largest\tfloat64[1C]", f"{__name__}.smallest_and_largest\tint64[1C]"]
    monkeypatch.setattr(helpers, "planned_kernels", lambda: planned)
    monkeypatch.setattr(helpers, "helpers_wanted", lambda: 1)
    monkeypatch.setattr(code_files, "code_folder", lambda *_: None)
    monkeypatch.setattr(helpers, "Helpers", lambda *_: pytest.fail("a helper was started"))
    assert not talking.was_done_by_helper(kernel, (types.float64[::1],))


def test_helpers_begin_before_a_kernel_is_called_if_the_first_is_missing(
    talking: Compilations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = [f"module.{name}\tint64" for name in ("first", "second", "third")]
    kept = {planned[0]}
    started: list[list[str]] = []
    monkeypatch.setattr(helpers, "planned_kernels", lambda: planned)
    monkeypatch.setattr(helpers, "helpers_wanted", lambda: 0)
    monkeypatch.setattr(helpers, "Helpers", lambda names, *_: started.append(names))
    monkeypatch.setattr(compilations, "_is_kept", lambda name: name in kept)
    monkeypatch.setattr(code_files, "code_folder", lambda *_: tmp_path)
    talking.begin_early()  # no idle core
    monkeypatch.setattr(helpers, "helpers_wanted", lambda: 1)
    talking.begin_early()  # the first is there
    assert started == []
    kept.remove(planned[0])
    kept.add(planned[1])
    talking.begin_early()
    talking.begin_early()
    assert started == [[planned[0], planned[2]]]


def test_all_kernels_are_compiled_this_way() -> None:
    own = re.compile(r"from numba import [^\n]*\bn?jit\b|\bnumba\.n?jit\b")
    using = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if own.search(path.read_text())]
    assert using == []
