"""Options derived from settings, where each stands once with its default, its help and its range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import click

from morphlm.cli import options
from morphlm.settings import DeclaredSetting, Settings, check_value

Decorator = Callable[[Any], Any]

TYPES: dict[type, tuple[click.ParamType[Any], str]] = {int: (click.INT, "N"), float: (click.FLOAT, "X")}


def grouped(group: str, *names: str, **properties: Any) -> Decorator:
    """An option under a heading of the help."""
    return click.option(*names, cls=options.Option, group=group, **properties)


def setting_option(declared: DeclaredSetting, *, hidden: bool = False) -> Decorator:
    """The option of a setting; it has no default of its own, so that only what is given is passed on."""
    rule = declared.setting
    name = rule.option or "--" + declared.name.replace("_", "-")
    former = [rule.former] if rule.former else []
    properties: dict[str, Any] = {"former": former, "hidden": hidden, "default": None, "callback": _checked(declared)}
    if declared.type is bool:
        chosen = name.split("/")[0 if declared.default else 1].removeprefix("--") if "/" in name else ""
        default = rule.default_text or chosen
        properties |= {"is_flag": True}
    else:
        default = rule.default_text or _shown(declared.default)
        kind, metavar = TYPES.get(declared.type, (click.STRING, None))
        properties |= {"type": click.Choice(rule.choices) if rule.choices else kind, "metavar": rule.metavar or metavar}
    text = f"{rule.help}  [default: {default}]" if default else rule.help
    return grouped(rule.group or "More settings", name, declared.name, help=text, is_setting=True, **properties)


def _checked(declared: DeclaredSetting) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Refuses a value out of range by the name of the option."""

    def check(_: click.Context, parameter: click.Parameter, value: Any) -> Any:
        check_value(replace(declared, name=parameter.opts[0]), value)
        return value

    return check


def _shown(default: Any) -> str:
    return "" if default is None else f"{default:g}" if isinstance(default, float) else str(default)


class SettingOptions:
    """The options of a configuration's settings, of all or of those that are named: a decorator for commands."""

    def __init__(self, config: type[Settings], *names: str, default_text: str = "") -> None:
        """`default_text` is what the help says of a default, `{}` being its value."""
        declared = config.declared()
        self.declared = [declared[name] for name in names or declared]
        if default_text:
            self.declared = [
                replace(entry, setting=replace(entry.setting, default_text=default_text.format(entry.default)))
                for entry in self.declared
            ]

    @property
    def names(self) -> list[str]:
        """Of the settings, which are those of the parameters."""
        return [entry.name for entry in self.declared]

    def __call__(self, command: Any) -> Any:
        return options.applied([setting_option(entry) for entry in self.declared])(command)

    def chosen(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The settings among the values of options that the command line gave, by name."""
        return {entry.name: values[entry.name] for entry in self.declared if values[entry.name] is not None}
