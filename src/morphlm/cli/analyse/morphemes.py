"""`morphlm analyse morphemes`: a map of a model's morphemes."""

from __future__ import annotations

from typing import Any

import click

from morphlm.analysis.morpheme_map import COUNT, PERPLEXITY, map_morphemes
from morphlm.cli import options, vector_options
from morphlm.cli.analyse.options import pictures, show
from morphlm.report.pictures import save_picture


@click.command(name="morphemes")
@click.argument("model_path", metavar="MODEL")
@click.option("--count", default=COUNT, type=click.IntRange(1), help="Maximum number of morphemes.")
@click.option("--labels", metavar="LABEL,...", help="Only these: PRE, STM, SUF.  [default: affixes, then stems]")
@click.option(
    "--near", "names", multiple=True, metavar="NAME", help="Print only this morpheme, such as ung/SUF (repeatable)."
)
@click.option(
    "--perplexity",
    default=PERPLEXITY,
    type=click.FloatRange(1),
    help="Of t-SNE: about the number of neighbours of each point.",
)
@vector_options.choice
@pictures
@options.seed
@options.as_json
def command(
    model_path: str,
    count: int,
    labels: str | None,
    names: tuple[str, ...],
    perplexity: float,
    pictures: tuple[str, ...],
    seed: int,
    as_json: bool,
    **choice: Any,
) -> None:
    """A t-SNE map of the frequent morphemes of MODEL: morphemes that are used alike lie together.

    One row for each morpheme: the number of words and training tokens that contain it, its coordinates, the nearest
    morphemes on the map with their cosines, and frequent words. The picture names as many as fit. --near prints only
    the named ones, which must be on the map; `morphlm neighbours --morpheme` searches all.

    \b
      morphlm analyse morphemes de.clbl++ --picture map.svg --near ung/SUF
    """
    vectors = vector_options.model_vectors(model_path, **choice)
    chosen = None if labels is None else [label.strip() for label in labels.split(",")]
    result = map_morphemes(vectors, count=count, labels=chosen, seed=seed, perplexity=perplexity)
    for path in pictures:
        save_picture(result, path)
    show(result.only(names) if names else result, as_json, [])
