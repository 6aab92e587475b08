"""`morphlm analyse kappa`: MKN, CLBL and CLBL++ with few and with all singletons pruned."""

from __future__ import annotations

from typing import Any

import click

from morphlm.analysis.folders import prune_folders
from morphlm.analysis.scores import check_named_once
from morphlm.cli import options
from morphlm.cli.analyse.options import analysis, show


@click.command(name="kappa")
@click.option(
    "--language",
    "languages",
    nargs=4,
    multiple=True,
    required=True,
    metavar="NAME FOLDER_LOW FOLDER_ONE TEST",
    help="For a language: models with a low kappa, models with kappa = 1, and test text (repeatable).",
)
@analysis
def command(
    languages: tuple[tuple[str, str, str, str], ...],
    pictures: tuple[str, ...],
    as_json: bool,
    **reading: Any,  # prepared, encoding, allow_unknown, seed
) -> None:
    """What CLBL gains over MKN (Rel.1) and CLBL++ over CLBL (Rel.2) with few and with all singletons pruned.

    If CLBL++ gains on rare words, Rel.2 is smaller at kappa = 1. The folders have the models mkn, clbl and clbl++, as
    `morphlm train --all --kappa ...` writes them. Perplexities at different kappas are not comparable: at kappa = 1
    more words are UNK, which is easy to predict.

    \b
      morphlm analyse kappa --language cs models/cs.0.05 models/cs.1 test.cs.txt --picture kappa.svg
    """
    check_named_once([name for name, *_ in languages])
    options.check_one_stdin(*(test for *_, test in languages))
    folders = {name: (low, one, test) for name, low, one, test in languages}
    show(
        prune_folders(folders, **reading),
        as_json,
        pictures,
    )
