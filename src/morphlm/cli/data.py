"""`morphlm data`: list the data sets and get one."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.lazy import NamedGroup
from morphlm.progress import notify
from morphlm.text.datasets import DataFolder, get_dataset, list_datasets
from morphlm.text.datasets.registry import DEFAULT_SEED, DEFAULT_SENTENCES
from morphlm.text.datasets.wmt13 import PARTS

SHOWN_LANGUAGES = 8  # in the table


@click.group(cls=NamedGroup, help="List data sets and get one by name.")
def command() -> None:
    """Group of the subcommands `list` and `get`."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(as_json: bool) -> None:
    """List the data sets: name, languages, size, licence, summary."""
    entries = [entry.description() for entry in list_datasets()]
    if as_json:
        click.echo(json.dumps(entries, ensure_ascii=False, indent=1))
        return
    rows = [[entry["name"], _languages(entry["languages"]), entry["size"], entry["licence"]] for entry in entries]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, entry in zip(rows, entries, strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        click.echo("  ".join([*cells, entry["summary"]]))
    for dataset in list_datasets():
        if dataset.names:
            click.echo(f"\n{dataset.name} in {len(dataset.names)} languages:\n{_named(dataset.names)}")


def _languages(codes: list[str]) -> str:
    return " ".join(codes) if len(codes) <= SHOWN_LANGUAGES else f"{len(codes)} languages"


def _named(names: Mapping[str, str]) -> str:
    """`cs Czech, da Danish, ...` in indented lines, which do not end between a code and its name."""
    text = ", ".join(f"{code} {name}".replace(" ", "\xa0") for code, name in names.items())
    filled = textwrap.fill(text, 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return filled.replace("\xa0", " ")


@command.command("get", short_help="Get a data set, or divide a text of your own.")
@click.argument("name")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--language", help="Language of the text, such as cs.")
@click.option("--parallel", help="Also get the translation into this language, such as en.")
@click.option("--seed", type=int, default=DEFAULT_SEED, help="Seed of the split into train, dev and test.")
@click.option(
    "--sentences", type=click.IntRange(min=1), help=f"generated: number of sentences.  [default: {DEFAULT_SENTENCES}]"
)
@click.option("--part", type=click.Choice(PARTS), help=f"wmt13: amount of training text.  [default: {PARTS[0]}]")
@click.option("--add", type=click.Path(path_type=Path), help="wmt13: file with additional training text.")
@click.option("--add-parallel", type=click.Path(path_type=Path), help="wmt13: translation of that file, line by line.")
@click.option("--cache", type=click.Path(path_type=Path), help="wmt13: folder for downloaded archives.")
@click.option(
    "--parallel-path", type=click.Path(path_type=Path), help="Own files: file or folder with the translation."
)
@options.header
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def get_command(name: str, directory: Path, has_header: bool, as_json: bool, **settings: Any) -> None:
    """Get the data set NAME, or the text file or folder NAME, as train, dev and test files in DIRECTORY.

    Prints each file with its number of lines and words.
    """
    folder = get_dataset(name, directory, **settings)
    if folder.reused:
        notify(f"{directory}: the data set is there already and intact; nothing was fetched")
    notify(f"licence: {folder.licence}")
    _show(folder, directory, has_header, as_json)


def _show(folder: DataFolder, directory: Path, has_header: bool, as_json: bool) -> None:
    if as_json:
        click.echo(
            json.dumps(
                {"directory": str(directory), **folder.description()}, ensure_ascii=False, indent=1, sort_keys=True
            )
        )
        return
    options.tab_header(("file", "lines", "words"), wanted=has_header)
    for name, facts in sorted(folder.files.items()):
        click.echo(f"{directory / name}\t{facts.lines}\t{facts.words}")
