"""`morphlm translate`: from parallel text to a system; a subcommand's module is imported only when it is called."""

from __future__ import annotations

import click

from morphlm.cli.lazy import LazyGroup

# subcommand -> one line of help, in the order of the data's way; its module in this folder has the same name.
SUBCOMMANDS = {
    "build": "Do all of it: from two text files to a tuned system.",
    "prepare": "Tokenise and filter parallel text for translation.",
    "align": "Find which words of parallel sentences translate one another.",
    "extract": "Find hierarchical rules for sentences in aligned text.",
    "tune": "Find the weights with which a system translates best.",
    "decode": "Translate text with a system.",
    "recaser": "Learn capital letters for translations from text.",
    "serve": "Translate over HTTP, for programs on this machine.",
    "weights": "Convert weights from and to those of cdec and Moses.",
    "kbest": "Convert k-best lists from and to those of cdec and Moses.",
    "evaluate": "BLEU and chrF of translations, and whether systems differ.",
}


@click.group(cls=LazyGroup, name="translate", package=__name__, lines=SUBCOMMANDS)
def command() -> None:
    """Hierarchical phrase-based translation with this package's language models inside the search."""
