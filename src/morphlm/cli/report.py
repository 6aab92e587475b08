"""`morphlm report`: an HTML page on trained models."""

from __future__ import annotations

import click

from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.progress import notify
from morphlm.report.document import make_report


@click.command(name="report")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--test", required=True, metavar="FILE", help="Test text.")
@click.option("--out", required=True, type=click.Path(), metavar="FILE", help="Output file ('-': stdout).")
@options.prepared
@options.encoding
@options.allow_unk
@options.seed
@options.as_json
def command(
    models: tuple[str, ...],
    test: str,
    out: str,
    prepared: bool | None,
    encoding: str | None,
    allow_unknown: bool,
    seed: int,
    as_json: bool,
) -> None:
    """One HTML page on models: how good they are, what each is, and what they make of words and sentences.

    MODEL is a model directory of any kind or an ARPA file; the first is the one that the others are compared with. The
    page is self-contained and opens without a network. Prints the path of the page, and on standard error the headline.

    \b
      morphlm report cs.mkn cs.clbl cs.clbl++ --test test.txt --out report.html
    """
    options.check_one_stdin(test, *models)
    if out == "-" and as_json:
        raise ConfigError("--json and --out - both want standard output; write the page to a file")
    written = make_report(
        models, test, out, allow_unknown=allow_unknown, prepared=prepared, encoding=encoding, seed=seed
    )
    notify(f"{written.headline.format()}.")
    if as_json:
        options.print_json(written.to_json())
    elif out != "-":
        click.echo(out)
