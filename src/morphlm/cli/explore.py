"""`morphlm explore`: a page on this machine on which models can be asked."""

from __future__ import annotations

import click

from morphlm.cli import options
from morphlm.progress import notify
from morphlm.report.explorer.launch import explore, open_browser


@click.command(name="explore")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Whether a browser is opened.")
def command(models: tuple[str, ...], port: int, browser: bool) -> None:
    """Explore models on a page, which only this machine can reach; Ctrl-C ends it.

    Type a word and see its morphemes, neighbours and place on the map, also of words that no model has seen; type a
    sentence and see how probable each token is and what was expected instead; compare two models on a text. The same
    operations are a JSON API, described at /api/docs. The address is printed once all models are loaded.
    """

    def ready(address: str) -> None:
        click.echo(address)
        notify("Ctrl-C ends it")
        if browser:
            open_browser(address)

    options.check_one_stdin(*models)
    explore(models, port, ready)
