"""Values that an object computes at their first use and keeps, but that stay behind when it is copied or pickled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

Value = TypeVar("Value")


class cached_property(functools.cached_property[Value]):  # noqa: N801  # as the one that it stands for
    """That of functools without the lock which it has before Python 3.12.

    All objects of a class share that lock, and a child that is forked while another thread holds it waits for ever.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        super().__init__(compute)
        self.lock = nullcontext()


def without_cached(instance: object) -> dict[str, Any]:
    """The attributes of an object without values of cached properties."""
    kind = type(instance)
    return {
        name: value
        for name, value in vars(instance).items()
        if not isinstance(getattr(kind, name, None), functools.cached_property)
    }


class PickledWithoutCaches:
    """Leaves values of cached properties behind: they may be large, and some cannot be pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return without_cached(self)
