"""`morphlm train mkn`: modified Kneser-Ney straight from text, also as an ARPA file."""

from __future__ import annotations

from itertools import takewhile

import click

from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.files import check_can_make, check_can_write
from morphlm.modelfile import check_can_hold_model
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.progress import notify
from morphlm.signals import terminations_raised
from morphlm.tables import counted
from morphlm.vocabulary.vocabulary import load_vocabulary


def _refuse_dev(_: click.Context, __: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise ConfigError("mkn counts n-grams and needs no development text; leave out --dev")


def _refuse_continuing(_: click.Context, __: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise ConfigError(
            "mkn counts n-grams and cannot continue a model; leave out --continue-from, and train it on all texts"
        )


class _MknCommand(click.Command):
    """Takes all whole numbers after --prune as its value, as lmplz does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _joined_thresholds(args))


def _joined_thresholds(arguments: list[str]) -> list[str]:
    """`--prune 0 0 1 text` as `--prune "0 0 1" text`."""
    if "--prune" not in arguments:
        return arguments
    begin = arguments.index("--prune") + 1
    thresholds = list(takewhile(str.isdecimal, arguments[begin:]))
    return [*arguments[:begin], *([" ".join(thresholds)] if thresholds else []), *arguments[begin + len(thresholds) :]]


def _thresholds(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...]:
    numbers = (value or "").replace(",", " ").split()
    if value is not None and not (numbers and all(number.isdecimal() for number in numbers)):
        raise ConfigError(f"--prune {value}: thresholds are whole numbers, one for each order; write --prune 0 0 1")
    return tuple(map(int, numbers))


@click.command(name="mkn", cls=_MknCommand)
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--train", "files", multiple=True, metavar="FILE", help="Training text, as TEXT; repeatable ['-'].")
@click.option("--dev", hidden=True, expose_value=False, callback=_refuse_dev)
@click.option("--continue-from", hidden=True, expose_value=False, callback=_refuse_continuing)
@click.option("--out", type=click.Path(), metavar="DIR", help="Write the model directory here.")
@click.option("--arpa", type=click.Path(dir_okay=False), metavar="FILE", help="Write the model as ARPA here.")
@click.option("--order", default=4, show_default=True, type=click.IntRange(1, 100), help="n of the n-grams.")
@options.kappa(0.0)
@options.seed
@click.option("--vocab", type=click.Path(), metavar="FILE", help="Use this vocabulary; other words become UNK.")
@click.option("--open/--closed", "is_open", default=True, show_default=True, help="Whether unknown words are scored.")
@options.allow_unk
@click.option(
    "--prune",
    metavar="N...",
    callback=_thresholds,
    help="Leave out n-grams with this count or less, for each order; the last number is for all that follow: 0 0 1.",
)
@click.option("--quantise", is_flag=True, help="Round to 256 values an order (8 bits), for small files.")
@click.option("--memory", metavar="SIZE", help="What the whole process may take: 4G; else what is available.")
@click.option("--temporary", type=click.Path(), metavar="DIR", help="Folder of temporary files, if it needs any.")
@click.option("--restart", is_flag=True, help="Train anew, even if the model is complete.")
@options.as_json
def command(
    texts: tuple[str, ...],
    files: tuple[str, ...],
    out: str | None,
    arpa: str | None,
    order: int,
    kappa: float,
    seed: int,
    vocab: str | None,
    is_open: bool,
    allow_unknown: bool,
    prune: tuple[int, ...],
    quantise: bool,
    memory: str | None,
    temporary: str | None,
    restart: bool,
    as_json: bool,
) -> None:
    """Interpolated modified Kneser-Ney, equal to KenLM's lmplz.

    A model that is complete already, from the same text with the same settings, is not trained again.

    Text whose n-grams do not fit into memory is counted on disk; the model is the same to the byte.

    \b
      morphlm train mkn train.txt --out cs.mkn
      morphlm train mkn train.txt --out cs.mkn --memory 4G --temporary /scratch
    """
    if out is None and arpa is None:
        raise ConfigError("there is no place for the model; give --out DIR, --arpa FILE or both")
    paths = options.or_stdin((*files, *texts))
    if vocab == "-" and "-" in paths:
        raise ConfigError("text and vocabulary cannot both come from standard input; name a file for one of them")
    if out is not None:
        check_can_hold_model(out)
        check_can_make(out)
    if arpa is not None:
        check_can_write(arpa)
    with terminations_raised():
        model = train_ngram(
            options.as_paths(paths),
            order,
            kappa=kappa,
            seed=seed,
            open_vocabulary=is_open,
            vocabulary=None if vocab is None else load_vocabulary(vocab),
            allow_unknown=allow_unknown,
            prune=prune,
            quantise=quantise,
            memory=memory,
            temporary=temporary,
            out=out,
            restart=restart,
        )
        for warning in model.warnings:
            notify(f"warning: {warning}")
        if arpa is not None:
            model.write_arpa(arpa)
    _report(model, as_json, to_stdout=arpa != "-")


def _report(model: NgramModel, as_json: bool, to_stdout: bool) -> None:
    """What was trained; on stderr when standard output carries the model itself."""
    sizes = model.trie.sizes
    if as_json:
        facts = {"kind": model.kind, "order": model.order, "ngrams": sizes, "vocabulary": len(model.vocabulary)}
        options.print_json(facts | {"training": model.training, "signature": str(model.signature)}, err=not to_stdout)
        return
    counts = ", ".join(f"{counted(size, f'{n}-gram')}" for n, size in enumerate(sizes, 1))
    options.show(f"mkn: {counted(model.training['tokens'], 'token')}, {counts}", err=not to_stdout)
