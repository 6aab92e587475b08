"""Ways around what is slow in Numba's compiler and leaves the code that it makes as it is.

They hold only while a kernel is compiled, which happens in one thread at a time.
"""

from __future__ import annotations

import gc
import importlib
import operator
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from numba import types
from numba.core.registry import cpu_target

ir: Any = importlib.import_module("numba.core.ir")  # Numba has no types for it
NUMBERS = (types.Number, types.Boolean)
ON_ITEMS = (operator.getitem, operator.setitem)


@contextmanager
def shortcuts() -> Iterator[None]:
    """While a kernel is compiled."""
    with ExitStack() as stack:
        stack.enter_context(_undisturbed())
        stack.enter_context(_replaced(ir.Inst, "_rec_list_vars", list_variables))
        stack.enter_context(_replaced(types.Function, "get_call_type", call_type))
        yield


@contextmanager
def _undisturbed() -> Iterator[None]:
    """The compiler makes many objects and few cycles: looking for these takes a tenth of its time.

    What it leaves counts as old afterwards, which takes no time. As young, all of it would be searched at once.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            make_objects_old()
            gc.enable()


def make_objects_old() -> None:
    """All objects move to the oldest generation, unless somebody has frozen some, which would thaw."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


@contextmanager
def _replaced(owner: Any, name: str, function: Callable[..., Any]) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, before)


# ---------------------------------------------------------------- variables of instructions

_WITHOUT_VARIABLES = frozenset([str, int, float, bool, type(None), ir.Loc, ir.Const, ir.Arg, ir.Global, ir.FreeVar])
_find_variables: Any = ir.Inst._rec_list_vars


def list_variables(instruction: Any, value: Any) -> list[Any]:
    """For Numba: the variables in a part of an instruction. Most parts are of few types, which are told by a look."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind in _WITHOUT_VARIABLES:
        return []
    if kind is dict:
        value, kind = value.values(), list
    if kind is list or kind is tuple:
        return [variable for part in value for variable in list_variables(instruction, part)]
    found: list[Any] = _find_variables(instruction, value)
    return found


# ---------------------------------------------------------------- types of calls

_find_call_type: Any = types.Function.get_call_type
_signatures: dict[Any, Any] = {}  # those of operations, which depend on nothing but the types


def call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    """For Numba: the signature of a call. It tries tens of ways, and the same few operations come again and again."""
    if keywords or context is not cpu_target.typing_context or not _is_simple(function.typing_key, arguments):
        return _find_call_type(function, context, arguments, keywords)
    key = function, tuple(arguments)
    signature = _signatures.get(key)
    if signature is None or signature.args not in function._impl_keys:  # where Numba looks for the code
        signature = _signatures[key] = _find_call_type(function, context, arguments, keywords)
    return signature


def _is_simple(operation: Any, arguments: Any) -> bool:
    """Whether this is an operation of Python's on numbers, or on items of an array."""
    kinds = (*NUMBERS, types.Array) if operation in ON_ITEMS else NUMBERS
    is_operation = getattr(operation, "__module__", "") == "_operator"
    return is_operation and all(isinstance(argument, kinds) for argument in arguments)
