"""The options of the commands that train log-bilinear models, and the choices that they make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from morphlm.cli import options
from morphlm.cli.options import applied
from morphlm.errors import ConfigError
from morphlm.logbilinear.config import VARIANTS, LogBilinearConfig, variant
from morphlm.segmentation.segmenter import SegmenterConfig
from morphlm.segmentation.sources.registry import BUILT_IN
from morphlm.training.config import RECIPES
from morphlm.training.inputs import CLASS_METHODS, InputOptions
from morphlm.training.pipeline import NGRAMS, ModelOptions, RunOptions

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]

POSITIVE = click.FloatRange(min=0, min_open=True)
RATE = click.FloatRange(0, 1, max_open=True)
FROM_ONE = click.IntRange(min=1)
_DEFAULTS = RECIPES["default"].to_json()


def _value(
    name: str, field: str, kind: Any, text: str, default: str | None = None, former: Sequence[str] = ()
) -> Callable[[Any], Any]:
    """An option that changes a field of the recipe; its help has the value of the default recipe."""
    shown = default or (f"{_DEFAULTS[field]:g}" if isinstance(_DEFAULTS[field], float) else _DEFAULTS[field])
    help_text = f"{text}  [default: {shown}]"
    return click.option(name, field, cls=options.RenamedOption, former=former, type=kind, default=None, help=help_text)


def _switch(names: str, field: str, text: str, former: Sequence[str] = ()) -> Callable[[Any], Any]:
    """The same for an option of two names, for true and false."""
    shown = names.split("/")[0 if _DEFAULTS[field] else 1].removeprefix("--")
    help_text = f"{text}  [default: {shown}]"
    return click.option(names, field, cls=options.RenamedOption, former=former, default=None, help=help_text)


texts = applied(
    [
        click.option("--train", "files", multiple=True, metavar="FILE", help="Training text; repeat for more ['-']."),
        click.option("--dev", metavar="FILE", help="Development text: training stops when its perplexity rises."),
    ]
)

materials = applied(
    [
        click.option("--vocab", type=click.Path(), metavar="FILE", help="Use this vocabulary; other words become UNK."),
        click.option(
            "--kappa",
            type=click.FloatRange(0, 1),
            default=None,
            help="Share of the words occurring once that becomes UNK.  [default: 0.2]",
        ),
        click.option(
            "--factors",
            metavar="KIND:WHAT",
            help=f"Take the factors from {', '.join(f'{source.name}:{source.argument}' for source in BUILT_IN)}.  "
            "[default: learn morphemes]",
        ),
        click.option(
            "--corpus-weight",
            type=POSITIVE,
            default=SegmenterConfig.corpus_weight,
            show_default=True,
            help="Of the words against the lexicon, where morphemes are learned: less gives more boundaries.",
        ),
        click.option(
            "--classes",
            metavar="N|FILE",
            help="Number of classes, or a file of them (also paths:FILE, mkcls:FILE).  [default: sqrt(|V|)]",
        ),
        click.option(
            "--class-method",
            type=click.Choice(CLASS_METHODS),
            default="exchange",
            show_default=True,
            help="How they are made.",
        ),
        click.option(
            "--stages",
            type=click.Path(file_okay=False),
            metavar="DIR",
            help="Keep and find vocabulary, segmenter and classes here.  [default: `stages` beside the model]",
        ),
        options.allow_unk,
    ]
)

model = applied(
    [
        click.option("--order", type=click.IntRange(2, 100), default=4, show_default=True, help="n."),
        click.option("--width", type=FROM_ONE, default=100, show_default=True, help="d, the length of a vector."),
        click.option("--diagonal/--full", default=True, show_default=True, help="Whether C_j has d numbers or d x d."),
        click.option(
            "--wide-context", is_flag=True, help="The 50 words of the text before, across sentences, count as well."
        ),
        options.seed,
    ]
)

learning = applied(
    [
        click.option(
            "--recipe",
            type=click.Choice(list(RECIPES)),
            default="default",
            show_default=True,
            help="Sets all that follows; each can be changed. The defaults below are those of `default`.",
        ),
        _value("--step", "step", POSITIVE, "xi, AdaGrad's step."),
        _value("--decay", "decay", click.FloatRange(min=0), "lambda of the L2 term."),
        _switch(
            "--l2-in-gradient/--l2-decoupled",
            "l2_in_gradient",
            "Add the L2 term to AdaGrad's gradient, or decay the weights beside it.",
            former=["--decay-inside/--decay-outside"],
        ),
        _switch("--mean-gradients/--sum-gradients", "mean_gradients", "Over the minibatch."),
        _value(
            "--accumulator",
            "accumulator",
            POSITIVE,
            "What AdaGrad's sums of squares begin with.",
            f"{_DEFAULTS['accumulator']:g}; without classes {_DEFAULTS['noise_accumulator']:g}",
        ),
        _value("--batch", "batch", click.IntRange(min=0), "L, tokens of a minibatch; 0: by the size of the text."),
        _value("--epochs", "epochs", FROM_ONE, "At most."),
        _value(
            "--evaluate-every", "evaluate_every", click.IntRange(min=0), "Minibatches between evaluations; 0: an epoch."
        ),
        _value("--patience", "patience", FROM_ONE, "Stop after so many evaluations that are not better."),
        _value(
            "--step-decay",
            "step_decay",
            click.FloatRange(0, 1, min_open=True),
            "Times the step after each epoch, once progress is slow.",
        ),
        _value(
            "--plateau-ratio",
            "plateau_ratio",
            RATE,
            "An epoch that lowers the development perplexity by no more than this share counts as slow.",
            former=["--slow"],
        ),
        _value(
            "--init-std",
            "init_std",
            click.FloatRange(min=0),
            "Standard deviation of the initial weights.",
            former=["--deviation"],
        ),
        _switch(
            "--near-identity/--gaussian", "near_identity", "Whether the matrices C_j begin at I/j or at 0, plus it."
        ),
        _value("--noise-samples", "samples", FROM_ONE, "k, noise words of a token (models without classes)."),
        _value("--noise", "noise", click.Choice(["block", "token"]), "Who shares the noise words."),
        _value("--surface-dropout", "surface_dropout", RATE, "Rate at which surface factors are left out."),
        _value("--context-dropout", "context_dropout", RATE, "Rate at which context words are left out."),
        _value("--prediction-dropout", "prediction_dropout", RATE, "Rate at which features of p are left out."),
    ]
)

threads = click.option("--threads", type=FROM_ONE, help="Change the time only.  [default: all cores]")

running = applied(
    [
        threads,
        click.option(
            "--checkpoint-minutes",
            type=click.FloatRange(min=0),
            default=10.0,
            show_default=True,
            help="Time between checkpoints.",
        ),
        click.option("--resume", is_flag=True, help="Go on with a training that was interrupted."),
        click.option("--test", metavar="FILE", help="Print the perplexity of this text in the end."),
    ]
)

_FIELDS = (
    "step",
    "decay",
    "l2_in_gradient",
    "mean_gradients",
    "accumulator",
    "batch",
    "epochs",
    "evaluate_every",
    "patience",
    "step_decay",
    "plateau_ratio",
    "init_std",
    "near_identity",
    "samples",
    "noise",
    "surface_dropout",
    "context_dropout",
    "prediction_dropout",
)


def input_options(given: dict[str, Any]) -> InputOptions:
    """What `materials` asked for."""
    classes = given["classes"]
    return InputOptions(
        vocabulary=given["vocab"],
        kappa=given["kappa"],
        factors=given["factors"],
        corpus_weight=given["corpus_weight"],
        classes=int(classes) if classes is not None and classes.isascii() and classes.isdecimal() else classes,
        class_method=given["class_method"],
        seed=given["seed"],
        allow_unknown=given["allow_unk"],
        threads=given["threads"],
    )


def model_options(given: dict[str, Any]) -> ModelOptions:
    """What `model` and `learning` asked for."""
    settings = {name: given[name] for name in _FIELDS if given[name] is not None}
    names = ("order", "width", "diagonal", "wide_context", "seed", "recipe")
    return ModelOptions(**{name: given[name] for name in names}, settings=settings)


def run_options(given: dict[str, Any]) -> RunOptions:
    """What `running` asked for."""
    return RunOptions(given["resume"], given["threads"], given["checkpoint_minutes"])


def command_line(context: click.Context, leave_out: Sequence[str]) -> list[str]:
    """The options that were given, as one would type them again, but for some."""
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        is_given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not isinstance(parameter, click.Option) or name in leave_out or not is_given:
            continue
        value = context.params[name]
        if parameter.is_flag:
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            for each in value if parameter.multiple else [value]:
                words += [parameter.opts[0], str(each)]
    return words


# option -> which log-bilinear models use it; those that are not listed are used by all of them
_USED_BY: dict[str, Callable[[LogBilinearConfig], bool]] = {
    **dict.fromkeys(
        ("factors", "corpus_weight", "surface_dropout"), lambda config: config.context_factors or config.output_factors
    ),
    **dict.fromkeys(("classes", "class_method"), lambda config: config.classes),
    **dict.fromkeys(("samples", "noise"), lambda config: not config.classes),
}
# What modified Kneser-Ney takes no notice of, beside those.
_NOT_FOR_NGRAMS = {"width", "diagonal", "wide_context", "recipe", "threads", "checkpoint_minutes", *_FIELDS, *_USED_BY}


def check_used(context: click.Context, kinds: Sequence[str]) -> None:
    """Refuse options that were given and that none of the models uses."""
    for parameter in context.command.params:
        name = parameter.name or ""
        is_given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if is_given and not any(_uses(kind, name) for kind in kinds):
            users = [kind for kind in VARIANTS if _uses(kind, name)]
            named = parameter.opts if context.params[name] is not False else parameter.secondary_opts
            what = f"{named[0]} means nothing to {', '.join(kinds)}"
            raise ConfigError(f"{what}; leave it out, it is for {', '.join(users)}")


def _uses(kind: str, option: str) -> bool:
    """A kind that does not exist is refused elsewhere."""
    if kind not in VARIANTS:
        return kind != NGRAMS or option not in _NOT_FOR_NGRAMS
    return option not in _USED_BY or _USED_BY[option](variant(kind))
