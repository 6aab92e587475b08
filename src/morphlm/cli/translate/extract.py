"""`morphlm translate extract`: the rules for sentences, from aligned text."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.tables import counted
from morphlm.translation.grammar.bitext import load_bitext
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.grammar.files import check_can_hold_grammars, make_bitext, write_grammars


@click.command(name="extract")
@click.argument("bitext_path", metavar="BITEXT")
@click.argument("file", required=False, metavar="[FILE]")
@click.option(
    "--from",
    "parts",
    nargs=3,
    metavar="SOURCE TARGET ALIGNMENT",
    help="First make BITEXT of tokenised text and its alignment; without FILE, do only that.",
)
@click.option("--out", metavar="FILE", help="One grammar with the rules of all sentences.  [default: -]")
@click.option("--folder", metavar="FOLDER", help="A grammar for each sentence: FOLDER/grammar.0.gz and so on.")
@settings.grammar
@settings.threads
@options.allow_unk
@options.as_json
def command(
    bitext_path: str,
    file: str | None,
    parts: tuple[str, str, str] | None,
    out: str | None,
    folder: str | None,
    threads: int | None,
    allow_unknown: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Find hierarchical rules for the tokenised sentences of FILE (standard input) in the training text BITEXT.

    BITEXT is a folder that --from makes: text, alignment and suffix arrays. Rules are written as cdec has them; their
    features are natural logarithms, higher is better.

    \b
      morphlm translate extract bitext --from train.en.txt train.de.txt train.align
      morphlm translate extract bitext test.en.txt --folder grammars
    """
    if out is not None and folder is not None:
        raise ConfigError("--out is one file and --folder one for each sentence; give one of them")
    config = GrammarConfig(**settings.grammar.chosen(values))
    options.check_one_stdin(bitext_path, *(parts or ()), *([] if file is None and parts else [file or "-"]))
    if folder is not None:
        check_can_hold_grammars(folder)
    elif out is not None:
        check_can_write(out)
    bitext = make_bitext(*parts, bitext_path, allow_unknown=allow_unknown) if parts else load_bitext(bitext_path)
    if file is None and parts:
        settings.show({"pairs": len(bitext)}, f"{counted(len(bitext), 'pair')} in {bitext_path}", as_json)
        return
    written = write_grammars(
        bitext,
        file or "-",
        out=None if folder is not None else out or "-",
        folder=folder,
        config=config,
        threads=threads,
        allow_unknown=allow_unknown,
    )
    settings.show(written.to_json(), written.format(), as_json, err=folder is None and (out or "-") == "-")
