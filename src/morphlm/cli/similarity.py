"""`morphlm similarity`: how well the cosines of word vectors agree with people's ratings."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options, vector_options
from morphlm.progress import notify
from morphlm.vectors.similarity import evaluate_similarity, format_similarities, read_pairs


@click.command(name="similarity")
@click.argument("model_path", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="PAIRS...")
@vector_options.choice
@vector_options.prepared
@options.seed
@options.as_json
def command(
    model_path: str,
    files: tuple[str, ...],
    prepared: bool,
    seed: int,
    as_json: bool,
    **choice: Any,
) -> None:
    """Print Spearman's rho x 100 between cosines and human ratings, for files of `word TAB word TAB rating`.

    MODEL is a model directory or a file of vectors (word2vec text or binary, fastText .bin, .npy, .safetensors). Words
    that it does not know are composed of their morphemes or subwords; under -compose they are UNK; under "known pairs"
    their pairs are dropped. "covered" counts the pairs whose words are known or can be composed. In brackets: the 95 %
    interval of 1000 bootstrap samples of the pairs.
    """
    options.check_one_stdin(model_path, *files)
    options.check_model_first(model_path, *files)
    sets = [read_pairs(path) for path in files]
    vectors = vector_options.any_vectors(model_path, **choice)
    results = [evaluate_similarity(vectors, pairs, seed=seed, prepared=prepared) for pairs in sets]
    for result in results:
        if not result.known:
            notify(f"WARNING: {result.name}: the model knows no pair of these words; are they of its language?")
    if as_json:
        options.print_json([result.to_json() for result in results])
    else:
        click.echo(format_similarities(results))
