"""`morphlm analyse`: the paper's analyses; the module of a subcommand is imported only when it is called."""

from __future__ import annotations

import click

from morphlm.cli.lazy import LazyGroup

# subcommand -> one line of help; its module in this folder has the same name.
SUBCOMMANDS = {
    "frequency": "Perplexity of two models by how often the words were seen in training.",
    "pos": "Perplexity of two models by part of speech, and on sequences of tags.",
    "selection": "Box plots over languages: what the additive models gain.",
    "scaling": "Perplexity against the amount of training text.",
    "kappa": "Effect of pruning words seen once (kappa) on the gains.",
    "morphemes": "A map of morpheme vectors, and the nearest morphemes.",
}


@click.group(cls=LazyGroup, name="analyse", package=__name__, lines=SUBCOMMANDS)
def command() -> None:
    """The paper's analyses, for any models and texts: tables, JSON, and pictures."""
