"""`morphlm demo`: the package at work on the default data."""

from __future__ import annotations

from pathlib import Path

import click

from morphlm.cli import options
from morphlm.experiments.demo import DemoConfig, run_demo


@click.command(name="demo")
@click.argument("directory", default="demo", type=click.Path(file_okay=False))
@click.option("--language", default="cs", help="One of libreoffice-help, which `morphlm data list` shows.")
@options.kappa(0.2)
@options.seed
@options.as_json
def command(directory: str, language: str, kappa: float, seed: int, as_json: bool) -> None:
    """Get the default data, train on it and print what was found.

    Data, prepared text and models stay in DIRECTORY; where the data cannot be fetched, a generated language is used.
    """
    options.print_result(run_demo(DemoConfig(Path(directory), language, kappa, seed)), as_json)
