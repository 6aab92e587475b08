"""How kernels are compiled: each with copies of its own of what it calls; where machine code is kept; who owns arrays.

Numba links what a kernel calls into its machine code, as weak symbols: if another library that is loaded already has a
function of that name, its code runs instead. The process that compiles has loaded all callees by themselves, later ones
have not; copies may add up in another order, and so round otherwise. Here these symbols are private to the kernel: its
results depend on its own machine code alone, compiled or cached, whatever was loaded before.

Numba counts who uses an array, by atomic instructions, whenever one is taken out of a tuple or handed over: in inner
loops that takes longer than all they do. Without its run-time (`_nrt`) functions only borrow arrays from their caller:
they can neither make nor return any. Where nothing is said, the first function that calls would decide.

Numba's own cache reads code from folders that others can write to, mixes up code that two processes store at once,
knows nothing of inlined functions of other files or of NUMBA_BOUNDSCHECK, and fails where it cannot write. So kernels
take `njit` from here.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import numba
from llvmlite.binding import Linkage
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock

from morphlm import kernel_cache

# Numba has no types for these.
config: Any = importlib.import_module("numba.core.config")
CompileResult: Any = importlib.import_module("numba.core.compiler").CompileResult
dumps: Any = importlib.import_module("numba.core.serialize").dumps

SOURCES = kernel_cache.KernelSources(kernel_cache.PACKAGE)
# What changes the code that Numba makes, besides the source, the types of the arguments and the CPU.
_VERSIONS = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__)
_SETTINGS = (
    "BOUNDSCHECK",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DEBUGINFO_DEFAULT",
    "LLVM_REFPRUNE_PASS",
    "LLVM_REFPRUNE_FLAGS",
    "USING_SVML",
)


class SelfContainedLibrary(JITCodeLibrary):
    """The machine code of one kernel, in which nothing can be replaced by code of another one."""

    def _finalize_final_module(self) -> None:
        """Before machine code is made: callees become private. What others link is a copy from before."""
        self._shared_module = self._final_module.clone()
        _change_linkage(self._shared_module, Linkage.external, Linkage.linkonce_odr)
        _change_linkage(self._final_module, Linkage.linkonce_odr, Linkage.internal)
        super()._finalize_final_module()  # type: ignore[no-untyped-call]


def _change_linkage(module: Any, before: Linkage, after: Linkage) -> None:
    for function in module.functions:
        if not function.is_declaration and function.linkage == before:
            function.linkage = after


class SelfContainedCompiler(Compiler):
    """Numba's compiler, but for the library."""

    def define_pipelines(self) -> Any:
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        library = SelfContainedLibrary(codegen, name)  # type: ignore[no-untyped-call]
        library.enable_object_caching()  # type: ignore[no-untyped-call]
        self.state.library = library
        return super().define_pipelines()  # type: ignore[no-untyped-call]


class KernelCache(_Cache):
    """The machine code of one kernel, in files that `kernel_cache` keeps: one for each signature and type of CPU."""

    def __init__(self, function: FunctionType) -> None:
        self._function, self._source = function, Path(function.__code__.co_filename).resolve()
        self._enabled = self._source.is_file() and SOURCES.is_unchanged(self._source)

    @property
    def cache_path(self) -> str | None:
        folder = self._folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, if there is some."""
        target_context.refresh()
        if not self._enabled:
            return None
        name = self._file_name(sig, target_context.codegen())
        for place in kernel_cache.readable_folders(self._source.parent, config.CACHE_DIR):
            content = kernel_cache.read_code(place / name)
            if content is not None:
                stored_sig, parts = pickle.loads(content)
                return CompileResult._rebuild(target_context, *parts) if stored_sig == sig else None
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep code that was just compiled, unless it holds addresses of this process."""
        folder = self._folder()
        kernel_cache.say_notes()
        if folder is not None and not cres.library.has_dynamic_globals and not cres.lifted:
            kernel_cache.write_code(folder / self._file_name(sig, cres.codegen), dumps((sig, cres._reduce())))

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Nothing: code of an older source has another name."""

    def _folder(self) -> Path | None:
        return kernel_cache.code_folder(self._source.parent, config.CACHE_DIR) if self._enabled else None

    def _file_name(self, sig: Any, codegen: Any) -> str:
        """The same in every folder, and another for whatever gives other code."""
        function, code = self._function, self._function.__code__
        closure = tuple(cell.cell_contents for cell in function.__closure__ or ())
        settings = tuple(repr(getattr(config, name, None)) for name in _SETTINGS)
        digest = SOURCES.digest_of(self._source, config.CACHE_DIR)
        described = repr((sig, codegen.magic_tuple(), _VERSIONS, settings, digest, code.co_code, dumps(closure)))
        key = hashlib.sha256(described.encode()).hexdigest()[:32]
        name = f"{self._source.stem}.{function.__qualname__}-{code.co_firstlineno}".replace("<", "").replace(">", "")
        return f"{name}.{key}{kernel_cache.SUFFIX}"


def njit(*, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Numba's decorator, with libraries and a cache of our own."""

    def decorate(function: Any) -> Any:
        kernel: Any = numba.njit(pipeline_class=SelfContainedCompiler, **options)(function)
        if cache and not config.DISABLE_JIT:  # that leaves functions as they are
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
