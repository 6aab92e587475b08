"""`morphlm analyse frequency`: two models on rare and on frequent words."""

from __future__ import annotations

from typing import Any

import click

from morphlm.analysis.frequency import frequency_comparison
from morphlm.cli import options
from morphlm.cli.analyse.options import analysis, load_two, show, two_models
from morphlm.vocabulary.vocabulary import load_vocabulary


@click.command(name="frequency")
@two_models
@options.text_files
@click.option("--ends/--no-ends", default=True, help="Count sentence ends as tokens.")
@click.option("--vocab", metavar="FILE", help="Vocabulary with the training counts.  [default: the baseline's]")
@analysis
def command(
    baseline: str,
    other: str,
    files: tuple[str, ...],
    vocab: str | None,
    pictures: tuple[str, ...],
    as_json: bool,
    **settings: Any,  # of frequency_comparison
) -> None:
    """Perplexity of two models on text, by how often each token was seen in the baseline's training text.

    One row for unseen words, which are UNK, and one for each of 1-9, 10-99, ... with its share of the text. The change
    is that of OTHER relative to BASELINE. Models are directories or ARPA files, of any kind.

    \b
      morphlm analyse frequency de.clbl de.clbl++ test.de.txt --picture frequency.svg
    """
    paths = options.or_stdin(files)
    options.check_one_stdin(baseline, other, *paths, *([] if vocab is None else [vocab]))
    options.check_model_first(baseline, *paths)
    options.check_model_first(other, *paths)
    first, second, names = load_two(baseline, other)
    vocabulary = None if vocab is None else load_vocabulary(vocab)
    result = frequency_comparison(
        first, second, options.as_paths(paths), vocabulary=vocabulary, names=names, **settings
    )
    show(result, as_json, pictures)
