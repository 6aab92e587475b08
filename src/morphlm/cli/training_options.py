"""The options of the commands that train: derived from the settings, where each stands with its help and its range."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.options import Command, applied, grouped, setting_option
from morphlm.errors import ConfigError
from morphlm.kinds import ModelKind, kind_named, kind_names
from morphlm.settings import DeclaredSetting
from morphlm.training.inputs import InputOptions
from morphlm.training.job import RunOptions
from morphlm.training.pipeline import ModelOptions, setting_names

FOR_FACTORS, FOR_CLASSES = ("factors", "corpus_weight"), ("classes", "class_method")


train = grouped("Text", "--train", "files", multiple=True, metavar="FILE", help="Training text; may be repeated ['-'].")
dev = grouped("Text", "--dev", metavar="FILE", help="Development text: training stops when its perplexity rises.")
out = grouped("Text", "--out", type=click.Path(), metavar="DIR", help="Write the model directory here.")
test = grouped("Text", "--test", metavar="FILE", help="Print the perplexity of this text in the end.")
seed = grouped(
    "Run", "--seed", type=int, default=1, metavar="N", show_default=True, help="Equal seeds give equal results."
)
as_json = grouped("Run", "--json", "as_json", is_flag=True, help="Print the result as JSON.")
threads = setting_option(RunOptions.declared()["threads"])
artefacts = grouped(
    "More settings",
    "--artefacts",
    type=click.Path(),
    metavar="DIR",
    former=["--stages"],
    help="Keep vocabulary, segmenter and classes here.  [default: `artefacts` beside the model]",
)


def kind_options(kinds: Sequence[ModelKind]) -> Callable[[Command], Command]:
    """The settings of kinds of models, each once, those of their inputs among them."""
    declared: dict[str, DeclaredSetting] = {}
    for kind in kinds:
        declared = (kind.load("options").declared() if kind.options else {}) | declared  # type: ignore[attr-defined]
    return used_options(kinds, declared | InputOptions.declared())


def used_options(kinds: Sequence[ModelKind], declared: Mapping[str, DeclaredSetting]) -> Callable[[Command], Command]:
    """The options of settings; those that mean nothing to any of the kinds are not shown."""
    used = {name for kind in kinds for name in declared if _uses(kind, name)}
    return applied([setting_option(entry, hidden=name not in used) for name, entry in declared.items()])


def input_options(values: Mapping[str, Any]) -> InputOptions:
    """The options that say what a model is made of."""
    chosen = options.chosen(InputOptions, values)
    classes = chosen.get("classes")
    if classes is not None and classes.isascii() and classes.isdecimal():
        chosen["classes"] = int(classes)
    return InputOptions(seed=values["seed"], threads=values["threads"], **chosen)


def model_options(values: Mapping[str, Any]) -> ModelOptions:
    """The options that are settings of some kind of model."""
    names = {name for kind in kind_names() for name in setting_names(kind_named(kind))}
    chosen = {name: value for name, value in values.items() if name in names and value is not None}
    return ModelOptions(chosen, seed=values["seed"])


def command_line(context: click.Context, leave_out: Sequence[str]) -> list[str]:
    """The options that were given, as one would type them again, but for some."""
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if not isinstance(parameter, click.Option) or name in leave_out or not _is_given(context, name):
            continue
        value = context.params[name]
        if parameter.is_flag:
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            for argument in value if parameter.multiple else [value]:
                words += [parameter.opts[0], str(argument)]
    return words


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def check_used(context: click.Context, kinds: Sequence[str]) -> None:
    """Refuse options that were given and that none of the models uses."""
    records = [kind_named(kind, trainable=True) for kind in kinds]
    for parameter in context.command.params:
        name = parameter.name or ""
        if _is_given(context, name) and not any(_uses(record, name) for record in records):
            users = [kind for kind in kind_names() if _uses(kind_named(kind), name)]
            option = (parameter.opts if context.params[name] is not False else parameter.secondary_opts)[0]
            raise ConfigError(
                f"{option} means nothing to {', '.join(kinds)}; leave it out, it is for {', '.join(users)}"
            )


def _uses(kind: ModelKind, option: str) -> bool:
    """Whether an option means something to a kind; those that are no settings concern all."""
    if option in FOR_FACTORS:
        return kind.needs_factors
    if option in FOR_CLASSES:
        return kind.needs_classes
    if option in ("threads", "checkpoint_minutes"):
        return kind.writes_checkpoints
    is_model_setting = any(option in setting_names(kind_named(name)) for name in kind_names())
    return not is_model_setting or option in setting_names(kind)
