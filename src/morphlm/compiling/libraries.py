"""Libraries of a kernel's machine code and of a callee's bitcode, and how records are handed from one to the other."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite.binding import Linkage, parse_bitcode
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.datamodel.manager import DataModelManager
from numba.core.datamodel.models import TupleModel, UniTupleModel
from numba.core.datamodel.registry import default_manager
from numba.core.registry import cpu_target

# Numba has no types for it.
lookup_environment: Any = importlib.import_module("numba.core.environment").lookup_environment

PYTHON_WRAPPER = "_ZN7cpython"  # how names of functions begin that Python calls


# ---------------------------------------------------------------- libraries


class SelfContainedLibrary(JITCodeLibrary):
    """The machine code of one kernel, in which nothing can be replaced by code of another one.

    It is optimised once, when all callees are there. Numba does so with each function by itself and then twice with the
    whole, in which it takes out counts of who uses an array; there are few of them here.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """What translates Python's objects runs once a call: to optimise it took a tenth of the time."""
        for function in _defined(self):
            if function.name.startswith(PYTHON_WRAPPER):
                function.add_function_attribute("noinline")
                function.add_function_attribute("optnone")
        codegen: Any = self._codegen
        passes, options = codegen._module_pass_manager()
        passes.run(self._final_module, options)

    def _finalize_final_module(self) -> None:
        """Before machine code is made: callees become private."""
        _change_linkage(self._final_module, Linkage.linkonce_odr, Linkage.internal)
        super()._finalize_final_module()  # type: ignore[no-untyped-call]


class CalleeLibrary(JITCodeLibrary):
    """The code of a callee, of which every kernel that calls it takes a copy and optimises it; no machine code."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Nothing yet."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        _change_linkage(self._final_module, Linkage.external, Linkage.linkonce_odr)
        self._shared_module, self._finalized = self._final_module, True

    @classmethod
    def from_bitcode(cls, codegen: Any, name: str, bitcode: bytes) -> CalleeLibrary:
        library = cls(codegen, name)
        library._final_module = parse_bitcode(bitcode)
        library._shared_module, library._finalized = library._final_module, True
        return library


class NumbasLibrary(CalleeLibrary):
    """The same for functions of Numba's that a kernel calls, such as those behind `np.empty`.

    Those that Python can call as well get machine code, as Numba would make it.
    """

    _is_called_by_python = False

    def _finalize_final_module(self) -> None:
        self._is_called_by_python = any(function.name.startswith(PYTHON_WRAPPER) for function in _defined(self))
        if self._is_called_by_python:
            JITCodeLibrary._optimize_final_module(self)  # type: ignore[no-untyped-call]
            JITCodeLibrary._finalize_final_module(self)  # type: ignore[no-untyped-call]
        else:
            super()._finalize_final_module()

    @property
    def codegen(self) -> Any:
        return self._codegen if self._is_called_by_python else _WithoutEnvironments(self._codegen)


class _WithoutEnvironments:
    """Where machine code is to find its constants is said when there is some."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        """Later."""


def _defined(library: Any) -> list[Any]:
    return [function for function in library._final_module.functions if not function.is_declaration]


def _change_linkage(module: Any, before: Linkage, after: Linkage) -> None:
    for function in module.functions:
        if not function.is_declaration and function.linkage == before:
            function.linkage = after


def load_library(codegen: Any, name: str, machine_code: bytes, symbols: frozenset[str]) -> Any:
    """A library that was compiled before."""
    library: Any = SelfContainedLibrary(codegen, name)  # type: ignore[no-untyped-call]
    library.enable_object_caching()
    library._set_compiled_object(machine_code)
    library._finalize_final_module()
    codegen._engine._defined_symbols |= symbols
    return library


def find_environments(library: Any) -> list[Any]:
    """What machine code finds the constants of its functions in."""
    names = [variable.name for variable in library._final_module.global_variables]
    found = [lookup_environment(name) for name in names if name.startswith("_ZN08NumbaEnv")]
    return [environment for environment in found if environment is not None]


# ---------------------------------------------------------------- records


class _PassedWhole:
    """A record is handed to a function as one value. Numba hands over each part of each array in it by itself.

    With tens of arrays in a record that is most of what there is to compile.
    """

    get_value_type: Callable[[], Any]

    def get_argument_type(self) -> Any:
        return self.get_value_type()

    def as_argument(self, _builder: Any, value: Any) -> Any:
        return value

    def from_argument(self, _builder: Any, value: Any) -> Any:
        return value


class RecordModel(_PassedWhole, TupleModel):
    """Of a NamedTuple."""


class UniformRecordModel(_PassedWhole, UniTupleModel):
    """Of a NamedTuple whose fields have all the same type."""


@cache
def _data_models() -> Any:
    """Numba's, also those that it loads later, but for records; only for what is compiled here."""
    models: Any = DataModelManager().chain(default_manager)  # type: ignore[no-untyped-call]
    models.register(types.NamedTuple, RecordModel)
    models.register(types.NamedUniTuple, UniformRecordModel)
    return models


def callee_kind() -> str:
    """`callee` for kernels; `plain_callee` for functions of other packages, which hand over records as Numba does."""
    models: Any = cpu_target.target_context.data_model_manager
    return "callee" if models is _data_models() else "plain_callee"


@contextmanager
def kernel_target() -> Iterator[None]:
    """Libraries and records as above while a kernel is compiled, which happens in one thread at a time."""
    context: Any = cpu_target.target_context
    codegen, models = context.codegen(), context.data_model_manager
    codegen._library_class, context.data_model_manager = NumbasLibrary, _data_models()
    try:
        yield
    finally:
        context.data_model_manager = models
        del codegen._library_class  # that of the class stays
