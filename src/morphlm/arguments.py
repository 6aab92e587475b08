"""Checks of what Python callers hand over, before it reaches compiled code, which trusts it.

Whole numbers may be NumPy's; truth values are no numbers here, since a mask that is taken for ids is a mistake.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from morphlm.arrays import Array, Int32Array
from morphlm.errors import ArgumentTypeError, ConfigError, InputError, WordIdError

SHOWN = 60  # characters of a value in a message


def shown(value: object) -> str:
    """A value for a message: short, whatever it is."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of thousands of digits, or an object of somebody else's
        text = f"an object of the type {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def as_integer(value: object) -> int | None:
    """A whole number, also one of NumPy's; None for anything else."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def whole_number(name: str, value: object, *, at_least: int = 0) -> int:
    """A setting or a count that is a whole number."""
    number = as_integer(value)
    if number is None or number < at_least:
        raise ConfigError(f"{name} is {shown(value)}; it must be a whole number from {at_least} on")
    return number


def finite_number(name: str, value: object, *, at_least: float = -np.inf) -> float:
    """A setting that is a number, neither NaN nor infinite."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not (np.isfinite(value) and value >= at_least):  # type: ignore[operator, call-overload]
        bound = "" if at_least == -np.inf else f" from {at_least:g} on"
        raise ConfigError(f"{name} is {shown(value)}; it must be a finite number{bound}")
    return float(value)  # type: ignore[arg-type]


# ---------------------------------------------------------------- words


def check_word(word: object) -> None:
    """Refuse what is no string."""
    if not isinstance(word, str):
        raise ArgumentTypeError(f"{shown(word)} is no word; give a str")


def check_token(word: object) -> None:
    """Refuse what is no single word: no proper string, an empty one, one with white space inside."""
    if not isinstance(word, str):
        check_word(word)
    elif not word or any(space in word for space in " \t\n\r\0") or any(map(_is_surrogate, word)):
        raise InputError(f"{shown(word)} is no single word; give one token")


def _is_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


def check_words(words: object) -> None:
    """Refuse what is no sequence of strings; a single string is none."""
    if isinstance(words, str | bytes) or not isinstance(words, Sequence | np.ndarray):
        raise ArgumentTypeError(f"{shown(words)} is no sequence of words; give a list of str")
    try:
        "".join(words)  # the quickest check of all types
    except TypeError:
        for word in words:
            check_word(word)
        raise ArgumentTypeError(f"{shown(words)} is no sequence of words; give a list of str") from None


def check_many(words: object) -> None:
    """Refuse a single string, whose letters would be taken for words, and what cannot be iterated over."""
    if isinstance(words, str | bytes) or not isinstance(words, Iterable):
        raise ArgumentTypeError(f"{shown(words)} is no list of words; give a list of str")


# ---------------------------------------------------------------- ids


def word_id(value: object, size: int) -> int:
    """The id of one of `size` words."""
    number = as_integer(value)
    if number is None or not 0 <= number < size:
        raise _no_word(value, size)
    return number


def word_ids(values: Sequence[int] | Array, size: int, *, dimensions: int = 1, first: int = 0) -> Int32Array:
    """Ids of `size` words, in an array as compiled code wants it; copied only if it is another one."""
    return integers(values, size, first=first, dimensions=dimensions, error=_no_word)


def integers(
    values: Sequence[int] | Array,
    end: int,
    *,
    first: int = 0,
    dimensions: int = 1,
    dtype: type[np.integer[Any]] = np.int32,
    error: Callable[[object, int], Exception],
) -> Array:
    """Whole numbers first .. end - 1 in a contiguous array; `error` makes an exception from a value and `end`."""
    try:
        array = np.asarray(values)
    except Exception:  # nested lists of different lengths, or what an object of somebody else's raises
        raise error(values, end) from None
    if array.ndim != dimensions or (array.size and array.dtype.kind not in "iu"):
        raise error(values, end)
    if array.size:
        lowest, highest = int(array.min()), int(array.max())
        if lowest < first or highest >= end:
            raise error(lowest if lowest < first else highest, end)
    return np.require(array, dtype, ["C", "A"])


def _no_word(value: object, size: int) -> WordIdError:
    return WordIdError(
        f"{shown(value)} is no id of a word; ids are whole numbers in 0..{size - 1:,}, as vocabulary.id_of gives them"
    )
