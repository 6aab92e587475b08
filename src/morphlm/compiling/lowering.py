"""How a kernel's variables become LLVM's code: less of it than Numba writes, for the same machine code.

Numba loads a variable whenever another value is put into it and whenever it is deleted, to count who uses an array, and
clears it then. For a field of a record it loads all of the record, hundreds of numbers, which LLVM takes apart again:
that was over a third of what it took to optimise the largest kernel.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from numba import types
from numba.core.compiler_machinery import register_pass
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

cgutils: Any = importlib.import_module("numba.core.cgutils")  # Numba has no types for it


@dataclass(frozen=True)
class _InnerRecord:
    """A record in another one, which stays where it is."""

    pointer: Any


class KernelLower(Lower):
    """Numba's, but for variables."""

    # Numba does not say that these are there.
    context: Any
    varmap: Any
    _blk_local_varmap: Any
    _disable_sroa_like_opt: Any
    _singly_assigned_vars: Any

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)  # type: ignore[no-untyped-call]
        self._inner_records: dict[str, Any] = {}  # temporary variables that are records in other ones: where these lie

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Nothing has to be done for what was there before if it is no array."""
        if isinstance(value, _InnerRecord):
            if self._is_temporary(name):
                self._inner_records[name] = value.pointer
                return
            value = self.builder.load(value.pointer)
        if argidx is not None or self._is_counted(name) or self._is_temporary(name):
            super().storevar(value, name, argidx)  # type: ignore[no-untyped-call]
        else:
            self.builder.store(value, self.getvar(name))  # type: ignore[no-untyped-call]

    def loadvar(self, name: str) -> Any:
        if name in self._inner_records:
            return self.builder.load(self._inner_records[name])
        return super().loadvar(name)  # type: ignore[no-untyped-call]

    def delvar(self, name: str) -> None:
        """The same as for `storevar`."""
        if self._is_counted(name):
            super().delvar(name)  # type: ignore[no-untyped-call]
        elif name not in self._blk_local_varmap and name not in self._inner_records:
            self._singly_assigned_vars.discard(name)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """A field of a record is loaded by itself, if the record is in memory."""
        if expr.op == "getattr":
            name = expr.value.name
            record: Any = self.typeof(name)  # type: ignore[no-untyped-call]
            pointer = self._inner_records.get(name, self.varmap.get(name))
            is_record = isinstance(record, types.BaseNamedTuple)
            if is_record and pointer is not None and expr.attr in record.fields:
                return self._load_field(resty, record, pointer, record.fields.index(expr.attr))
        return super().lower_expr(resty, expr)  # type: ignore[no-untyped-call]

    def _load_field(self, result_type: Any, record: Any, pointer: Any, at: int) -> Any:
        builder, kind = self.builder, record[at]
        slot = cgutils.gep_inbounds(builder, pointer, 0, at)
        # Where records are not counted, none is changed or cleared before its block ends: variables are assigned once.
        if not self.context.enable_nrt and isinstance(kind, types.BaseNamedTuple) and kind == result_type:
            return _InnerRecord(slot)
        field = impl_ret_borrowed(self.context, builder, kind, builder.load(slot))  # type: ignore[no-untyped-call]
        return self.context.cast(builder, field, kind, result_type)

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
