"""How compiled code takes its arguments from Python's objects: records and arrays, by little code.

Numba writes out for each array how it is taken from its object, and puts records together field by field, as values of
hundreds of parts. That was more than half of the machine code of segmentation and classes. Here one function of each
kernel does it for all arrays, and each array is filled in where it belongs.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.pythonapi import NativeValue

# Numba has no types for these.
unboxers: Any = importlib.import_module("numba.core.pythonapi")._unboxers.functions
as_dtype: Any = importlib.import_module("numba.np.numpy_support").as_dtype
cgutils: Any = importlib.import_module("numba.core.cgutils")

ADAPT = "morphlm.adapt_array"  # the function that a kernel has
MISMATCH = "can't unbox array from PyObject into native value.  The object maybe of a different type"  # as Numba says
_BYTES, _SIZE = ir.IntType(8).as_pointer(), ir.IntType(64)
_HEADER = ir.LiteralStructType([_BYTES, _BYTES, _SIZE, _SIZE])  # how arrays begin: owner, object, items, item size


def unbox_array(kind: Any, obj: Any, context: Any) -> Any:
    """For Numba: an array from a Python object."""
    pointer = cgutils.alloca_once(context.builder, context.context.get_value_type(kind))
    failed = _adapt(kind, obj, pointer, context)
    return NativeValue(context.builder.load(pointer), is_error=failed)  # type: ignore[no-untyped-call]


def unbox_record(kind: Any, obj: Any, context: Any) -> Any:
    """For Numba: a NamedTuple, with those in it."""
    builder = context.builder
    pointer = cgutils.alloca_once(builder, context.context.get_value_type(kind))
    cleanups: list[Any] = []
    failed = _fill_record(kind, obj, pointer, context, cleanups)

    def clean_up() -> None:
        for cleanup in reversed(cleanups):
            cleanup()

    return NativeValue(builder.load(pointer), failed, clean_up if cleanups else None)  # type: ignore[no-untyped-call]


def _fill_record(kind: Any, obj: Any, pointer: Any, context: Any, cleanups: list[Any]) -> Any:
    """Write the fields to where they belong; returns whether one of them could not be taken.

    Which type of record this is was found from its class, so that it has as many fields.
    """
    failed = cgutils.false_bit
    for i, field in enumerate(kind):
        item, slot = context.pyapi.tuple_getitem(obj, i), cgutils.gep_inbounds(context.builder, pointer, 0, i)
        if isinstance(field, types.Array):
            is_error = _adapt(field, item, slot, context)
        elif isinstance(field, types.BaseNamedTuple):
            is_error = _fill_record(field, item, slot, context, cleanups)
        else:
            native = context.unbox(field, item)
            context.builder.store(native.value, slot)
            is_error = native.is_error
            cleanups += [native.cleanup] if native.cleanup is not None else []
        failed = context.builder.or_(failed, is_error)
    return failed


def _adapt(kind: Any, obj: Any, pointer: Any, context: Any) -> Any:
    """Fill in an array; returns whether it could not be taken from the object."""
    builder = context.builder
    size = _SIZE(as_dtype(kind.dtype).itemsize)
    return builder.call(_adapting_function(context), [obj, builder.bitcast(pointer, _HEADER.as_pointer()), size])


def _adapting_function(context: Any) -> Any:
    """That of the module which is being written: object, array and size of its items -> whether it failed."""
    module = context.builder.module
    if ADAPT in module.globals:
        return module.globals[ADAPT]
    kind = ir.FunctionType(ir.IntType(1), [context.pyapi.pyobj, _HEADER.as_pointer(), _SIZE])
    function: Any = ir.Function(module, kind, ADAPT)
    function.linkage = "internal"
    function.attributes.add("noinline")
    _write_adapting(function, context.context)
    return function


def _write_adapting(function: Any, target: Any) -> None:
    """The same checks that Numba makes."""
    obj, array, size = function.args
    builder: Any = ir.IRBuilder(function.append_basic_block())
    api = target.get_python_api(builder)
    adapt = api.nrt_adapt_ndarray_from_python if target.enable_nrt else api.numba_array_adaptor
    code = adapt(obj, builder.bitcast(array, _BYTES))
    has_size = builder.load(cgutils.gep_inbounds(builder, array, 0, 3))
    failed = builder.or_(cgutils.is_not_null(builder, code), builder.icmp_unsigned("!=", has_size, size))
    with builder.if_then(failed, likely=False):
        api.err_set_string("PyExc_TypeError", MISMATCH)
    builder.ret(failed)


@contextmanager
def shared_unboxing() -> Iterator[None]:
    """While a kernel is compiled: arguments are taken as above."""
    importlib.import_module("numba.core.boxing")  # or Numba would register its own meanwhile
    ours = {types.Array: unbox_array, types.NamedTuple: unbox_record, types.NamedUniTuple: unbox_record}
    before = {kind: unboxers.get(kind) for kind in ours}
    unboxers.update(ours)
    try:
        yield
    finally:
        for kind, unboxer in before.items():
            if unboxer is None:
                del unboxers[kind]
            else:
                unboxers[kind] = unboxer
