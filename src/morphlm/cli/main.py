"""The command `morphlm`: finds the subcommand, runs it, and turns what goes wrong into one line and an exit status.

Exit status: 0 done, 1 the reader of our output went away, 2 bad input or options, 130 interrupted.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import click

from morphlm.cli.lazy import LazyGroup, UnknownCommandError
from morphlm.cli.names import PROGRAM, british_options, unknown_option, usage
from morphlm.cli.ranked import run_ranked
from morphlm.cli.streams import open_streams
from morphlm.errors import MorphlmError
from morphlm.progress import notify
from morphlm.version import __version__
from morphlm.wording import command_line

# command -> one line of help; the module of the same name in this folder is imported only when it is called.
COMMANDS = {
    "learn": "Learn a model from raw text: one command, one directory.",
    "demo": "Get the default data, train on it and print what was found.",
    "data": "List data sets and get one by name.",
    "prepare": "Tokenise, normalise and filter text.",
    "vocab": "Count words and make a vocabulary.",
    "segment": "Segment words into labelled morphemes.",
    "factors": "Map words to their factors, from any source of morphemes.",
    "classes": "Partition a vocabulary into word classes.",
    "train": "Train a model.",
    "tune": "Search settings for a log-bilinear model.",
    "cache": "Add a neural cache to a model.",
    "mix": "Interpolate models.",
    "extend": "Add words to a trained model, without training again.",
    "ppl": "Perplexity of text under a model.",
    "score": "Log-probabilities of sentences or tokens, line by line.",
    "rescore": "Add language model features to k-best lists, or re-rank them.",
    "predict": "The likely next words, and completions of a word.",
    "generate": "Draw sentences from a model.",
    "neighbours": "The nearest words or morphemes, and analogies.",
    "similarity": "Agreement of word vectors with ratings of word pairs.",
    "analogies": "How often word vectors find the fourth word of an analogy.",
    "analyse": "The paper's analyses: by frequency and part of speech, selection, scaling, morphemes.",
    "translate": "Align, extract rules, tune and decode: a translation system from parallel text.",
    "reproduce": "The paper's tables and figures again, by the name of a recipe.",
    "export": "Write word vectors for other tools.",
    "report": "Write one HTML page on models: figures, examples, a map, sentences in colour.",
    "explore": "Ask models on a page: words, sentences, comparisons, a map.",
}

HELP_SETTINGS: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
    "show_default": True,
    "color": True,  # else click would take escape sequences out of data that goes to a pipe or a file
}


def _missing(what: str, name: str, choice: str | None) -> str:
    return f"the {what} {name} is missing{', one of' if choice else ''}"


TOO_MANY = "there are more arguments than expected"
# click's words -> ours
WORDINGS: tuple[tuple[re.Pattern[str], Any], ...] = (
    (re.compile(r"^Got unexpected extra arguments? \((.*)\)$"), rf"{TOO_MANY} (\1)"),
    (
        re.compile(r"^Missing (argument|option) '(.*?)'(?: / '.*?')*(\. Choose from:)?"),
        lambda found: _missing(*found.groups()),
    ),
    (re.compile(r"^Invalid value for '(.*?)': "), r"\1: "),
    (re.compile(r"is not a valid integer( range)?"), "is not a whole number"),
    (re.compile(r"is not a valid float( range)?"), "is not a number"),
)


@click.group(
    cls=LazyGroup,
    package="morphlm.cli",
    lines=COMMANDS,
    context_settings=HELP_SETTINGS,
)
@click.version_option(__version__, prog_name="morphlm")
def morphlm() -> None:
    """Morphology-aware language models and word vectors, learned from plain text.

    Data goes to standard output, talk to standard error. '-' means standard input or output; .gz, .bz2, .xz and .zst
    files are read and written as they are.
    """


def run(arguments: list[str] | None = None) -> None:
    """The entry point."""
    with command_line():
        _run(arguments)


def _run(arguments: list[str] | None) -> None:
    open_streams()
    try:
        given = british_options(sys.argv[1:] if arguments is None else arguments)
        status = run_ranked(given, lambda: _status_of(given))
    except MorphlmError as error:  # of the ranks themselves
        status = _failed(str(error), 2)
    sys.exit(status)


def _status_of(arguments: list[str]) -> int:  # noqa: PLR0911  # one for each thing that can go wrong
    """Run a command line; what goes wrong becomes one line and an exit status."""
    try:
        status = morphlm.main(arguments, prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except MorphlmError as error:
        return _failed(str(error), 2)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        return _failed(_message(error), 2)
    except (click.Abort, KeyboardInterrupt):
        return _failed("interrupted", 130)
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is wrong. Python must not complain again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        return _failed(f"{bad!r} cannot be written in {error.encoding}; use names in UTF-8", 2)
    except OSError as error:
        path = "" if error.filename is None else f"{error.filename}: "
        return _failed(f"{path}{error.strerror or error}; check the place and its permissions", 2)
    except MemoryError:
        return _failed("the memory is used up; take less text, a lower order, or a larger machine", 2)


def _message(error: click.ClickException) -> str:
    """What is wrong with the command line, as a sentence that says how to mend it."""
    context = getattr(error, "ctx", None)
    if context is None:
        return f"{error.format_message()} (see --help)"
    if isinstance(error, click.NoSuchOption):
        known = [name for parameter in context.command.get_params(context) for name in parameter.opts]
        return unknown_option(error.option_name, known, context.command_path)
    if isinstance(error, UnknownCommandError):
        return error.format_message()
    message = " ".join(error.format_message().split()).removesuffix(".")
    for pattern, wording in WORDINGS:
        message = pattern.sub(wording, message)
    is_about_arguments = isinstance(error, click.MissingParameter) or message.startswith(TOO_MANY)
    return f"{message}; " + (
        f"write `{usage(context)}`" if is_about_arguments else f"see `{context.command_path} --help`"
    )


def _failed(message: str, status: int) -> int:
    notify("morphlm: " + message.replace("\n", " "))
    return status
