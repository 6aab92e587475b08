"""`morphlm reproduce`: the paper's tables and figures, by the name of a recipe."""

from __future__ import annotations

from pathlib import Path

import click

from morphlm.cli import options
from morphlm.errors import ConfigError, TrainingError
from morphlm.experiments.recipe import load_recipe, recipe_names

SHOWN = 3  # steps that failed are named in the last line


@click.command(name="reproduce")
@click.argument("recipe", required=False)
@click.option("--list", "listed", is_flag=True, help="List the recipes.")
@click.option("--data", type=click.Path(path_type=Path), metavar="DIR", help="Folder of raw text and gold data.")
@click.option("--languages", metavar="LL,...", help="Only these, for example cs,de.")
@click.option("--tokens", type=click.IntRange(min=1), metavar="N", help="Training texts of at most N tokens.")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Leave out as much as is needed to be done in this time, in the order that the recipe names.",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    default=Path("morphlm-store"),
    metavar="DIR",
    help="Keep and find texts, models and results here.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the report here.  [in the store]")
@click.option("--dry-run", is_flag=True, help="Print the steps, what is done of them, and an estimate.")
@options.as_json
def command(
    recipe: str | None,
    listed: bool,
    data: Path | None,
    languages: str | None,
    tokens: int | None,
    minutes: float | None,
    store: Path,
    out: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run an experiment of the paper: RECIPE is one of --list, or a TOML file of your own.

    Prints our numbers beside the paper's and writes report.md, results.json and pictures. What is done is kept, so the
    same command goes on where it was stopped, and recipes share their models.

    \b
      morphlm reproduce data-1m --data DIR --minutes 30
      morphlm reproduce kappa --data DIR --tokens 2000000
      morphlm reproduce all --data DIR --dry-run
    """
    if listed:
        _list(as_json)
        return
    if recipe is None:
        raise ConfigError("name a recipe; `morphlm reproduce --list` shows them")
    # Only now: it loads all that trains.
    from morphlm.experiments.reproduce import ReproduceRequest, look_ahead, reproduce  # noqa: PLC0415

    chosen = None if languages is None else tuple(filter(None, map(str.strip, languages.split(","))))
    request = ReproduceRequest(recipe, data, store, out, chosen, tokens, minutes)
    if dry_run:
        options.print_result(look_ahead(request), as_json)
        return
    result = reproduce(request)
    options.print_result(result, as_json)
    if failed := list(result.failed):
        more = f" and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
        raise TrainingError(f"failed: {'; '.join(failed[:SHOWN])}{more}; see above, mend it and run this again")


def _list(as_json: bool) -> None:
    recipes = [load_recipe(name) for name in recipe_names()]
    if as_json:
        options.print_json([{name: getattr(recipe, name) for name in ("name", "title", "paper")} for recipe in recipes])
    else:
        width = max(len(recipe.name) for recipe in recipes)
        for recipe in recipes:
            paper = f" ({recipe.paper})" if recipe.paper else ""
            click.echo(f"{recipe.name:<{width}}  {recipe.title}{paper}")
