"""`morphlm analyse`: the paper's analyses; the module of a subcommand is imported only when it is called."""

from __future__ import annotations

import click

from morphlm.cli.lazy import LazyGroup

# subcommand -> one line of help; its module in this folder has the same name.
SUBCOMMANDS = {
    "frequency": "Perplexity of two models by how often the words were seen in training.",
    "pos": "Perplexity of two models by part of speech, and on sequences of tags.",
    "selection": "Box plots over languages: which model is better than which.",
    "scaling": "Perplexity against the amount of training text.",
    "kappa": "Few or all of the words seen once as UNK: what it does to perplexity.",
    "morphemes": "A map of morpheme vectors, and the nearest morphemes.",
}


@click.group(cls=LazyGroup, name="analyse", package=__name__, lines=SUBCOMMANDS)
def command() -> None:
    """The paper's analyses, for any models and texts: tables, JSON, and pictures."""
