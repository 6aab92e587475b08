"""How a kernel's variables become LLVM's code: less of it than Numba writes, for the same machine code.

Numba loads a variable whenever another value is put into it and whenever it is deleted, to count who uses an array, and
clears it then. For a field of a record it loads all of the record, hundreds of numbers, which LLVM takes apart again:
that was a third of what it took to optimise a large kernel.
"""

from __future__ import annotations

import importlib
from typing import Any

from numba import types
from numba.core.compiler_machinery import register_pass
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

cgutils: Any = importlib.import_module("numba.core.cgutils")  # Numba has no types for it


class KernelLower(Lower):
    """Numba's, but for variables."""

    # Numba does not say that these are there.
    context: Any
    varmap: Any
    _blk_local_varmap: Any
    _disable_sroa_like_opt: Any
    _singly_assigned_vars: Any

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Nothing has to be done for what was there before if it is no array."""
        if argidx is not None or self._is_counted(name) or self._is_temporary(name):
            super().storevar(value, name, argidx)  # type: ignore[no-untyped-call]
        else:
            self.builder.store(value, self.getvar(name))  # type: ignore[no-untyped-call]

    def delvar(self, name: str) -> None:
        """The same."""
        if self._is_counted(name):
            super().delvar(name)  # type: ignore[no-untyped-call]
        elif name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """A field of a record is loaded by itself, if the record is in memory."""
        if expr.op == "getattr" and expr.value.name in self.varmap:
            record: Any = self.typeof(expr.value.name)  # type: ignore[no-untyped-call]
            is_record = isinstance(record, types.BaseNamedTuple)
            if is_record and expr.attr in record.fields:
                return self._load_field(resty, record, expr)
        return super().lower_expr(resty, expr)  # type: ignore[no-untyped-call]

    def _load_field(self, result_type: Any, record: Any, expr: Any) -> Any:
        at, builder = record.fields.index(expr.attr), self.builder
        pointer = cgutils.gep_inbounds(builder, self.varmap[expr.value.name], 0, at)
        field = impl_ret_borrowed(self.context, builder, record[at], builder.load(pointer))  # type: ignore[no-untyped-call]
        return self.context.cast(builder, field, record[at], result_type)

    def _is_counted(self, name: str) -> bool:
        """Whether it is counted who uses the array in a variable, or the arrays."""
        kind = self.typeof(name)  # type: ignore[no-untyped-call]
        return bool(self.context.enable_nrt and self.context.data_model_manager[kind].contains_nrt_meminfo())

    def _is_temporary(self, name: str) -> bool:
        """Whether a variable needs no memory, as it is used in one block only."""
        return name in self._singly_assigned_vars and not self._disable_sroa_like_opt


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class KernelLowering(NativeLowering):
    """The pass of Numba's compiler that makes LLVM's code."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return KernelLower
