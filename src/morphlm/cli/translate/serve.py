"""`morphlm translate serve`: translates over HTTP, for programs on this machine."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.progress import notify
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.serving.launch import serve_system
from morphlm.translation.system.directory import read_manifest
from morphlm.translation.system.weights import given_weights


@click.command(name="serve")
@click.argument("directory", metavar="DIR")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="Port; 0: any free port.")
@click.option("--run", type=int, metavar="SEED", help="Weights of this tuning run.  [default: the best one]")
@click.option("--weights", metavar="FILE|'NAME=W ...'", help="These weights instead; features not named have 0.")
@click.option("--extra-rules", metavar="FILE", help="Rules in cdec's format that join those of every sentence.")
@click.option("--truecase", is_flag=True, help="Give texts capital letters, by the recaser of the system.")
@click.option("--recaser", metavar="MODEL", help="The same by another one, of `translate recaser`.")
@settings.search
def command(
    directory: str,
    port: int,
    run: int | None,
    weights: str | None,
    extra_rules: str | None,
    truecase: bool,
    recaser: str | None,
    **values: Any,
) -> None:
    """Translate over HTTP with the system in DIR; only this machine can reach it. Ctrl-C stops it.

    Send JSON to /api/translate, a sentence a line; /api/openapi.json describes all of it. Text is prepared and put
    together again as by `translate decode`. The address is printed once the system is loaded.

    \b
      morphlm translate serve system --port 8000
      curl -H 'Content-Type: application/json' -d '{"text": "Good morning."}' http://127.0.0.1:8000/api/translate
    """
    if run is not None and weights is not None:
        raise ConfigError("--run and --weights are two choices of weights; give one")

    def ready(address: str) -> None:
        click.echo(address)
        notify("Ctrl-C ends it")

    lowercase = read_manifest(directory).config.lowercase
    serve_system(
        directory,
        port,
        ready,
        truecase=truecase,
        recaser=recaser,
        run=run,
        weights=None if weights is None else given_weights(weights),
        extra=[] if extra_rules is None else [ExtraRules.read(extra_rules, lowercase=lowercase)],
        **settings.search.chosen(values),
    )
