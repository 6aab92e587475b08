"""`morphlm cache`: adds a neural cache to a log-bilinear model."""

from __future__ import annotations

import click

from morphlm.cache.config import LONGEST_WINDOW, NeuralCacheConfig
from morphlm.cli import options
from morphlm.scoring.caching import add_and_test


@click.command(name="cache")
@click.argument("model", metavar="MODEL")
@click.option("--dev", required=True, metavar="FILE", help="Development text to fit the cache to.")
@options.model_out
@click.option(
    "--window",
    type=click.IntRange(1, LONGEST_WINDOW),
    default=NeuralCacheConfig.window,
    show_default=True,
    help="Number of words before a sentence that count.",
)
@click.option(
    "--cache-unk", "cache_unknown", is_flag=True, help="Unknown words count too, which raises P(UNK) and no word's."
)
@options.also_test
@options.prepared
@options.encoding
@options.allow_unk
@options.as_json
def command(
    model: str,
    dev: str,
    out: str,
    window: int,
    cache_unknown: bool,
    test: str | None,
    prepared: bool | None,
    encoding: str | None,
    allow_unknown: bool,
    as_json: bool,
) -> None:
    """Add a neural cache to a log-bilinear model: words come again where contexts like theirs do.

    MODEL is the directory of a log-bilinear model. The result is a model like any other, with MODEL inside its
    directory; mix it with Kneser-Ney in the place of MODEL. The sentences of the texts must follow each other.

    \b
      morphlm cache cs.clbl++ --dev dev.txt --out cs.cached
      morphlm mix cs.mkn cs.cached --dev dev.txt --out cs.mixture
    """
    options.check_one_stdin(model, dev, test or "")
    cached = add_and_test(
        model,
        dev,
        out,
        test=test,
        window=window,
        cache_unknown=cache_unknown,
        allow_unknown=allow_unknown,
        prepared=prepared,
        encoding=encoding,
    )
    options.print_result(cached, as_json)
