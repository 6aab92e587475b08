"""Options that several commands share."""

from __future__ import annotations

import contextlib
import copy
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from morphlm.cli.names import usage
from morphlm.compiledfile import is_compiled
from morphlm.errors import ConfigError, MorphlmError
from morphlm.files import is_file, open_binary
from morphlm.modelfile import LEARNED_RECORD, MANIFEST
from morphlm.progress import notify
from morphlm.text.encodings import check_encoding
from morphlm.threads import available_cores

if TYPE_CHECKING:  # not all commands take the time to load models
    from morphlm.language_model.base import LanguageModel

Command = TypeVar("Command", bound=Callable[..., Any])
ARPA_BEGINNING = 1 << 16  # bytes; comments may stand before \\data\\


def applied(decorators: Sequence[Callable[[Any], Any]]) -> Callable[[Command], Command]:
    """Several options as one decorator, in this order."""

    def apply(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return apply


class Option(click.Option):
    """An option that stands under a heading of the help, and still answers to the names it had before."""

    def __init__(
        self, *args: Any, former: Sequence[str] = (), group: str = "", is_setting: bool = False, **kwargs: Any
    ) -> None:
        """`former` are the old names, which help does not show; those of a switch are written `--on/--off`."""
        super().__init__(*args, **kwargs)
        self.group, self.is_setting = group, is_setting
        self._shown = list(self.opts), list(self.secondary_opts)
        for names in former:
            on, _, off = names.partition("/")
            self.opts.append(on)
            self.secondary_opts += [off] if off else []

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The help text under the new names."""
        shown = copy.copy(self)
        shown.opts, shown.secondary_opts = self._shown
        return super(Option, shown).get_help_record(ctx)


class GroupedHelp(click.Command):
    """A command whose help shows options under headings: first what most people need, then the rest."""

    def __init__(self, *args: Any, headings: Mapping[str, Sequence[str]] | None = None, **kwargs: Any) -> None:
        """`headings` are those of the command in their order, with names of parameters; others name their own."""
        super().__init__(*args, **kwargs)
        self._order = [*(headings or HEADINGS[:-1]), HEADINGS[-1]]
        self._heading_of = {name: heading for heading, names in (headings or {}).items() for name in names}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                heading = self._heading_of.get(parameter.name or "") or getattr(parameter, "group", "")
                groups.setdefault(heading or HEADINGS[-1], []).append(record)
        for heading in sorted(groups, key=self._order.index):
            with formatter.section(heading):
                formatter.write_dl(groups[heading])


HEADINGS = ("Text", "Model", "Run", "More settings", "Help")


text_files = click.argument("files", nargs=-1, metavar="[FILE]...")
header = click.option("--header", "has_header", is_flag=True, help="Print the names of the columns first.")
model_out = click.option("--out", required=True, type=click.Path(), metavar="DIR", help="Output: the model directory.")
also_test = click.option("--test", metavar="FILE", help="Also measure perplexities of this text.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
seed = click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, help="Equal seeds give equal results.")
allow_unk = click.option(
    "--allow-unk", "allow_unknown", is_flag=True, help="The text may contain <unk> for words that were replaced."
)
threads = click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Number of threads; results do not depend on it.  [default: all cores]",
)
processes = click.option(
    "--processes",
    type=click.IntRange(min=1),
    default=available_cores,
    show_default=False,
    help="Number of processes; results do not depend on it.  [default: all cores]",
)
as_json_lines = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")
unit = click.option(
    "--unit",
    type=click.Choice(["nats", "log10", "bits"]),
    default="nats",
    help="Natural logarithms, or those to the base 10 or 2.",
)
unknown_contexts = click.option(
    "--unknown-contexts",
    type=click.Choice(["unk", "composed"]),
    default="unk",
    help="What stands for an unknown word in the context of others: UNK, or the sum of the word's known factors.",
)
prepared = click.option(
    "--prepared/--raw",
    default=None,
    help="Take the text as it stands, or prepare it as the model's training text was.  [default: raw, unless a record "
    "beside the text fits, or the model has Moses tokens or no record]",
)
encoding = click.option(
    "--encoding",
    metavar="NAME",
    callback=lambda _context, _option, name: None if name is None else check_encoding(name),
    help="Encoding of raw text, such as cp1250.  [default: recognised]",
)
open_vocabulary = click.option(
    "--open-vocabulary", is_flag=True, help="Give each unknown word its own share of P(UNK), by its spelling."
)
continuous = click.option(
    "--continuous",
    is_flag=True,
    help="Sentences follow each other: wide contexts and caches carry on from one to the next.",
)
scoring = applied([unit, continuous, prepared, encoding, unknown_contexts, open_vocabulary, allow_unk, as_json_lines])


def kappa(default: float) -> Callable[[Command], Command]:
    """The singleton pruning rate; commands differ in its default."""
    return click.option(
        "--kappa",
        type=click.FloatRange(0, 1),
        default=default,
        help="Share of the words occurring once that becomes UNK (paper: 0.2 on a million tokens, 0.05 on more).",
    )


def or_stdin(files: tuple[str, ...]) -> list[str]:
    """Standard input if no file is named; it can be named once."""
    if files.count("-") > 1:
        raise ConfigError("standard input ('-') is named more than once; it can be read only once")
    if not files:
        tell_waiting()
    return list(files) or ["-"]


def as_paths(files: Sequence[str]) -> list[Path]:
    """Files as the library takes them: strings in a list would be lines of text."""
    return [Path(file) for file in files]


def tell_waiting() -> None:
    """Tell somebody who named no text, and sits before a terminal, what the command waits for."""
    if sys.stdin.isatty():
        notify("reading what you type; end with Ctrl-D, or name a file")


def check_one_stdin(model: str, *others: str) -> None:
    """A model and a text cannot both come through standard input."""
    if [model, *others].count("-") > 1:
        raise ConfigError(
            "standard input ('-') is named more than once, or for want of a file; it can be read only once"
        )


def check_model_first(model: str, *others: str) -> None:
    """Refuse a text in the place of the model before it is read, if the model stands among the other arguments."""
    if any(map(_is_model, others)) and not _is_model(model):
        what = "is a text" if is_file(model) else "is no model"
        raise ConfigError(f"{model} {what}; the model comes first: `{usage(click.get_current_context())}`")


def _is_model(path: str) -> bool:
    """A directory of a model or of `learn`, or a file that begins as compiled ones or ARPA; only that is read."""
    if is_compiled(path) or is_file(f"{path}/{MANIFEST}") or is_file(f"{path}/{LEARNED_RECORD}"):
        return True
    if not is_file(path):
        return False
    with contextlib.suppress(MorphlmError, OSError), open_binary(path) as file:
        return b"\\data\\" in file.read(ARPA_BEGINNING).split()
    return False


def check_composes(path: str, model: LanguageModel, contexts: str) -> None:
    """Tell where unknown words were to be composed in contexts and cannot be."""
    if contexts == "composed" and not model.composes_contexts:
        notify(f"warning: {path} cannot compose unknown words; they are UNK in contexts")


def mention_missing_record(path: str, model: LanguageModel, prepared: bool | None) -> None:
    """Say that text is scored as it stands, because nobody knows how the model's text was prepared."""
    if prepared is None and model.preparation is None:
        notify(f"{path}: no record of how its training text was prepared, so text was taken as it stands")


def json_line(content: Any) -> str:
    """JSON on one line."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def tab_header(columns: Sequence[str], *, wanted: bool) -> None:
    """The names of tab-separated columns on standard output, if they are wanted."""
    if wanted:
        click.echo("\t".join(columns))


def show(text: str, *, err: bool = False) -> None:
    """A text on standard output, or as a message on standard error where standard output carries something else."""
    if err:
        notify(text)
    else:
        click.echo(text)


def print_json(content: Any, *, err: bool = False) -> None:
    """JSON on standard output, or on standard error where that carries something else."""
    show(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False), err=err)


def print_result(result: Any, as_json: bool, *, err: bool = False) -> None:
    """A result as JSON or for people to read; on standard error where standard output carries something else."""
    if as_json:
        print_json(result.to_json(), err=err)
    else:
        show(result.format(), err=err)
