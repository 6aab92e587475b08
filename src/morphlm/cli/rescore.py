"""`morphlm rescore`: adds language model features to k-best lists, and reranks them."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options
from morphlm.files import atomic_writer
from morphlm.progress import notify
from morphlm.scoring.kbest import FORMATS, Columns, FormatName, read_weights
from morphlm.scoring.loading import load
from morphlm.scoring.rescoring import Rescored, Rescorer, RescoringOptions, feature_names, rescore
from morphlm.scoring.spelled import with_spelling

_column = click.IntRange(min=1)


@click.command(name="rescore")
@click.argument("model_path", metavar="MODEL")
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--model", "more_models", multiple=True, metavar="MODEL", help="Another model (repeatable).")
@click.option(
    "--feature",
    "features",
    multiple=True,
    metavar="NAME",
    help="Feature name of each model, in order.  [default: its kind]",
)
@click.option("--format", "layout", type=click.Choice(FORMATS), default="auto", help="Of the list.")
@click.option("--word-count", is_flag=True, help="Add a feature `words`, the number of words.")
@click.option("--unknown-count", is_flag=True, help="Add `NAME_unknown` for each model, its unknown words.")
@click.option(
    "--lm-weight", "lm_weights", multiple=True, type=float, metavar="W", help="Rerank by score + W x feature."
)
@click.option("--weights", metavar="FILE|'NAME=W ...'", help="Rerank by the weighted sum of all features.")
@click.option("--best", is_flag=True, help="Print only the text of the best hypothesis of each sentence.")
@click.option("--id-column", type=_column, default=Columns.id, help="Of a table: sentence id.")
@click.option("--text-column", type=_column, default=Columns.text, help="Of a table.")
@click.option("--score-column", type=click.IntRange(min=0), help="Of a table; 0: none.  [default: 3, if a line has it]")
@options.scoring
def command(
    model_path: str,
    file: str,
    more_models: tuple[str, ...],
    features: tuple[str, ...],
    layout: FormatName,
    weights: str | None,
    best: bool,
    id_column: int,
    text_column: int,
    score_column: int | None,
    open_vocabulary: bool,
    as_json: bool,
    **scoring: Any,  # other fields of RescoringOptions
) -> None:
    """Score the hypotheses of a k-best list: `id ||| hypothesis ||| features ||| score`, or a table with tabs.

    Without weights, the log-probability of each hypothesis (natural unless --unit says otherwise) is added as a
    feature, in the notation of Moses (`NAME= value`) or cdec (`NAME=value`), or as the last column of a table; all else
    stays byte for byte. With --lm-weight or --weights, the hypotheses of each sentence are also sorted by the new
    score, which replaces the old one (in a table: is added as a column). Ties keep their order.

    Hypotheses are prepared as the model's training text was before they are scored, and printed as they were.

    The sentences of a list are independent, unless --continuous says that they follow each other: then a hypothesis
    comes after the best ones of the sentences before it or, without weights, after the first ones.

    The hypotheses of a sentence must be adjacent. In --weights, the columns of a table are named by their numbers.
    """
    paths = (model_path, *more_models)
    options.check_one_stdin(file, *paths)
    options.check_model_first(model_path, file)
    if file == "-":
        options.tell_waiting()
    settings = RescoringOptions(weights=None if weights is None else read_weights(weights), best=best, **scoring)
    models = [load(path) for path in paths]
    names = feature_names(models, features)
    if open_vocabulary:
        models = list(map(with_spelling, models))
    for path, model in zip(paths, models, strict=True):
        options.check_composes(path, model, settings.unknown_contexts)
    rescorer = Rescorer(list(zip(names, models, strict=True)), settings)
    with atomic_writer("-") as out:
        for items in rescore(rescorer, file, layout=layout, columns=Columns(id_column, text_column, score_column)):
            out.write("".join(f"{_line(item, best, as_json)}\n" for item in items).encode())
            out.flush()
    _warn(rescorer)


def _line(item: Rescored, best: bool, as_json: bool) -> str:
    if as_json:
        return options.json_line(item.to_json())
    return item.hypothesis.text if best else item.to_line()


def _warn(rescorer: Rescorer) -> None:
    if rescorer.unweighted:
        notify(f"warning: features without a weight count nothing: {', '.join(rescorer.unweighted)}")
    if rescorer.unused_weights:
        notify(f"warning: weights of features that the list does not have: {', '.join(rescorer.unused_weights)}")
