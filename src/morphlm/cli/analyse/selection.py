"""`morphlm analyse selection`: all models in several languages, and box plots of the gains of the additive ones."""

from __future__ import annotations

from typing import Any

import click

from morphlm.analysis.folders import select_folders
from morphlm.analysis.scores import check_named_once
from morphlm.analysis.selection import check_box
from morphlm.cli import options
from morphlm.cli.analyse.options import analysis, show


@click.command(name="selection")
@click.option(
    "--language",
    "languages",
    nargs=3,
    multiple=True,
    required=True,
    metavar="NAME FOLDER TEST",
    help="Models and test text of a language (repeatable).",
)
@analysis
def command(
    languages: tuple[tuple[str, str, str], ...],
    pictures: tuple[str, ...],
    as_json: bool,
    **reading: Any,  # prepared, encoding, allow_unknown, seed
) -> None:
    """What LBL+c, LBL+o, LBL++ change against LBL, and CLBL+c, CLBL+o, CLBL++ against CLBL, over languages.

    FOLDER is the output of `morphlm train --all`; models that are not in it are left out. The first table has a row for
    each language with perplexities and changes in per cent, the second every change with its interval. The picture,
    which needs two languages or more, has a box for each model.

    \b
      morphlm analyse selection --language cs models/cs test.cs.txt --language de models/de test.de.txt \\
        --picture selection.svg
    """
    check_named_once([name for name, _, _ in languages])
    options.check_one_stdin(*(test for _, _, test in languages))
    if pictures:
        check_box(len(languages))
    folders = {name: (folder, test) for name, folder, test in languages}
    result = select_folders(folders, **reading)
    show(result, as_json, pictures)
    if not as_json:
        click.echo(f"\n{result.to_intervals().format()}")
