"""Settings: their checks, their former names, and what the command line learns of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError
from morphlm.settings import Setting, Settings, current_names, declared_in, former_name, same_setting, setting


@dataclass(frozen=True)
class Sample(Settings):
    size: int = setting(4, "Of a thing.", at_least=2, at_most=9)
    rate: float = setting(0.5, "A share.", above=0, below=1, former="--share")
    name: str = setting("a", "A name.", choices=("a", "b"))
    mode: Literal["x", "y"] = setting("x", "A mode.", choices=("x", "y"))
    on: bool = setting(True, "A switch.", option="--on/--off", former="--yes/--no")
    limit: int | None = setting(None, "May be missing.", at_least=1)
    path: str | int | None = setting(None, "Of two types.")
    seed: int = 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"size": 1}, "size is 1; it must be a whole number at least 2 and at most 9"),
        ({"size": 10}, "size is 10; it must be a whole number at least 2 and at most 9"),
        ({"size": 3.0}, "size is 3.0; it must be a whole number at least 2 and at most 9"),
        ({"size": True}, "size is True; it must be a whole number at least 2 and at most 9"),
        ({"size": "3"}, "size is '3'; it must be a whole number at least 2 and at most 9"),
        ({"rate": 0}, "rate is 0; it must be a finite number above 0 and below 1"),
        ({"rate": 1.0}, "rate is 1.0; it must be a finite number above 0 and below 1"),
        ({"rate": math.nan}, "rate is nan; it must be a finite number above 0 and below 1"),
        ({"rate": -math.inf}, "rate is -inf; it must be a finite number above 0 and below 1"),
        ({"limit": 2**63}, f"limit is {2**63}; it must be a whole number at least 1"),
        ({"limit": 10**400}, f"limit is {10**400}; it must be a whole number at least 1"),
        ({"rate": -(10**400)}, f"rate is {-(10**400)}; it must be a finite number above 0 and below 1"),
        ({"name": "c"}, "name is 'c'; choose one of a, b"),
        ({"mode": "z"}, "mode is 'z'; choose one of x, y"),
        ({"on": 1}, "on is 1; it must be True or False"),
        ({"limit": 0}, "limit is 0; it must be a whole number at least 1"),
        ({"limit": True}, "limit is True; it must be a whole number at least 1"),  # though True == 1
    ],
)
def test_what_is_out_of_range_or_of_another_type_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Sample(**values)
    assert str(refused.value) == message


@given(st.integers(), st.floats())
def test_exactly_the_range_is_allowed(size: int, rate: float) -> None:
    assert Setting("", at_least=2, at_most=9).allows(size) == (2 <= size <= 9)
    assert Setting("", above=0, below=1).allows(rate) == (0 < rate < 1)


def test_what_is_allowed_is_kept() -> None:
    sample = Sample(size=9, rate=0.25, limit=None, path=3)
    assert (sample.size, sample.rate, sample.limit, sample.path) == (9, 0.25, None, 3)


def test_types_for_the_command_line() -> None:
    types = {name: declared.type for name, declared in Sample.declared().items()}
    assert types == {
        "size": int,
        "rate": float,
        "name": str,
        "mode": str,
        "on": bool,
        "limit": int,
        "path": object,
    }
    assert "seed" not in Sample.declared()  # a field that is no setting


def test_former_names_are_accepted() -> None:
    declared = Sample.declared()
    assert [former_name(entry) for entry in declared.values()] == ["", "share", "", "", "yes", "", ""]
    assert current_names({"share": 0.1, "yes": False, "size": 3, "other": 1}, declared) == {
        "rate": 0.1,
        "on": False,
        "size": 3,
        "other": 1,
    }
    assert Sample.from_values({"share": 0.1}, seed=7) == Sample(rate=0.1, seed=7)


def test_the_same_setting_elsewhere() -> None:
    @dataclass(frozen=True)
    class Other(Settings):
        size: int = same_setting(Sample, "size")

    assert declared_in(Other)["size"] == declared_in(Sample)["size"]
    with pytest.raises(ConfigError, match="size is 1"):
        Other(1)
    assert Other.from_values({}, seed=3) == Other(4)  # it has no field for a seed
