"""Options of the commands that convert from and to other decoders."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.translation.system.conversion import SYSTEMS, SystemName

systems = options.applied(
    [
        click.option("--from", "source", type=click.Choice(SYSTEMS), default="morphlm", help="Whose they are."),
        click.option("--to", "target", type=click.Choice(SYSTEMS), default="morphlm", help="Whose they become."),
        click.option(
            "--lm",
            "models",
            multiple=True,
            metavar="OURS=THEIRS",
            help="Names of a language model (repeatable).  [default: LM0=LanguageModel (cdec), LM0=LM0 (Moses)]",
        ),
        click.option(
            "--extractor", is_flag=True, help="Convert features of rules, too: cdec's own extractor and ours."
        ),
    ]
)


def naming(source: SystemName, target: SystemName, models: tuple[str, ...], extractor: bool) -> dict[str, Any]:
    """The arguments of the functions that convert."""
    if source == target:
        raise ConfigError(f"--from and --to are both {source}; give the other system by --from or --to")
    if models and "morphlm" not in (source, target):
        raise ConfigError("--lm gives our names, and neither --from nor --to is morphlm; convert in two steps")
    pairs = [text.partition("=") for text in models]
    for text, (ours, _, theirs) in zip(models, pairs, strict=True):
        if not (ours and theirs):
            raise ConfigError(f"--lm {text} is no pair of names; write it like --lm mkn=LanguageModel")
    names = {ours: theirs for ours, _, theirs in pairs}
    if len(names) < len(models):
        raise ConfigError("--lm names one of our models twice; give each its own")
    return {"models": names or None, "extractor": extractor}
