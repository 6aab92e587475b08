"""Commands and options under the names that people try: other spellings, other programs' names, and misspelled ones.

What means the same answers; what is near is pointed at.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import click

from morphlm.errors import nearest_names

PROGRAM = "morphlm"
# Another word for the same command, with the same arguments.
ALIASES = {
    "analyze": "analyse",
    "nearest": "neighbours",
    "neighbor": "neighbours",
    "neighbors": "neighbours",
    "neighbour": "neighbours",
    "nn": "neighbours",
    "perplexity": "ppl",
    "vocabulary": "vocab",
}
# What other programs call it, or what people call a part of it -> what to type.
POINTERS = {
    "align": "translate align",
    "analogy": "neighbours --analogy",
    "bleu": "translate evaluate",
    "brown": "classes",
    "build_binary": "train mkn",
    "cbow": "train",
    "cluster": "classes",
    "complete": "predict --complete",
    "completion": "predict --complete",
    "datasets": "data list",
    "decode": "translate decode",
    "download": "data get",
    "eval": "ppl",
    "evaluate": "ppl",
    "fetch": "data get",
    "fit": "train",
    "get": "data get",
    "help": "--help",
    "interpolate": "mix",
    "lmplz": "train mkn",
    "lowercase": "prepare",
    "mixture": "mix",
    "mkn": "train mkn",
    "morfessor": "segment",
    "morphemes": "segment",
    "most-similar": "neighbours",
    "ngram": "ppl",
    "ngram-count": "train mkn",
    "nbest": "rescore",
    "normalise": "prepare",
    "preprocess": "prepare",
    "print-ngrams": "predict",
    "print-word-vectors": "export",
    "query": "score",
    "rerank": "rescore",
    "sample": "generate",
    "sentence": "score",
    "serve": "explore",
    "similar": "neighbours",
    "skipgram": "train",
    "split": "data get",
    "test": "ppl",
    "tokenise": "prepare",
    "vectors": "export",
    "version": "--version",
    "web": "explore",
    "word2vec": "export",
    "wordsim": "similarity",
}
# American spellings of words that are in names of options and commands.
_SPELLINGS = (
    (re.compile(r"(normal|token|optim|regular|initial|character|detoken)iz(e|er|ed|ation)\b"), r"\1is\2"),
    (re.compile(r"\b(un)?center(ed)?\b"), r"\1centre\2"),
    (re.compile(r"\bartifacts\b"), "artefacts"),
    (re.compile(r"\bneighbor"), "neighbour"),
    (re.compile(r"\bcolor\b"), "colour"),
    (re.compile(r"\banalyz"), "analys"),
)


def british(name: str) -> str:
    """A name with the spellings of this program."""
    for pattern, spelling in _SPELLINGS:
        name = pattern.sub(spelling, name)
    return name


def british_options(arguments: Sequence[str]) -> list[str]:
    """The arguments of the command line with the names of options, up to `--`, in the spellings of this program."""
    result, is_open = [], True
    for argument in arguments:
        is_open = is_open and argument != "--"
        name, equals, value = argument.partition("=")
        result.append(f"{british(name)}{equals}{value}" if is_open and name.startswith("--") else argument)
    return result


def find_command(name: str, known: Collection[str]) -> str | None:
    """The command that a name stands for; None if there is none."""
    if name in known:
        return name
    candidates = (name.lower(), british(name.lower()), ALIASES.get(name.lower(), ""))
    return next((candidate for candidate in candidates if candidate in known), None)


def unknown_command(name: str, known: Collection[str], parent: str) -> str:
    """The message for a name that no command has."""
    pointer = POINTERS.get(british(name.lower())) if parent == PROGRAM else None
    wanted = [pointer] if pointer else nearest_names(name, known)
    return f"no command {name!r}; {_advice([f'`{parent} {one}`' for one in wanted], parent)}"


def unknown_option(name: str, known: Collection[str], parent: str) -> str:
    """The message for a name that no option has."""
    near = nearest_names(name, known) if len(name) > 2 else []
    return f"no option {name}; {_advice(near, parent)}"


def _advice(near: Sequence[str], parent: str) -> str:
    return f"do you mean {' or '.join(near)}?" if near else f"`{parent} --help` lists them"


def usage(context: click.Context) -> str:
    """`morphlm mix MODEL... --out DIR`: how a command is called, without what can be left out."""
    pieces = [piece for piece in context.command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    for parameter in context.command.get_params(context):
        if isinstance(parameter, click.Option) and parameter.required:
            pieces.append(f"{parameter.opts[0]} {parameter.make_metavar(context)}")
    return " ".join([context.command_path, *pieces])
