"""Options that several commands share."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from morphlm.errors import ConfigError
from morphlm.progress import notify
from morphlm.settings import DeclaredSetting, Settings, check_value

if TYPE_CHECKING:  # not all commands take the time to load models
    from morphlm.language_model.base import LanguageModel

Command = TypeVar("Command", bound=Callable[..., Any])


def applied(decorators: Sequence[Callable[[Any], Any]]) -> Callable[[Command], Command]:
    """Several options as one decorator, in this order."""

    def apply(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return apply


class Option(click.Option):
    """An option that stands under a heading of the help, and still answers to the names it had before."""

    def __init__(self, *args: Any, former: Sequence[str] = (), group: str = "", **kwargs: Any) -> None:
        """`former` are the old names, which help does not show; those of a switch are written `--on/--off`."""
        super().__init__(*args, **kwargs)
        self.group = group
        self._shown = list(self.opts), list(self.secondary_opts)
        for names in former:
            on, _, off = names.partition("/")
            self.opts.append(on)
            self.secondary_opts += [off] if off else []

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The help text under the new names."""
        shown = copy.copy(self)
        shown.opts, shown.secondary_opts = self._shown
        return super(Option, shown).get_help_record(ctx)


class GroupedHelp(click.Command):
    """A command whose help shows options under headings: first what most people need, then the rest."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(parameter, "group", "") or "Help", []).append(record)
        for heading in sorted(groups, key=HEADINGS.index):
            with formatter.section(heading):
                formatter.write_dl(groups[heading])


HEADINGS = ("Text", "Model", "Run", "More settings", "Help")


# ---------------------------------------------------------------- options from settings

TYPES: dict[type, tuple[click.ParamType[Any], str]] = {int: (click.INT, "N"), float: (click.FLOAT, "X")}


def grouped(group: str, *names: str, **properties: Any) -> Callable[[Command], Command]:
    """An option under a heading of the help."""
    return click.option(*names, cls=Option, group=group, **properties)


def setting_option(declared: DeclaredSetting, *, hidden: bool = False) -> Callable[[Command], Command]:
    """The option of a setting; it has no default of its own, so that only what is given is passed on."""
    rule = declared.setting
    name = rule.option or "--" + declared.name.replace("_", "-")
    former = [rule.former] if rule.former else []
    properties: dict[str, Any] = {"former": former, "hidden": hidden, "default": None, "callback": _checked(declared)}
    if declared.type is bool:
        default = name.split("/")[0 if declared.default else 1].removeprefix("--") if "/" in name else ""
        properties |= {"is_flag": True}
    else:
        default = rule.default_text or _shown(declared.default)
        kind, metavar = TYPES.get(declared.type, (click.STRING, None))
        properties |= {"type": click.Choice(rule.choices) if rule.choices else kind, "metavar": rule.metavar or metavar}
    text = f"{rule.help}  [default: {default}]" if default else rule.help
    return grouped(rule.group or "More settings", name, declared.name, help=text, **properties)


def setting_options(config: type[Settings]) -> Callable[[Command], Command]:
    """The options of all settings of a dataclass."""
    return applied([setting_option(declared) for declared in config.declared().values()])


def _checked(declared: DeclaredSetting) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Refuses a value out of range by the name of the option."""

    def check(_: click.Context, parameter: click.Parameter, value: Any) -> Any:
        check_value(replace(declared, name=parameter.opts[0]), value)
        return value

    return check


def _shown(default: Any) -> str:
    return "" if default is None else f"{default:g}" if isinstance(default, float) else str(default)


def chosen(config: type[Settings], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the command line's values that are settings of a dataclass and were given."""
    return {name: values[name] for name in config.declared() if values.get(name) is not None}


# ---------------------------------------------------------------- options of several commands

text_files = click.argument("files", nargs=-1, metavar="[FILE]...")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
seed = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=1, show_default=True, help="Equal seeds give equal results."
)
allow_unk = click.option("--allow-unk", is_flag=True, help="The text may contain <unk> for words that were replaced.")

as_json_lines = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")
unit = click.option(
    "--unit",
    type=click.Choice(["nats", "log10", "bits"]),
    default="nats",
    show_default=True,
    help="Natural logarithms, or those to the base 10 or 2.",
)
unknown_contexts = click.option(
    "--unknown-contexts",
    type=click.Choice(["unk", "composed"]),
    default="unk",
    show_default=True,
    help="What stands for an unknown word in the context of others: UNK, or the sum of the word's known factors.",
)
normalise = click.option(
    "--normalise", is_flag=True, help="Score words as the model's training text was prepared (lower case, digits as 0)."
)
scoring = applied([unit, normalise, unknown_contexts, allow_unk, as_json_lines])


def kappa(default: float) -> Callable[[Command], Command]:
    """The singleton pruning rate; commands differ in its default."""
    return click.option(
        "--kappa",
        type=click.FloatRange(0, 1),
        default=default,
        show_default=True,
        help="Share of the words occurring once that becomes UNK (paper: 0.2 on a million tokens, 0.05 on more).",
    )


def or_stdin(files: tuple[str, ...]) -> list[str]:
    """Standard input if no file is named; it can be named once."""
    if files.count("-") > 1:
        raise ConfigError("standard input ('-') is named more than once; it can be read only once")
    return list(files) or ["-"]


def check_one_stdin(model: str, *others: str) -> None:
    """A model and a text cannot both come through standard input."""
    if [model, *others].count("-") > 1:
        raise ConfigError(
            "standard input ('-') is named more than once, or for want of a file; it can be read only once"
        )


def check_composes(path: str, model: LanguageModel, contexts: str) -> None:
    """Tell where unknown words were to be composed in contexts and cannot be."""
    if contexts == "composed" and not model.composes_contexts:
        notify(f"warning: {path} cannot compose unknown words; they are UNK in contexts")


def json_line(content: Any) -> str:
    """JSON on one line."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def print_json(content: Any, *, err: bool = False) -> None:
    """JSON on standard output, or on standard error where that carries something else."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False), err=err)


def print_result(result: Any, as_json: bool) -> None:
    """A result on standard output, as JSON or for people to read."""
    if as_json:
        print_json(result.to_json())
    else:
        click.echo(result.format())
