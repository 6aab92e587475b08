"""Schemas of settings follow from their dataclasses."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import pytest

from morphlm.errors import ConfigError
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.schema import Integer, SchemaError, settings_record
from morphlm.segmentation.segmenter import SegmenterConfig
from morphlm.settings import Settings, setting
from morphlm.translation.alignment.config import AlignmentConfig
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.grammar.config import GrammarConfig
from tests.schema.forge import forged_values


@dataclass(frozen=True)
class Some(Settings):
    count: int = setting(3, "How many.", at_least=1, at_most=9)
    free: int = 0
    rate: float = setting(0.5, "A rate.", above=0, below=1)
    switch: bool = setting(True, "On or off.")
    way: Literal["a", "b"] = setting("a", "Which way.", choices=("a", "b"))
    maybe: float | None = None
    inner: dict[str, int] = field(default_factory=dict)


SOME = settings_record(Some, inner=Integer(0))


@pytest.mark.parametrize(
    "content",
    [{}, {"count": 9, "rate": 0.25, "switch": False, "way": "b", "maybe": None, "free": 9}, {"inner": 1}],
)
def test_what_fits(content: dict[str, Any]) -> None:
    SOME.check(content, "x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"count": 10}, "x.count is 10, not a whole number from 1 to 9"),
        ({"count": 3.0}, "x.count is 3.0, not a whole number from 1 to 9"),
        ({"count": True}, "x.count is True, not a whole number from 1 to 9"),
        ({"free": -1}, "x.free is -1, not a whole number from 0 to 2147483647"),
        ({"rate": 0}, "x.rate is 0, not above 0 and below 1"),
        ({"rate": 1.0}, "x.rate is 1.0, not above 0 and below 1"),
        ({"rate": float("nan")}, "x.rate is nan, not a finite number from -inf to inf"),
        ({"switch": 1}, "x.switch is 1, not true or false"),
        ({"way": "c"}, "x.way is 'c', not one of a, b"),
        ({"maybe": "1"}, "x.maybe is '1', not a finite number from -inf to inf"),
        ({"inner": {}}, "x.inner is a dict, not a whole number from 0"),
        ({"other": 1}, "x has a field 'other', which is not known"),
        ([], "x is a list, not an object"),
    ],
)
def test_what_does_not(content: Any, message: str) -> None:
    with pytest.raises(SchemaError) as refused:
        SOME.check(content, "x")
    assert str(refused.value).startswith(message)


def test_a_field_without_a_schema_is_an_error_of_the_programmer() -> None:
    with pytest.raises(TypeError, match="has no schema; give it one"):
        settings_record(Some)


@pytest.mark.parametrize("config", [LogBilinearConfig, SegmenterConfig, AlignmentConfig, GrammarConfig, DecoderConfig])
def test_what_a_schema_takes_the_dataclass_takes(config: type[Any]) -> None:
    """Else a manifest could pass the check and fail later, not naming the file."""
    schema, default = settings_record(config), asdict(config())
    schema.check(default, "x")
    taken = 0
    for _, forged in forged_values(default):
        try:
            schema.check(forged, "x")
        except SchemaError:
            continue
        taken += 1
        with contextlib.suppress(ConfigError):  # a contradiction between settings, said in one line
            config(**forged)
    assert taken > 20
