"""Every sort of JSON value: what it takes, what it refuses, and what the refusal says."""

from __future__ import annotations

import math
from typing import Any

import pytest

from morphlm.schema import (
    DIGEST,
    FILE_NAME,
    RELATIVE_PATH,
    SHOWN_TEXT,
    Anything,
    Boolean,
    Integer,
    ListOf,
    MapOf,
    Null,
    Number,
    OneOf,
    Record,
    Related,
    SchemaError,
    String,
    TupleOf,
    Value,
    nullable,
)

HUGE = 10**5000  # more digits than Python writes


def fits(schema: Value, value: Any) -> bool:
    try:
        schema.check(value, "x")
    except SchemaError:
        return False
    return True


CASES: list[tuple[Value, list[Any], list[Any]]] = [
    (Null(), [None], [0, False, "", [], {}]),
    (Boolean(), [True, False], [0, 1, None, "true", 1.0, []]),
    (Integer(), [0, -1, 2**63 - 1, -(2**63)], [True, False, 1.0, math.nan, 2**63, -(2**63) - 1, HUGE, "1", None, [1]]),
    (Integer(1, 3), [1, 2, 3], [0, 4, -1, True, 2.0]),
    (Number(), [0, 1.5, -1e308, 2**70], [True, math.nan, math.inf, -math.inf, HUGE, -HUGE, "1", None, []]),
    (Number(0, 1), [0, 1, 0.5, 1e-320], [-1e-320, 1.0000001, -1, 2, False]),
    (Number(above=0), [1e-320, 1], [0, 0.0, -0.0, -1]),
    (String(), ["", "a", "\0", "a" * 2**20], ["a" * (2**20 + 1), b"a", None, 1, ["a"]]),
    (String(choices=("a", "b")), ["a", "b"], ["", "ab", "A", None]),
    (String(pattern="[a-z]+"), ["a", "az"], ["", "a\n", "A", "a a", "\na"]),
    (String(longest=2, shortest=1), ["a", "ab"], ["", "abc"]),
    (Anything(), [None, 1, [], {}, "a"], []),
    (OneOf((Integer(0, 1), String())), [0, 1, "a"], [2, None, True]),
    (nullable(Integer()), [None, 1], [True, "", 1.0]),
    (ListOf(Integer(0)), [[], [0], [1, 2]], [[-1], [0, "a"], {}, None, "ab", (0,)]),
    (ListOf(Null(), 1, 2), [[None], [None, None]], [[], [None] * 3]),
    (TupleOf((Integer(), String())), [[1, "a"]], [["a", 1], [1], [1, "a", 2], {}, None]),
    (
        MapOf(Integer(), keys=String(pattern="[a-z]"), longest=2),
        [{}, {"a": 1, "b": 2}],
        [{"A": 1}, {"a": ""}, [], None],
    ),
    (MapOf(Null(), longest=1), [{"a": None}], [{"a": None, "b": None}]),
    (Record({"a": Integer()}), [{"a": 1}], [{}, {"a": "1"}, {"a": 1, "b": 1}, [], None]),
    (Record({}, optional={"a": Integer()}), [{}, {"a": 1}], [{"a": None}, {"b": 1}]),
    (Record({"a": Integer()}, is_open=True), [{"a": 1, "b": [1]}], [{"b": 1}, {"a": True}]),
    (Related(ListOf(Integer()), (lambda items: "" if sum(items) == 3 else "no 3",)), [[1, 2], [3]], [[1], ["a"], []]),
    (DIGEST, ["0" * 64, "af" * 32], ["0" * 63, "0" * 65, "G" * 64, "AF" * 32, "0" * 64 + "\n"]),
    (
        FILE_NAME,
        ["a", "a.b", "..a", "...", "clbl++", "ž"],
        ["", ".", "..", "a/b", "/", "a\0", "a\n", "..\n", "a" * 256],
    ),
    (
        RELATIVE_PATH,
        ["a", "a/b", "a/..b/c"],
        ["", "/a", "a/", "a//b", "../a", "a/../b", "a/..", "./a", "a\0", "a/b\n"],
    ),
    (SHOWN_TEXT, ["", "a b ž"], ["\x1b[2J", "a\nb", "\x9b", "\x7f", "a" * 1001]),
]


@pytest.mark.parametrize(("schema", "right", "wrong"), CASES, ids=lambda case: type(case).__name__)
def test_what_fits(schema: Value, right: list[Any], wrong: list[Any]) -> None:
    assert [value for value in right if not fits(schema, value)] == []
    assert [type(value) for value in wrong if fits(schema, value)] == []


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (Integer(0, 9), 10, "x is 10, not a whole number from 0 to 9"),
        (Integer(0, 9), True, "x is True, not a whole number from 0 to 9"),
        (Integer(0, 9), HUGE, "x is a whole number of 16610 bits, not a whole number from 0 to 9"),
        (Number(0, 1), math.nan, "x is nan, not a finite number from 0 to 1"),
        (Number(above=0), -1, "x is -1, not a finite number from 0 to inf"),
        (String(choices=("a", "b")), "\x1b[2J", "x is '\\x1b[2J', not one of a, b"),
        (String(longest=2), "ž" * 5000, "x is '\\u017e\\u017e\\u017e\\u017e"),
        (ListOf(Integer()), [1, None], "x[1] is None, not a whole number from -9223372036854775808 to "),
        (Record({"a": Integer()}), {}, "x.a is missing"),
        (Record({}), {"a\n": 1}, "x has a field 'a\\n', which is not known"),
        (MapOf(Null()), {"a\n": 1}, "x.a\\n is 1, not null"),
        (Record({"a": Record({"b": Null()})}), {"a": {"b": []}}, "x.a.b is a list, not null"),
        (Related(Anything(), (lambda _: "no good",)), 1, "x: no good"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_messages(schema: Value, value: Any, message: str) -> None:
    with pytest.raises(SchemaError) as refused:
        schema.check(value, "x")
    assert str(refused.value).startswith(message) and len(str(refused.value)) < 200
