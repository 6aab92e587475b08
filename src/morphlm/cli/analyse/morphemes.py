"""`morphlm analyse morphemes`: a map of a model's morphemes."""

from __future__ import annotations

import click

from morphlm.analysis.morpheme_map import COUNT, PERPLEXITY, map_morphemes
from morphlm.cli import options, vector_options
from morphlm.cli.analyse.options import check_pictures, pictures, show
from morphlm.report.pictures import save_picture
from morphlm.vectors.vectors import Side


@click.command(name="morphemes")
@click.argument("model_path", metavar="MODEL")
@click.option("--count", default=COUNT, show_default=True, type=click.IntRange(1), help="How many morphemes, at most.")
@click.option("--labels", metavar="LABEL,...", help="Only these: PRE, STM, SUF.  [default: affixes, then stems]")
@click.option("--near", "names", multiple=True, metavar="NAME", help="Print only this morpheme: ung/SUF (repeatable).")
@click.option(
    "--perplexity",
    default=PERPLEXITY,
    show_default=True,
    type=click.FloatRange(1),
    help="Of t-SNE: about how many neighbours each keeps.",
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
    side: Side,
    centre: bool,
    normalise: bool,
    pictures: tuple[str, ...],
    seed: int,
    as_json: bool,
) -> None:
    """A map of the frequent morphemes of MODEL by t-SNE: what is used alike lies together.

    A row a morpheme: how many words and training tokens have it, its place, the nearest morphemes of the map with their
    cosines, and frequent words. In the picture as many have their names as there is room for. With --near, those that
    are named, which must be on the map; `morphlm neighbours --morpheme` looks among all.

    \b
      morphlm analyse morphemes de.clbl++ --picture map.svg --near ung/SUF
    """
    check_pictures(pictures)
    vectors = vector_options.model_vectors(model_path, side, centre, normalise)
    chosen = None if labels is None else [label.strip() for label in labels.split(",")]
    result = map_morphemes(vectors, count=count, labels=chosen, seed=seed, perplexity=perplexity)
    for path in pictures:
        save_picture(result, path)
    show(result.only(names) if names else result, as_json, [])
