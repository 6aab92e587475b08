"""`morphlm analogies`: how often vectors find the fourth word of an analogy."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options, vector_options
from morphlm.vectors.analogies import evaluate_analogies, read_analogies


@click.command(name="analogies")
@click.argument("model_path", metavar="MODEL")
@click.argument("files", nargs=-1, required=True, metavar="QUESTIONS...")
@vector_options.choice
@vector_options.prepared
@options.as_json
def command(model_path: str, files: tuple[str, ...], prepared: bool, as_json: bool, **choice: Any) -> None:
    """Print how often the fourth word of an analogy is found, for files like word2vec's questions-words.txt.

    Lines are `a b c d` (a is to b as c is to d) under lines `: section`. MODEL is a model directory or a file of
    vectors (word2vec text or binary, fastText .bin, .npy, .safetensors). 3CosAdd takes the word nearest to b - a + c,
    3CosMul the one with the highest cos(b) cos(c) / cos(a). Words that are not known are composed, and are possible
    answers beside all known words; questions that are not covered count as wrong. "known" counts, and measures alone,
    the questions whose four words are known.

    \b
      morphlm neighbours MODEL --analogy A B C    answers a single question
    """
    options.check_one_stdin(model_path, *files)
    options.check_model_first(model_path, *files)
    sets = [read_analogies(path) for path in files]
    vectors = vector_options.any_vectors(model_path, **choice)
    results = [evaluate_analogies(vectors, questions, prepared=prepared) for questions in sets]
    if as_json:
        options.print_json([result.to_json() for result in results])
    else:
        click.echo("\n\n".join(result.format() for result in results))
