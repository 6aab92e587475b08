"""Shared by the subcommands: options, loading two models, and printing a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from morphlm.cli import options
from morphlm.report.pictures import check_picture, save_picture
from morphlm.scoring.loading import load

if TYPE_CHECKING:
    from morphlm.language_model.base import LanguageModel

two_models = options.applied([click.argument("baseline", metavar="BASELINE"), click.argument("other", metavar="OTHER")])


def _check_pictures(_: click.Context, __: click.Parameter, paths: Sequence[str]) -> Sequence[str]:
    """Refuse pictures that cannot be written, before any work is done."""
    for path in paths:
        check_picture(path)
    return paths


pictures = click.option(
    "--picture",
    "pictures",
    multiple=True,
    metavar="FILE",
    callback=_check_pictures,
    help="Also write a picture (.svg, .png or .pdf; repeatable; extra: pictures).",
)


# How texts are read and what is drawn; all but `pictures` and `as_json` are arguments of the analyses.
analysis = options.applied(
    [options.prepared, options.encoding, options.allow_unk, pictures, options.seed, options.as_json]
)


def load_two(baseline: str, other: str) -> tuple[LanguageModel, LanguageModel, tuple[str, str]]:
    """The models and their names in tables: their kinds or, if these are equal, their paths."""
    first, second = load(baseline), load(other)
    names = (first.kind, second.kind) if first.kind != second.kind else (baseline, other)
    return first, second, names


def show(result: Any, as_json: bool, paths: Sequence[str]) -> None:
    """Draw the pictures that were asked for, then print the result of any analysis."""
    for path in paths:
        save_picture(result, path)
    if as_json:
        options.print_json(result.to_json())
    else:
        click.echo(result.to_table().format())
