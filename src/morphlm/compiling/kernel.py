"""What `njit` makes of a function: a kernel, which finds the types of its arguments and compiles or loads its code."""

from __future__ import annotations

import importlib
import os
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel.models import OpaqueModel
from numba.core.errors import NumbaValueError
from numba.core.imputils import lower_constant
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import make_concrete_template
from numba.extending import register_model

from morphlm.compiling.code_cache import KernelCache
from morphlm.compiling.compilations import COMPILATIONS
from morphlm.compiling.compilers import CalleeCompiler, KernelCompiler
from morphlm.compiling.libraries import callee_kind, find_environments

# Numba has no types for these.
config: Any = importlib.import_module("numba.core.config")
FunctionCompiler: Any = importlib.import_module("numba.core.dispatcher")._FunctionCompiler
normalize_signature: Any = importlib.import_module("numba.core.sigutils").normalize_signature
unliteral: Any = importlib.import_module("numba.core.types").unliteral
init_extensions: Any = importlib.import_module("numba.core.entrypoints").init_all
typeof: Any = importlib.import_module("numba").typeof
tuple_type: Any = importlib.import_module("numba.core.types").BaseTuple.from_types
from_dtype: Any = importlib.import_module("numba.np.numpy_support").from_dtype
map_layout: Any = importlib.import_module("numba.np.numpy_support").map_layout

ELEMENTS = frozenset(str(kind) for kind in (*types.integer_domain, *types.real_domain)) | {"bool"}  # of arrays


# ---------------------------------------------------------------- types of arguments


@cache
def _element_type(kind: np.dtype[Any]) -> Any:
    """None for what kernels do not take."""
    return from_dtype(kind) if kind.isnative and kind.name in ELEMENTS else None


def argument_type(value: Any) -> Any:
    """The type of a kernel's argument, without `numpy.ma`, which Numba would load for it."""
    element = _element_type(value.dtype) if type(value) is np.ndarray else None
    if element is not None:
        return types.Array(element, value.ndim, map_layout(value), readonly=not value.flags.writeable)
    if isinstance(value, tuple):
        return tuple_type([argument_type(part) for part in value], type(value))
    return typeof(value)


def callee_type(argument: Any) -> Any:
    """The type that a callee has for an argument: int64 for literals and smaller integers, which it holds as well."""
    plain: Any = unliteral(argument)
    is_small = plain in (types.int8, types.int16, types.int32)
    return types.int64 if is_small else plain


# ---------------------------------------------------------------- kernels


class KernelType(types.Dispatcher):
    """For Numba: the type of one kernel."""


register_model(KernelType)(OpaqueModel)


@lower_constant(KernelType)  # type: ignore[no-untyped-call, untyped-decorator]
def _no_address(context: Any, builder: Any, kind: Any, kernel: Any) -> Any:
    """For Numba, where a kernel names another: not the address in this process, as code with it could not be kept."""
    return context.get_dummy_value()


