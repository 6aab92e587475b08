"""The options of the commands that train: derived from the settings, where each stands with its help and its range."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from morphlm.cli import options, setting_options
from morphlm.cli.options import applied
from morphlm.cli.setting_options import setting_option
from morphlm.errors import ConfigError
from morphlm.kinds import ModelKind, kind_named, kind_names
from morphlm.settings import DeclaredSetting
from morphlm.training.continuing import ContinueOptions
from morphlm.training.inputs import InputOptions
from morphlm.training.job import RunOptions
from morphlm.training.pipeline import ModelOptions, setting_names

Command = TypeVar("Command", bound=Callable[..., Any])
grouped = setting_options.grouped
FOR_FACTORS, FOR_CLASSES = {"factors", "corpus_weight"}, {"classes", "class_method"}

train = grouped(
    "Text",
    "--train",
    "files",
    multiple=True,
    metavar="FILE",
    help="The same as TEXT; may be repeated.  [default: stdin]",
)
texts = click.argument("texts", nargs=-1, metavar="[TEXT]...")
dev = grouped(
    "Text", "--dev", metavar="FILE", help="Development text: training stops when its perplexity rises.  [required]"
)
out = grouped("Text", "--out", type=click.Path(), metavar="DIR", help="Write the model directory here.  [required]")
test = grouped("Text", "--test", metavar="FILE", help="Print the perplexity of this text in the end.")
seed = grouped(
    "Run",
    "--seed",
    type=click.INT,
    default=1,
    metavar="N",
    show_default=True,
    help="Equal seeds give equal results.",
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
    """The settings of kinds of models, each once, those of their inputs among them; unused ones are not shown."""
    declared: dict[str, DeclaredSetting] = {}
    for kind in kinds:
        declared = (kind.load("options").declared() if kind.options else {}) | declared  # type: ignore[attr-defined]
    return _options_of(declared | InputOptions.declared(), kinds)


def run_options_of(kinds: Sequence[ModelKind]) -> Callable[[Command], Command]:
    """The settings of the run."""
    return _options_of(RunOptions.declared(), kinds)


def _options_of(declared: Mapping[str, DeclaredSetting], kinds: Sequence[ModelKind]) -> Callable[[Command], Command]:
    used = used_options(kinds)
    return applied([setting_option(entry, hidden=name not in used) for name, entry in declared.items()])


def used_options(kinds: Sequence[ModelKind]) -> set[str]:
    """The settings of models, inputs and runs that mean something to some of the kinds."""
    used = {name for kind in kinds for name in setting_names(kind)}
    used |= InputOptions.declared().keys() - FOR_FACTORS - FOR_CLASSES
    used |= FOR_FACTORS if any(kind.needs_factors for kind in kinds) else set()
    used |= FOR_CLASSES if any(kind.needs_classes for kind in kinds) else set()
    used |= {"checkpoint_minutes"} if any(kind.writes_checkpoints for kind in kinds) else set()
    used |= {"threads"} if any(kind.writes_checkpoints or kind.needs_classes for kind in kinds) else set()
    used |= ContinueOptions.declared().keys() if any(kind.can_continue for kind in kinds) else set()
    used |= {"resume", "restart"}
    return used


def continue_options_of(kind: ModelKind) -> Callable[[Command], Command]:
    """The settings of a training that continues a model."""
    return _options_of(ContinueOptions.declared(), [kind])


def training_texts(values: Mapping[str, Any]) -> list[Path]:
    """The texts that are named as arguments or by --train; standard input if there are none."""
    return options.as_paths(options.or_stdin((*values["files"], *values.get("texts", ()))))


def check_dev(dev: str | None, purpose: str) -> str:
    """The development text, which must be named; `purpose` is what it is for."""
    if dev is None:
        raise ConfigError(
            f"there is no development text {purpose}; give --dev FILE, text that is not among the training text "
            "(`morphlm learn TEXT --out DIR` divides a text by itself)"
        )
    return dev


def input_options(values: Mapping[str, Any]) -> InputOptions:
    """The options that say what a model is made of."""
    chosen = {name: values[name] for name in InputOptions.declared() if values[name] is not None}
    classes = chosen.get("classes")
    if classes is not None and classes.isascii() and classes.isdecimal():
        chosen["classes"] = int(classes)
    return InputOptions(seed=values["seed"], threads=values["threads"], **chosen)


def model_options(values: Mapping[str, Any], kinds: Sequence[str]) -> ModelOptions:
    """The options that are settings of some of the kinds."""
    names = {name for kind in kinds for name in setting_names(kind_named(kind))}
    chosen = {name: value for name, value in values.items() if name in names and value is not None}
    return ModelOptions(chosen, seed=values["seed"])


def run_options(values: Mapping[str, Any]) -> RunOptions:
    """The options of the run."""
    return RunOptions(**{name: values[name] for name in RunOptions.declared() if values.get(name) is not None})


def continue_options(values: Mapping[str, Any]) -> ContinueOptions:
    """The options of a training that continues a model."""
    return ContinueOptions(**{name: values[name] for name in ContinueOptions.declared() if values[name] is not None})


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
            for one in value if parameter.multiple else [value]:
                words += [parameter.opts[0], str(one)]
    return words


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def check_used(context: click.Context, kinds: Sequence[str]) -> None:
    """Refuse options that were given and that none of the models uses."""
    used = used_options([kind_named(kind, trainable=True) for kind in kinds])
    for parameter in context.command.params:
        name = parameter.name or ""
        if not (isinstance(parameter, options.Option) and parameter.is_setting) or name in used:
            continue
        if _is_given(context, name):
            users = [kind for kind in kind_names() if name in used_options([kind_named(kind)])]
            option = (parameter.opts if context.params[name] is not False else parameter.secondary_opts)[0]
            what = f"{option} means nothing to {', '.join(kinds)}"
            raise ConfigError(f"{what}; leave it out, it is for {', '.join(users)}")
