"""Schemas of JSON values: types, ranges and lengths. A bool is no number, and no number is infinite or NaN."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from morphlm.display import dataclass_repr

INT64 = 2**63
LONGEST_STRING = 1 << 20  # characters
LONGEST_LIST = 1 << 20  # items
SHOWN = 60  # characters of a wrong value in a message


class SchemaError(ValueError):
    """What does not fit a schema: `where: what is there; what should be`."""


def wrong_value(where: str, value: Any, expected: str) -> SchemaError:
    """The error for a value; only its beginning is shown, with control characters escaped."""
    if isinstance(value, int) and value.bit_length() > 64:  # Python refuses to write very long ones
        shown = f"a whole number of {value.bit_length()} bits"
    else:
        shown = ascii(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
    return SchemaError(f"{where} is {shown if len(shown) <= SHOWN else shown[:SHOWN] + '...'}, not {expected}")


class Value(ABC):
    """What a JSON value may be."""

    @abstractmethod
    def check(self, value: Any, where: str) -> None:
        """Raise SchemaError if the value is anything else; `where` names it."""


@dataclass(frozen=True)
class Null(Value):
    """Nothing, JSON's null."""

    def check(self, value: Any, where: str) -> None:
        if value is not None:
            raise wrong_value(where, value, "null")


@dataclass(frozen=True)
class Boolean(Value):
    """Either true or false."""

    __repr__ = dataclass_repr

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, bool):
            raise wrong_value(where, value, "true or false")


@dataclass(frozen=True)
class Integer(Value):
    """A whole number, by default of 64 bits."""

    at_least: int = -INT64
    at_most: int = INT64 - 1

    __repr__ = dataclass_repr

    def check(self, value: Any, where: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not self.at_least <= value <= self.at_most:
            raise wrong_value(where, value, f"a whole number from {self.at_least} to {self.at_most}")


@dataclass(frozen=True)
class Number(Value):
    """A finite number; whole ones count too."""

    at_least: float = -math.inf
    at_most: float = math.inf
    above: float = -math.inf

    __repr__ = dataclass_repr

    def check(self, value: Any, where: str) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                number = float(value)
            except OverflowError:  # a whole number that is too large
                number = math.inf
            above = number > self.above or self.above == -math.inf
            if math.isfinite(number) and above and self.at_least <= number <= self.at_most:
                return
        raise wrong_value(where, value, f"a finite number from {max(self.at_least, self.above):g} to {self.at_most:g}")


@dataclass(frozen=True)
class String(Value):
    """A text: of some choices, of a pattern, or any of a length."""

    choices: tuple[str, ...] = ()
    pattern: str = ""  # a regular expression that all of it matches
    longest: int = LONGEST_STRING
    shortest: int = 0

    __repr__ = dataclass_repr

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, str) or not self.shortest <= len(value) <= self.longest:
            raise wrong_value(where, value, f"a text of {self.shortest} to {self.longest} characters")
        if self.choices and value not in self.choices:
            raise wrong_value(where, value, f"one of {', '.join(self.choices)}")
        if self.pattern and re.fullmatch(self.pattern, value) is None:
            raise wrong_value(where, value, f"of the form {self.pattern}")


@dataclass(frozen=True)
class Anything(Value):
    """Any JSON: what people read and no code does."""

    __repr__ = dataclass_repr

    def check(self, value: Any, where: str) -> None:
        pass


@dataclass(frozen=True)
class OneOf(Value):
    """What fits any of these."""

    options: tuple[Value, ...]

    def check(self, value: Any, where: str) -> None:
        problems = []
        for option in self.options:
            try:
                return option.check(value, where)
            except SchemaError as problem:
                problems.append(problem)
        raise problems[-1]


def nullable(value: Value) -> OneOf:
    """The value, or null."""
    return OneOf((Null(), value))


@dataclass(frozen=True)
class ListOf(Value):
    """A list of values of one sort."""

    item: Value
    shortest: int = 0
    longest: int = LONGEST_LIST

    __repr__ = dataclass_repr

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, list) or not self.shortest <= len(value) <= self.longest:
            raise wrong_value(where, value, f"a list of {self.shortest} to {self.longest} items")
        for number, item in enumerate(value):
            self.item.check(item, f"{where}[{number}]")


@dataclass(frozen=True)
class TupleOf(Value):
    """A list with one item of each of these sorts, in this order."""

    items: tuple[Value, ...]

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) != len(self.items):
            raise wrong_value(where, value, f"a list of {len(self.items)} items")
        for number, (item, expected) in enumerate(zip(value, self.items, strict=True)):
            expected.check(item, f"{where}[{number}]")


@dataclass(frozen=True)
class Related(Value):
    """A value whose parts must belong together: relations are functions that name what is wrong, or ''."""

    value: Value
    relations: tuple[Callable[[Any], str], ...]

    def check(self, value: Any, where: str) -> None:
        self.value.check(value, where)
        for relation in self.relations:
            if problem := relation(value):
                raise SchemaError(f"{where}: {problem}")


@dataclass(frozen=True)
class MapOf(Value):
    """An object with keys of one sort and values of one sort."""

    values: Value
    keys: String = field(default_factory=String)
    longest: int = LONGEST_LIST

    __repr__ = dataclass_repr

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, dict) or len(value) > self.longest:
            raise wrong_value(where, value, f"an object of at most {self.longest} entries")
        for key, entry in value.items():
            self.keys.check(key, f"a key of {where}")
            self.values.check(entry, f"{where}.{ascii(key)[1:-1][:SHOWN]}")


@dataclass(frozen=True)
class Record(Value):
    """An object with named fields; those that are optional may be missing, others than these only if it is open."""

    fields: Mapping[str, Value]
    optional: Mapping[str, Value] = field(default_factory=dict)
    is_open: bool = False

    __repr__ = dataclass_repr

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise wrong_value(where, value, "an object")
        for name in self.fields:
            if name not in value:
                raise SchemaError(f"{where}.{name} is missing")
        for name, entry in value.items():
            expected = self.fields.get(name) or self.optional.get(name)
            if expected is not None:
                expected.check(entry, f"{where}.{name}")
            elif not self.is_open:
                raise SchemaError(f"{where} has a field {ascii(name)[:SHOWN]}, which is not known")