class Kernel(CPUDispatcher):
    """What `njit` makes of a function: machine code for each signature that Python calls, and callees for kernels."""

    # Numba does not say that these are there.
    __name__: str
    _cache: Any
    _cache_hits: Any
    _cache_misses: Any
    _compiler: Any
    _types_active_call: Any
    overloads: Any
    targetctx: Any

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals or {}, targetoptions, KernelCompiler)
        self._callees: dict[tuple[Any, ...], Any] = {}
        self._type = KernelType(self)
        dict.__setitem__(self.typingctx._globals, weakref.ref(self), self._type)  # in place of the usual type

    @property
    def _numba_type_(self) -> KernelType:
        return self._type

    def compile(self, sig: Any) -> Any:
        """For Numba, when Python calls: the machine code for a signature, from the cache if it is there."""
        arguments, return_type = normalize_signature(sig)
        with global_compiler_lock:
            found = self.overloads.get(tuple(arguments))
            if found is None:
                found = self._cache.load_overload(sig, self.targetctx)
                COMPILATIONS.requested.append((self, tuple(arguments)))
                if found is None and COMPILATIONS.was_done_by_helper(self, tuple(arguments)):
                    found = self._cache.load_overload(sig, self.targetctx)
                (self._cache_misses if found is None else self._cache_hits)[sig] += 1
                if found is None:
                    init_extensions()
                    with self._compiling_counter, COMPILATIONS.announced(self, tuple(arguments)):
                        found = self._compiler.compile(arguments, return_type)
                        self._cache.save_overload(sig, found)
                self.add_overload(found)
            return found.entry_point

    def _compilation_chain_init_hook(self) -> None:
        """For Numba, before types are looked at: kernels that are loaded need no extensions of it."""

    def typeof_pyval(self, val: Any) -> Any:
        """For Numba: the type of an argument."""
        try:
            kind = argument_type(val)
        except (ValueError, NumbaValueError):  # Numba has none for it, and says so when it calls
            kind = types.pyobject
        self._types_active_call.add(kind)
        return kind

    def add_overload(self, cres: Any) -> None:
        """For Numba: machine code can be called from now on. That of callees finds their constants only from here."""
        for environment in find_environments(cres.library) if cres.referenced_envs is None else cres.referenced_envs:
            cres.codegen.set_env(environment.env_name, environment)
        super().add_overload(cres)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """For Numba, when a kernel calls this one: its callee is compiled if need be."""
        signature, folded = self.fold_argument_types(args, kws)
        arguments = tuple(callee_type(argument) for argument in folded)
        found = self._callee(arguments)
        name = self.py_func.__name__
        template = make_concrete_template(name, key=name, signatures=[found.signature])  # type: ignore[no-untyped-call]
        return template, signature, arguments, {}

    def get_overload(self, sig: Any) -> Any:
        """For Numba: the key under which the callee for these types is registered."""
        return self._callees[callee_kind(), *sig].entry_point

    def _callee(self, arguments: tuple[Any, ...]) -> Any:
        kind = callee_kind()
        if (kind, *arguments) not in self._callees:
            with global_compiler_lock, self._compiling_counter:
                found = self._cache.load_callee(arguments, self.targetctx, kind) if self._is_cached else None
                if found is None:
                    found = self._compile_callee(arguments)
                    if self._is_cached:
                        self._cache.save_callee(arguments, found, kind)
                found = found._replace(entry_point=object())
                self.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
                self._callees[kind, *arguments] = found
        return self._callees[kind, *arguments]

    def _compile_callee(self, arguments: tuple[Any, ...]) -> Any:
        function, options = self.py_func, self.targetoptions
        compiler: Any = FunctionCompiler(function, self.targetdescr, options, self.locals, CalleeCompiler)
        return compiler.compile(arguments, None)

    def is_kept(self, arguments: tuple[Any, ...]) -> bool:
        """Whether there is machine code for a signature, in memory or in the cache."""
        return arguments in self.overloads or (self._is_cached and self._cache.has_overload(arguments, self.targetctx))

    @property
    def _is_cached(self) -> bool:
        return isinstance(self._cache, KernelCache)


# ---------------------------------------------------------------- decorators


def njit(*, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Numba's decorator, with compilers, libraries and a cache of our own."""

    def decorate(function: Any) -> Any:
        if config.DISABLE_JIT:
            return function
        kernel = Kernel(function, targetoptions={"nopython": True, "boundscheck": None, **options})
        if cache:
            kernel._cache = KernelCache(function)
        return kernel

    return decorate


if hasattr(os, "register_at_fork"):
    # A child of a process in which another thread compiles would wait for that thread, which it does not have.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )

_OWNING: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": True}
_BORROWING = _OWNING | {"_nrt": False}
owning: Any = njit(**_OWNING)
borrowing: Any = njit(**_BORROWING)
inlined: Any = njit(**_BORROWING, forceinline=True)
