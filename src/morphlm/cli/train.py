"""`morphlm train`: one subcommand a kind of model, and --all for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from morphlm.cli import options, training_options
from morphlm.errors import ConfigError, TrainingError
from morphlm.files import is_file
from morphlm.kinds import ModelKind, find_kind, kind_named, kind_names
from morphlm.training.inputs import InputOptions
from morphlm.training.job import RunOptions
from morphlm.training.pipeline import ModelOptions, train_all, train_one

_STAGES = (
    "Vocabulary, morphemes and classes are made from the training text as far as they are needed and not given, and "
    "kept for the next model. "
)
_CHECKPOINTS = (
    "The model with the lowest development perplexity is written to --out, with a log of all evaluations. Ctrl-C "
    "leaves a checkpoint from which --resume goes on to the same result."
)


def _options(kinds: list[ModelKind]) -> Callable[[options.Command], options.Command]:
    """All options of some kinds of models."""
    parts = [
        training_options.train,
        training_options.dev,
        training_options.test,
        training_options.out,
        training_options.kind_options(kinds),
        training_options.run_options_of(kinds),
        training_options.seed,
        training_options.artefacts,
        training_options.as_json,
    ]
    return options.applied(parts)


class _KindGroup(options.GroupedHelp, click.Group):
    """A subcommand for every kind of model that can be trained, those of other packages too."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return kind_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if is_file(cmd_name) and find_kind(cmd_name) is None:
            if ctx.params.get("everything"):
                raise ConfigError(f"{cmd_name} is a text; with --all, texts are given by --train: --train {cmd_name}")
            raise ConfigError(f"{cmd_name} is a text; the kind of model comes first: `morphlm train KIND {cmd_name}`")
        kind = kind_named(cmd_name, trainable=True)  # refuses any other name, and lists the kinds
        return kind.load("command") if kind.command else _command_of(kind)  # type: ignore[return-value]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Kinds of models"):
            formatter.write_dl([(name, kind_named(name).description) for name in kind_names()])


@click.group(
    name="train",
    cls=_KindGroup,
    invoke_without_command=True,
    no_args_is_help=True,
    subcommand_metavar="[KIND [TEXT]...]",
)
@training_options.grouped("Text", "--all", "everything", is_flag=True, help="Train all kinds but caches into DIR/KIND.")
@training_options.grouped(
    "Text", "--kinds", metavar="KIND,...", help="With --all: only these, for example mkn,clbl,clbl++."
)
@_options([kind_named(name) for name in kind_names(packages=False, alone=True)])
@click.pass_context
def command(context: click.Context, /, everything: bool, kinds: str | None, **values: Any) -> None:
    """Train a model on prepared text: one sentence a line, tokens between spaces.

    Begin with mkn and clbl++, and mix them (`morphlm mix`): that is what most people should use.

    The options below are those of --all. What is complete already, from the same text with the same settings, is not
    trained again.

    \b
      morphlm train mkn train.txt --out cs.mkn
      morphlm train clbl++ train.txt --dev dev.txt --out cs.clbl++
      morphlm train --all --train train.txt --dev dev.txt --test test.txt --out models
    """
    if context.invoked_subcommand is not None:
        if everything or training_options.command_line(context, ()):
            raise ConfigError(f"options of `{context.invoked_subcommand}` stand behind it, and --all stands alone")
        return
    if not everything:
        raise ConfigError("name a kind of model, or give --all; `morphlm train --help` lists them")
    chosen = kind_names(alone=True) if kinds is None else list(dict.fromkeys(kind.strip() for kind in kinds.split(",")))
    training_options.check_used(context, chosen)
    comparison = train_all(
        *_arguments(values, chosen), kinds=chosen, artefacts=values["artefacts"], test=values["test"]
    )
    options.print_result(comparison, values["as_json"])
    if comparison.failures:
        raise TrainingError(f"the training of {', '.join(comparison.failures)} failed; see above")


def _arguments(
    values: dict[str, Any], kinds: list[str]
) -> tuple[list[Path], str, str, InputOptions, ModelOptions, RunOptions]:
    """The texts and the directory of the model, which must be named, and all options."""
    dev, run = training_options.check_dev(values["dev"], "to stop by"), training_options.run_options(values)
    if values["out"] is None:
        raise ConfigError("there is no place for the model; give --out DIR")
    return (
        training_options.training_texts(values),
        dev,
        values["out"],
        training_options.input_options(values),
        training_options.model_options(values, kinds),
        replace(run, keep_complete=not run.restart, say_complete=len(kinds) == 1),
    )


def _command_of(kind: ModelKind) -> click.Command:
    """The subcommand of a kind that has none of its own: its settings are its options."""
    text = f"{kind.description}\n\n{_STAGES}{_CHECKPOINTS if kind.writes_checkpoints else ''}"

    @click.command(name=kind.name, cls=options.GroupedHelp, help=text)
    @training_options.texts
    @_options([kind])
    @training_options.continue_options_of(kind)
    @click.pass_context
    def train_kind(context: click.Context, /, **values: Any) -> None:
        training_options.check_used(context, [kind.name])
        trained = train_one(
            kind.name,
            *_arguments(values, [kind.name]),
            artefacts=values["artefacts"],
            test=values["test"],
            continuing=training_options.continue_options(values),
        )
        options.print_result(trained, values["as_json"])

    return train_kind
