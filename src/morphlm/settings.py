"""Settings, each written once: a field of a frozen dataclass carries its help text and its range.

From there come the check when the dataclass is made, the option of the command line and its help, and the names by
which `morphlm.train` takes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, get_args, get_type_hints

from morphlm.errors import ConfigError

KEY = "morphlm setting"  # in the metadata of a dataclass field
LARGEST = 2**63  # whole numbers end up in arrays and kernels, which hold no larger ones


@dataclass(frozen=True)
class Setting:
    """What is known of a setting besides its name, type and default."""

    help: str  # for the command line
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    option: str = ""  # where it is not --the-name; `--on/--off` for a switch
    former: str = ""  # the option's name in earlier versions, which goes on working; so does the setting's
    metavar: str = ""
    group: str = ""  # heading in the help; '': among those that few need
    default_text: str = ""  # what the help says where the default is no value

    def describe_range(self) -> str:
        """For messages: `above 0 and at most 1`."""
        bounds = (("above", self.above), ("at least", self.at_least), ("below", self.below), ("at most", self.at_most))
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)

    def allows(self, value: float) -> bool:
        """Whether a number lies in the range."""
        return (
            (abs(value) < LARGEST if isinstance(value, int) else math.isfinite(value))
            and (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
        )


def setting(default: Any, help_text: str, **properties: Any) -> Any:
    """A dataclass field that is a setting, with `default` and `help_text`; `properties` are fields of `Setting`."""
    return field(default=default, metadata={KEY: Setting(help_text, **properties)})


@dataclass(frozen=True)
class DeclaredSetting:
    """A setting with all that the command line needs."""

    name: str
    type: type  # int, float, bool, str or object
    default: Any
    setting: Setting


def same_setting(config: type[Settings], name: str) -> Any:
    """The field of another dataclass again, with its default, help and range."""
    (original,) = (entry for entry in fields(config) if entry.name == name)  # type: ignore[arg-type]
    return field(default=original.default, metadata=original.metadata)


class Settings:
    """Base of frozen dataclasses with settings: values of another type or outside the range are refused."""

    def __post_init__(self) -> None:
        for name, declared in declared_in(type(self)).items():
            check_value(declared, getattr(self, name))

    @classmethod
    def declared(cls) -> dict[str, DeclaredSetting]:
        """The settings by name."""
        return declared_in(cls)

    @classmethod
    def from_values(cls, values: Mapping[str, Any], seed: int) -> Self:
        """Make one of settings by name, those of earlier versions too; the seed goes in if there is a field for it."""
        seeds = {"seed": seed} if any(entry.name == "seed" for entry in fields(cls)) else {}  # type: ignore[arg-type]
        return cls(**current_names(values, cls.declared()), **seeds)


def declared_in(config: type) -> dict[str, DeclaredSetting]:
    """The fields of a dataclass that are settings."""
    hints = get_type_hints(config)
    return {
        entry.name: DeclaredSetting(entry.name, _plain_type(hints[entry.name]), entry.default, entry.metadata[KEY])
        for entry in fields(config)
        if KEY in entry.metadata
    }


def _plain_type(hint: Any) -> type:
    """The one of int, float, bool and str that a type hint allows; object where there are several or none."""
    allowed = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    plain = [str if isinstance(kind, str) else kind for kind in allowed]  # Literal["block", "token"]
    return plain[0] if len(set(plain)) == 1 and plain[0] in (int, float, bool, str) else object


def check_value(declared: DeclaredSetting, value: Any) -> None:
    """Refuse a value of another type or outside the range; None stands for the default."""
    name, rule = declared.name, declared.setting
    if value is None:
        return
    if rule.choices and value not in rule.choices:
        raise ConfigError(f"{name} is {value!r}; choose one of {', '.join(rule.choices)}")
    expected = {int: "a whole number", float: "a finite number", bool: "True or False", str: "a text"}
    if declared.type not in expected:
        return
    accepted = (int, float) if declared.type is float else (declared.type,)
    is_right = isinstance(value, accepted) and (declared.type is bool or not isinstance(value, bool))
    if not is_right or (declared.type in (int, float) and not rule.allows(value)):
        bounds = f" {rule.describe_range()}" if rule.describe_range() else ""
        raise ConfigError(f"{name} is {value!r}; it must be {expected[declared.type]}{bounds}")


def former_name(declared: DeclaredSetting) -> str:
    """What the setting was called in earlier versions; '' if it had the same name."""
    return declared.setting.former.partition("/")[0].removeprefix("--").replace("-", "_")


def current_names(values: Mapping[str, Any], declared: Mapping[str, DeclaredSetting]) -> dict[str, Any]:
    """The same values under the names of today."""
    renamed = {former_name(entry): name for name, entry in declared.items() if entry.setting.former}
    return {renamed.get(name, name): value for name, value in values.items()}
