"""`morphlm analyse scaling`: MKN, CLBL and CLBL++ on more and more training text."""

from __future__ import annotations

from typing import Any

import click

from morphlm.analysis.folders import scale_folders
from morphlm.cli.analyse.options import analysis, show


@click.command(name="scaling")
@click.option("--test", required=True, metavar="TEST", help="Test text.")
@click.option(
    "--growing",
    multiple=True,
    metavar="FOLDER",
    help="Models of one amount of text with its own vocabulary (repeatable).",
)
@click.option(
    "--fixed",
    multiple=True,
    metavar="FOLDER",
    help="Models of one amount of text with a shared vocabulary (repeatable).",
)
@analysis
def command(
    test: str,
    growing: tuple[str, ...],
    fixed: tuple[str, ...],
    pictures: tuple[str, ...],
    as_json: bool,
    **reading: Any,  # prepared, encoding, allow_unknown, seed
) -> None:
    """What CLBL and CLBL++ gain over MKN, and CLBL++ over CLBL, with the amount of training text.

    Each FOLDER has the models mkn, clbl and clbl++ of one amount of text, as `morphlm train --all` writes them; the
    amount is in their records. Vocabularies grow with the text or, with `train --vocab`, are fixed.

    \b
      morphlm analyse scaling --test test.cs.txt --growing cs.1m --growing cs.2m --growing cs.4m --picture scaling.svg
    """
    if not growing and not fixed:
        raise click.UsageError(
            "no models are named; give --growing FOLDER, --fixed FOLDER or both, once for each amount"
        )
    result = scale_folders(test, growing, fixed, **reading)
    show(result, as_json, pictures)
