"""`morphlm learn`: raw text in; out comes a directory with a model, its vectors, a report and how to use them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from morphlm.cli import options
from morphlm.learning.learned import find_learned
from morphlm.learning.request import LearnRequest
from morphlm.progress import notify
from morphlm.threads import available_cores


@click.command(name="learn")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option("--out", "-o", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Write it all here.")
@click.option("--language", "-l", metavar="CODE", help="Language of the text, such as cs.  [default: recognised]")
@click.option("--minutes", type=float, metavar="N", help="Take no longer than this.  [default: what the text needs]")
@click.option("--dev", metavar="FILE", help="Development text, to choose by.  [default: a part of the text]")
@click.option("--test", metavar="FILE", help="Test text, to measure on.  [default: a part of the text]")
@click.option("--prepared", is_flag=True, help="The text is prepared: one sentence a line, tokens between spaces.")
@options.allow_unk
@options.encoding
@click.option("--field", metavar="NAME", help="The field of .jsonl that holds the text.  [default: text]")
@click.option(
    "--case",
    type=click.Choice(["lower", "keep"]),
    default="lower",
    help="Lower case learns most from little text; keyboards, OCR and speech need the case as it is.",
)
@click.option(
    "--no-caches",
    "caches",
    is_flag=True,
    flag_value=False,
    default=True,
    show_default=False,
    help="Try no caches, which learn from the text before each sentence.",
)
@options.seed
@options.threads
@click.option("--restart", is_flag=True, help="Begin anew where something was learned from other input.")
@click.option("--verbose", "-v", is_flag=True, help="Show the messages of all stages.")
@options.as_json
def command(texts: tuple[str, ...], out: Path, restart: bool, verbose: bool, as_json: bool, **choices: Any) -> None:
    """Learn a model from raw text: files, folders, '-' for standard input; compressed ones and .jsonl too.

    The text is read in any encoding, its language recognised, split into sentences, tokenised, and divided into
    training, development and test text. The settings are chosen by the development text. DIR is then a model for
    every other command. Interrupted, the same command goes on.

    \b
      morphlm learn novel.txt --out novel
      morphlm learn texts/ more.jsonl.gz --language fi --minutes 20 --out finnish
    """
    started = time.monotonic()
    request = LearnRequest(texts, out, processes=choices["threads"] or available_cores(), **choices)
    learned = find_learned(request, restart=restart)
    if learned is None:
        # Only now: it loads all that trains.
        from morphlm.learning.learn import learn_request  # noqa: PLC0415
        from morphlm.learning.pace import Budget  # noqa: PLC0415

        try:
            budget = Budget(request.minutes, started=started)
            learned = learn_request(request, restart=restart, verbose=verbose, budget=budget)
        except KeyboardInterrupt:
            notify("stopped; the same command goes on from here")
            raise
    options.print_result(learned, as_json)
