"""What the subcommands share: options, loading two models, and showing a result."""

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
pictures = click.option(
    "--picture", "pictures", multiple=True, metavar="FILE", help="Also draw it, as .svg, .png or .pdf (repeatable)."
)


def check_pictures(paths: Sequence[str]) -> None:
    """Refuse, before any work is done, what could not be drawn in the end."""
    for path in paths:
        check_picture(path)


def load_two(baseline: str, other: str) -> tuple[LanguageModel, LanguageModel, tuple[str, str]]:
    """The models and what tables call them: their kinds or, where these are the same, their places."""
    one, two = load(baseline), load(other)
    names = (one.kind, two.kind) if one.kind != two.kind else (baseline, other)
    return one, two, names


def show(result: Any, as_json: bool, paths: Sequence[str]) -> None:
    """Draw the pictures that were asked for, then print the result of any analysis."""
    for path in paths:
        save_picture(result, path)
    if as_json:
        options.print_json(result.to_json())
    else:
        click.echo(result.to_table().format())
