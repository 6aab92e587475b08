"""`morphlm demo`: `morphlm learn` at work on the default data."""

from __future__ import annotations

from pathlib import Path

import click

from morphlm.cli import options
from morphlm.experiments.demo import DemoConfig, run_demo


@click.command(name="demo")
@click.argument("directory", default="demo", type=click.Path(file_okay=False))
@click.option("--language", default="cs", help="One that `morphlm data list` names for libreoffice-help.")
@click.option("--minutes", type=float, metavar="N", help="Take no longer than this.  [default: what the text needs]")
@options.seed
@options.as_json
def command(directory: str, language: str, minutes: float | None, seed: int, as_json: bool) -> None:
    """Get the default data, learn from it as `morphlm learn` does, and show what came out.

    Data and model stay in DIRECTORY; called again, the demo goes on, or shows what is there. Where the data cannot be
    fetched, a generated language is used.
    """
    options.print_result(run_demo(DemoConfig(Path(directory), language, minutes, seed)), as_json)
