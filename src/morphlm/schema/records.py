"""Schemas of settings: their types and ranges are declared in their dataclass already (settings.py)."""

from __future__ import annotations

from dataclasses import fields
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from morphlm.schema.values import Boolean, Integer, Null, Number, OneOf, Record, SchemaError, String, Value
from morphlm.settings import KEY, Setting

LARGEST_SETTING = 2**31 - 1  # kernels count in 32 bits in places


def settings_record(config: type[Any], **limits: Value) -> Record:
    """The schema of a dataclass of settings as JSON; `limits` replace the schema of single fields.

    Every field may be missing: then it has its default, as in models that were written before it was there.
    """
    hints = get_type_hints(config)
    others = (entry for entry in fields(config) if entry.name not in limits)
    declared = {entry.name: _value_of(hints[entry.name], entry.metadata.get(KEY)) for entry in others}
    return Record({}, optional=declared | limits)


def _value_of(hint: Any, rule: Setting | None) -> Value:
    if get_origin(hint) is Literal:
        return String(choices=get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        options = [_value_of(kind, rule) for kind in get_args(hint)]
        return OneOf(tuple(sorted(options, key=lambda option: not isinstance(option, Null))))  # messages tell the last
    return _plain(hint, rule)


def _plain(kind: Any, rule: Setting | None) -> Value:
    rule = rule or Setting("")
    if kind is type(None):
        return Null()
    if kind is bool:
        return Boolean()
    if kind is int:
        bounds = {"at_least": rule.at_least, "at_most": rule.at_most}
        given = {name: int(bound) for name, bound in bounds.items() if bound is not None}
        return Integer(**{"at_least": 0, "at_most": LARGEST_SETTING} | given)
    if kind is float:
        return _Ranged(rule)
    if kind is str:
        return String(choices=rule.choices)
    raise TypeError(f"a setting of the type {kind} has no schema; give it one")


class _Ranged(Value):
    """A number in the range of a setting."""

    def __init__(self, rule: Setting) -> None:
        self.rule = rule

    def check(self, value: Any, where: str) -> None:
        Number().check(value, where)
        if not self.rule.allows(value):
            raise SchemaError(f"{where} is {value!r}, not {self.rule.describe_range()}")
