"""`morphlm translate extract`: the rules for sentences, from aligned text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.progress import notify, progress_bar
from morphlm.threads import available_cores
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.alignment.pharaoh import read_pharaoh
from morphlm.translation.grammar.bitext import Bitext, build_bitext, check_can_hold_bitext, load_bitext
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.files import check_can_hold_grammars, read_sentences, write_all, write_each
from morphlm.translation.grammar.rules import RuleTable


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
@settings.limits
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
    **limits: Any,
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
    config = settings.grammar_config(**limits)
    options.check_one_stdin(bitext_path, *(parts or ()), *([] if file is None and parts else [file or "-"]))
    _check_places(out, folder)
    bitext = _make(bitext_path, parts, allow_unknown) if parts else load_bitext(bitext_path)
    if file is None and parts:
        _show({"pairs": len(bitext)}, f"{len(bitext):,} pairs in {bitext_path}", as_json, err=False)
        return
    sentences = read_sentences(file or "-", allow_unknown=allow_unknown)
    tables = _watched(GrammarExtractor(bitext, config).extract_all(sentences, threads or available_cores()))
    written = write_each(folder, tables) if folder is not None else write_all(out or "-", tables)
    _show(written.to_json(), written.format(), as_json, err=folder is None and (out or "-") == "-")


def _check_places(out: str | None, folder: str | None) -> None:
    if folder is not None:
        check_can_hold_grammars(folder)
    elif out is not None:
        check_can_write(out)


def _make(directory: str, parts: tuple[str, str, str], allow_unknown: bool) -> Bitext:
    check_can_hold_bitext(directory)
    source, target, alignment = parts
    text = read_parallel(source, target, allow_unknown=allow_unknown)
    links = read_pharaoh(alignment, text)
    notify(f"sorting the suffixes of {len(text):,} pairs")
    bitext = build_bitext(text, links, alignment)
    bitext.save(Path(directory))
    return bitext


def _watched(tables: Iterator[RuleTable]) -> Iterator[RuleTable]:
    with progress_bar("extracting", unit="sentence") as bar:
        for table in tables:
            yield table
            bar.update()


def _show(content: dict[str, Any], line: str, as_json: bool, err: bool) -> None:
    """The figures; on stderr when standard output carries the grammar."""
    if as_json:
        options.print_json(content, err=err)
    else:
        click.echo(line, err=err)
