"""How kernels are compiled: every one with copies of its own of what it calls; some own arrays, others borrow them.

Numba links what a kernel calls into its machine code, as weak symbols: if another library that is loaded already has a
function of that name, its code runs instead. The process that compiles has loaded all callees by themselves, later ones
have not; copies may add up in another order, and so round otherwise. Here these symbols are private to the kernel: its
results depend on its own machine code alone, compiled or cached, whatever was loaded before. `njit` stands for Numba's.

Numba counts who uses an array, by atomic instructions, whenever one is taken out of a tuple or handed over: in inner
loops that takes longer than all they do. Without its run-time (`_nrt`) functions only borrow arrays from their caller:
they can neither make nor return any. Where nothing is said, the first function that calls would decide.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numba
from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


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


njit = partial(numba.njit, pipeline_class=SelfContainedCompiler)

_OWNING: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": True}
_BORROWING = _OWNING | {"_nrt": False}
owning: Any = njit(**_OWNING)
borrowing: Any = njit(**_BORROWING)
inlined: Any = njit(**_BORROWING, forceinline=True)
