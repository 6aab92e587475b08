"""`morphlm translate recaser`: learns from text how words are written, and measures how well that is restored."""

from __future__ import annotations

import click

from morphlm.cli import options
from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.progress import notify
from morphlm.tables import counted
from morphlm.translation.recasing.evaluation import evaluate_recaser
from morphlm.translation.recasing.training import ORDER, train_recaser
from morphlm.translation.system.config import TARGET, SystemConfig


@click.command(name="recaser")
@click.argument("text", metavar="TEXT")
@click.option("--out", required=True, metavar="MODEL", help="Where the model goes.")
@click.option("--language", metavar="CODE", help="Of the text, such as cs: the tokeniser needs it.")
@click.option("--tokenise/--no-tokenise", default=True, help="Whether systems that it is for tokenise their text.")
@click.option("--order", type=click.IntRange(1, 6), default=ORDER, show_default=True, help="n, of the n-grams.")
@click.option("--test", metavar="FILE", help="Text on which to measure how many words are written as they should be.")
@settings.mend
@options.processes
@options.as_json
def command(
    text: str,
    out: str,
    language: str | None,
    tokenise: bool,
    order: int,
    test: str | None,
    mend: bool,
    processes: int,
    as_json: bool,
) -> None:
    """Learn from TEXT, raw text with its capitals, a sentence a line, how words are written.

    `translate decode --recaser MODEL` then gives translations their capitals. `translate build --recaser` learns the
    same from the target side of the training text, and keeps it in the system.

    \b
      morphlm translate recaser news.cs --language cs --out cs.recaser --test dev.cs
      morphlm translate decode system test.en --recaser cs.recaser
    """
    if tokenise and language is None:
        raise ConfigError("the tokeniser needs the language; give --language cs, or --no-tokenise")
    options.check_one_stdin(text, *([] if test is None else [test]))
    prepared = SystemConfig(("en", language) if tokenise else (None, language), tokenise=tokenise).pair_options()
    recaser = train_recaser(text, prepared.sides[TARGET], out, order=order, mend=mend, processes=processes)
    notify(f"{counted(recaser.words, 'word')}, written to {out}")
    if test is None:
        if as_json:
            options.print_json({"out": out, "words": recaser.words})
        return
    accuracy = evaluate_recaser(recaser, test)
    if as_json:
        options.print_json({"out": out, "words": recaser.words, "accuracy": accuracy.to_json()})
    else:
        click.echo(accuracy.to_table().format())
