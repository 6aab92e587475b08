"""Numba's compiler without the passes that find nothing in a kernel: one for what Python calls, one for callees."""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typed_passes import NativeLowering

from morphlm.compiling.libraries import CalleeLibrary, SelfContainedLibrary
from morphlm.compiling.lowering import KernelLowering

# Of Numba's compiler: for closures, `with` blocks, `literally`, `literal_unroll`, inlined overloads and `prange`, which
# no kernel has, for branches that a constant decides, and for those who debug Numba.
UNUSED_PASSES = {
    "with_lifting",
    "inline_closure_likes",
    "make_function_op_code_to_jit_function",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "dead_branch_prune",
    "rewrite_semantic_constants",
    "inline_overloads",
    "nopython_supported_feature_validation",
    "annotate_types",
    "dump_parfor_diagnostics",
}


def _without_unused_passes(passes: Any) -> Any:
    """Numba's passes but for those that find nothing in a kernel; they took a tenth of the time to compile."""
    kept = [
        (KernelLowering if step is NativeLowering else step, what)
        for step, what in passes.passes
        if step.name() not in UNUSED_PASSES
    ]
    passes.passes, passes._finalized = kept, False
    passes.finalize()
    return passes


class KernelCompiler(Compiler):
    """Numba's compiler, but for the library; C code does not call kernels."""

    library_class: type[JITCodeLibrary] = SelfContainedLibrary

    def define_pipelines(self) -> Any:
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        library = self.library_class(codegen, name)
        library.enable_object_caching()  # type: ignore[no-untyped-call]
        self.state.library = library
        self.state.flags.no_cfunc_wrapper = True
        return [_without_unused_passes(*super().define_pipelines())]  # type: ignore[no-untyped-call]


class CalleeCompiler(KernelCompiler):
    """The same for callees: neither Python calls them nor is there anything to call."""

    library_class = CalleeLibrary

    def define_pipelines(self) -> Any:
        self.state.flags.no_cpython_wrapper = self.state.flags.no_compile = True
        return super().define_pipelines()
