"""`morphlm analyse scaling`: MKN, CLBL and CLBL++ on more and more training text."""

from __future__ import annotations

from typing import Any

import click

from morphlm.analysis.model_triple import TRIPLE
from morphlm.analysis.scaling import compare_scaling, scaling_point
from morphlm.analysis.scores import read_for, score_folder
from morphlm.cli import options
from morphlm.cli.analyse.options import pictures, show
from morphlm.files import source_name


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
@options.prepared
@options.allow_unk
@pictures
@options.seed
@options.as_json
def command(
    test: str,
    growing: tuple[str, ...],
    fixed: tuple[str, ...],
    prepared: bool | None,
    allow_unknown: bool,
    pictures: tuple[str, ...],
    seed: int,
    as_json: bool,
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
    reading: dict[str, Any] = {"allow_unknown": allow_unknown, "prepared": prepared}
    text = read_for((*growing, *fixed)[0], test, **reading)
    series = [
        [scaling_point(score_folder(folder, TRIPLE, text, need_all=True, **reading), seed=seed) for folder in folders]
        for folders in (fixed, growing)
    ]
    show(compare_scaling(*series, text=source_name(test), seed=seed), as_json, pictures)
