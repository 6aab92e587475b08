"""`morphlm tune`: settings for a log-bilinear model, searched on the development text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from morphlm.cli import options, training_options
from morphlm.kinds import kind_named
from morphlm.training.job import RunOptions
from morphlm.training.tune import tunable_kinds, tune

# not for the command that trains
OWN = ("minutes", "steps", "decays", "widths", "step", "decay", "width", "out", "as_json")


def _values_option(setting: str, kind: type[int] | type[float], default: str) -> Callable[[Any], Any]:
    """An option that takes the values of a setting to try, between commas."""

    def convert(_: click.Context, parameter: click.Parameter, value: str | None) -> tuple[float, ...]:
        try:
            return tuple(kind(part) for part in value.split(",")) if value is not None else ()
        except ValueError:
            raise click.BadParameter(
                f"{value!r} is not a list of numbers; write it like 1,2,3", param=parameter
            ) from None

    help_text = f"Values of --{setting} to try.  [default: {default}]"
    return training_options.grouped("Text", f"--{setting}s", callback=convert, metavar="X,Y,...", help=help_text)


@click.command(name="tune", cls=options.GroupedHelp)
@click.argument("kind", type=click.Choice(tunable_kinds()), metavar="KIND")
@training_options.texts
@training_options.train
@training_options.dev
@training_options.grouped(
    "Text",
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Time for the whole search.",
)
@_values_option("step", float, "by recipe")
@_values_option("decay", float, "by recipe")
@_values_option("width", int, "it and its double")
@training_options.grouped(
    "Text",
    "--out",
    type=click.Path(),
    metavar="DIR",
    help="Where the model will be, for the command that is printed; `artefacts` beside it keeps what was made.  "
    "[default: tuned.KIND, and nothing is kept]",
)
@training_options.kind_options([kind_named(kind) for kind in tunable_kinds()])
@training_options.threads
@training_options.seed
@training_options.artefacts
@training_options.as_json
@click.pass_context
def command(context: click.Context, /, kind: str, **values: Any) -> None:
    """Search step, weight decay and width of a log-bilinear model on the development text.

    KIND is lbl, lbl+c, lbl+o, lbl++, clbl, clbl+c, clbl+o or clbl++.

    Many candidates about the recipe's values are trained for one epoch, the best to their end; the recipe itself is
    always among them. Prints all of them and the command that trains with the best settings. Ctrl-C ends the search and
    prints what has been tried.
    """
    dev = training_options.check_dev(values["dev"], "to tune on")
    training_options.check_used(context, [kind])
    result = tune(
        kind,
        training_options.training_texts(values),
        dev,
        minutes=values["minutes"],
        steps=values["steps"],
        decays=values["decays"],
        widths=values["widths"],
        input_options=training_options.input_options(values),
        options=training_options.model_options(values, [kind]),
        run=RunOptions(threads=values["threads"]),
        artefacts=values["artefacts"],
        out=values["out"],
        arguments=[*values["texts"], *training_options.command_line(context, OWN)],
    )
    options.print_result(result, values["as_json"])
    if result.interrupted:
        raise KeyboardInterrupt
