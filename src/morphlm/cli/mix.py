"""`morphlm mix`: interpolates models, with weights fitted to development text."""

from __future__ import annotations

from typing import Literal

import click

from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.scoring.mixing import mix_and_test


def _weights(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(number) for number in text.split(",")]
    except ValueError:
        raise ConfigError(f"{text!r} are no weights; write numbers with commas between them, as 0.3,0.7") from None


@click.command(name="mix")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--dev", metavar="FILE", help="Development text to fit the weights to.")
@options.model_out
@click.option("--weights", metavar="W,W...", help="Fixed weights in the order of the models, instead of fitting.")
@click.option(
    "--weights-by",
    type=click.Choice(["context", "none"]),
    help="Fit weights for each kind of context, by its length and reliability, or the same for all.  "
    "[default: context, if weights are fitted]",
)
@options.also_test
@options.prepared
@options.encoding
@options.allow_unk
@options.as_json
def command(
    models: tuple[str, ...],
    dev: str | None,
    out: str,
    weights: str | None,
    weights_by: Literal["none", "context"] | None,
    test: str | None,
    prepared: bool | None,
    encoding: str | None,
    allow_unknown: bool,
    as_json: bool,
) -> None:
    """Interpolate models linearly: p = sum of weight x p of each model.

    MODEL is a model directory of any kind or an ARPA file; all must have the same words. The mixture is a model like
    any other, with its components inside its directory.

    \b
      morphlm mix cs.mkn cs.clbl++ --dev dev.txt --test test.txt --out cs.mixture
    """
    options.check_one_stdin(*models, dev or "", test or "")
    mixed = mix_and_test(
        models,
        dev,
        out,
        weights=_weights(weights),
        weights_by=weights_by,
        test=test,
        allow_unknown=allow_unknown,
        prepared=prepared,
        encoding=encoding,
    )
    options.print_result(mixed, as_json)
