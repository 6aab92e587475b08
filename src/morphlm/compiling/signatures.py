"""Kernels and the types of their arguments as text: `morphlm.ngram.kernels.score_tokens` TAB `int32[1C], int64, ...`.

An array is its element type, number of dimensions and layout, `!` if it is read-only; a NamedTuple is its class and the
types of its fields. Only what kernels take is known.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

types: Any = importlib.import_module("numba.core.types")  # Numba does not say what it takes

_TOKEN = re.compile(r"\s*([\w.:]+|[\[\](),!])")
_SCALARS = {str(kind): kind for kind in (*types.integer_domain, *types.real_domain, types.boolean)}


def signature_text(arguments: tuple[Any, ...]) -> str | None:
    """The types of a kernel's arguments; None if one of them has no text here."""
    try:
        return ", ".join(map(_text_of, arguments))
    except TypeError:
        return None


def _text_of(kind: Any) -> str:
    if str(kind) in _SCALARS:
        return str(kind)
    if isinstance(kind, types.Array) and kind.aligned and str(kind.dtype) in _SCALARS:
        return f"{kind.dtype}[{kind.ndim}{kind.layout}{'' if kind.mutable else '!'}]"
    if isinstance(kind, types.BaseNamedTuple):
        name = f"{kind.instance_class.__module__}:{kind.instance_class.__qualname__}"
        return f"{name}({', '.join(map(_text_of, kind.types))})"
    raise TypeError(kind)


def parse_signature(text: str) -> tuple[Any, ...]:
    """The types that `signature_text` wrote."""
    tokens = _TOKEN.findall(text)[::-1]
    return _parse_types(tokens)


def _parse_types(tokens: list[str]) -> tuple[Any, ...]:
    """Types between commas, up to the end or a closing parenthesis; `tokens` is a stack."""
    kinds: list[Any] = []
    while tokens and tokens[-1] != ")":
        kinds.append(_parse_type(tokens))
        if tokens and tokens[-1] == ",":
            tokens.pop()
    return tuple(kinds)


def _parse_type(tokens: list[str]) -> Any:
    name, following = tokens.pop(), tokens[-1] if tokens else ""
    if following == "(":
        tokens.pop()
        fields = _parse_types(tokens)
        tokens.pop()
        module, _, class_name = name.partition(":")
        return _named_tuple(getattr(importlib.import_module(module), class_name), fields)
    if following == "[":
        tokens.pop()
        shape, closing = tokens.pop(), tokens.pop()
        if closing == "!":
            tokens.pop()
        return types.Array(_SCALARS[name], int(shape[:-1]), shape[-1], readonly=closing == "!")
    return _SCALARS[name]


def _named_tuple(instance_class: Any, fields: tuple[Any, ...]) -> Any:
    if len(set(fields)) == 1:
        return types.NamedUniTuple(fields[0], len(fields), instance_class)
    return types.NamedTuple(fields, instance_class)


def kernel_named(name: str) -> Any:
    """The kernel of a module: `morphlm.ngram.kernels.score_tokens`."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(module), function)
