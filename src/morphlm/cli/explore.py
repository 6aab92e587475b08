"""`morphlm explore`: serves a local web page for querying models."""

from __future__ import annotations

import click

from morphlm.cli import options
from morphlm.progress import notify
from morphlm.report.explorer.launch import explore, open_browser


@click.command(name="explore")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="Port; 0: any free port.")
@click.option("--browser/--no-browser", default=True, help="Open a browser.")
def command(models: tuple[str, ...], port: int, browser: bool) -> None:
    """Explore models on a web page that only this machine can reach; stop it with Ctrl-C.

    Type a word and see its morphemes, neighbours and position on the map, even of words that no model has seen; type a
    sentence and see how probable each token is and what was expected instead; compare two models on a text. The
    entry page has examples to click, drawn from the models. The same operations are a JSON API, described at
    /api/docs. The address is printed once all models are loaded.
    """

    def ready(address: str) -> None:
        click.echo(address)
        notify("Ctrl-C ends it")
        if browser:
            open_browser(address)

    options.check_one_stdin(*models)
    explore(models, port, ready)
