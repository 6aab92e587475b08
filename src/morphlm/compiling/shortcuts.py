"""Ways around what is slow in Numba's compiler and leaves the code that it makes as it is.

They hold only while a kernel is compiled, which happens in one thread at a time.
"""

from __future__ import annotations

import copy
import gc
import importlib
import operator
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

from numba import types
from numba.core.registry import cpu_target

# Numba has no types for these.
errors: Any = importlib.import_module("numba.core.errors")
event: Any = importlib.import_module("numba.core.event")
inline_closurecall: Any = importlib.import_module("numba.core.inline_closurecall")
ir: Any = importlib.import_module("numba.core.ir")
postproc: Any = importlib.import_module("numba.core.postproc")
NUMBERS = (types.Number, types.Boolean)
INDEXED = (*NUMBERS, types.Array, types.BaseTuple, types.SliceType)
ON_ITEMS = (operator.getitem, operator.setitem)
BUILTINS = (bool, len, range)


@contextmanager
def shortcuts() -> Iterator[None]:
    """While a kernel is compiled."""
    with ExitStack() as stack:
        stack.enter_context(_undisturbed())
        stack.enter_context(_replaced(ir.Inst, "_rec_list_vars", list_variables))
        stack.enter_context(_replaced(types.Function, "get_call_type", call_type))
        stack.enter_context(_replaced(postproc.PostProcessor, "run", post_process))
        stack.enter_context(_replaced(inline_closurecall.InlineWorker, "inline_function", inline_function))
        stack.enter_context(_replaced(type(errors.termcolor()), "errmsg", plain_message))
        stack.enter_context(_replaced(event, "start_event", _if_heard(event.start_event)))
        stack.enter_context(_replaced(event, "end_event", _if_heard(event.end_event)))
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
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
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
    """Whether this is an operation of Python's on numbers, or on arrays and their items."""
    kinds = INDEXED if operation in ON_ITEMS or operation is len else NUMBERS
    is_operation = operation in BUILTINS or getattr(operation, "__module__", "") == "_operator"
    return is_operation and all(isinstance(argument, kinds) for argument in arguments)


# ---------------------------------------------------------------- lifetimes of variables

_post_process: Any = postproc.PostProcessor.run


def post_process(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """For Numba, after each of nine passes: which variables live where is found when the last of them asks for it."""
    function = processor.func_ir
    if function.is_generator:
        _post_process(processor, emit_dels, extend_lifetimes)
        return
    function.blocks = postproc.transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = postproc.VariableLifetime(function.blocks)
    function.generator_info = None
    if emit_dels:
        processor._insert_var_dels(extend_lifetimes=extend_lifetimes)


# ---------------------------------------------------------------- inlined functions

_inline_function: Any = inline_closurecall.InlineWorker.inline_function
_NO_COPIES = SimpleNamespace(copy=copy.copy, deepcopy=lambda value: value)


def inline_function(worker: Any, *arguments: Any) -> Any:
    """For Numba: put a function's instructions in the place of a call. They were made for that: no copy is needed."""
    with _replaced(inline_closurecall, "copy", _NO_COPIES):
        return _inline_function(worker, *arguments)


# ---------------------------------------------------------------- messages and events


def plain_message(_scheme: Any, message: str) -> str:
    """For Numba: an error's text without colours. It raises one for each way that does not fit, and tries the next."""
    return message


def _if_heard(tell: Callable[..., None]) -> Callable[..., None]:
    """An event of Numba's is made if somebody listens; each call of LLVM is two events."""

    def tell_if_heard(kind: str, *arguments: Any, **others: Any) -> None:
        if event._registered.get(kind):
            tell(kind, *arguments, **others)

    return tell_if_heard
