"""`morphlm predict`: the next words, and completions of a word that has been begun."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.files import atomic_writer
from morphlm.scoring.loading import load
from morphlm.scoring.prediction import Continuations, Predictor, predict_lines, predict_texts


@click.command(name="predict")
@click.argument("model_path", metavar="MODEL")
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("-k", "count", type=click.IntRange(min=1), default=10, show_default=True, help="How many words.")
@click.option("--prefix", default="", help="Only words that begin so.")
@click.option("--complete", is_flag=True, help="The last word is a prefix, unless a space follows it.")
@click.option("--end/--no-end", default=True, show_default=True, help="Show </s>, the end of the sentence.")
@click.option("--unknown/--no-unknown", default=False, show_default=True, help="Show <unk>.")
@options.normalise
@options.as_json_lines
def command(
    model_path: str,
    texts: tuple[str, ...],
    count: int,
    prefix: str,
    complete: bool,
    end: bool,
    unknown: bool,
    normalise: bool,
    as_json: bool,
) -> None:
    """The likeliest words after those of each TEXT, or of each line of standard input, as it arrives.

    For each word: number of the text, rank, word, probability, and its share of the probability of all words that are
    asked for (those with the prefix), separated by tabs. With --json there is one object for each text.
    """
    if prefix and complete:
        raise ConfigError("--prefix and --complete both say what the word begins with; give one")
    if not texts:
        options.check_one_stdin(model_path, "-")
    predictor = Predictor(load(model_path), normalise=normalise)
    ask: dict[str, Any] = {"k": count, "prefix": prefix, "complete": complete, "end": end, "unknown": unknown}
    results = iter([predict_texts(predictor, texts, **ask)]) if texts else predict_lines(predictor, "-", **ask)
    with atomic_writer("-") as out:
        for batch in results:
            for result in batch:
                rows = [options.json_line(result.to_json())] if as_json else _rows(result)
                out.write("".join(f"{row}\n" for row in rows).encode())
            out.flush()


def _rows(result: Continuations) -> Iterator[str]:
    for rank, found in enumerate(result.words, 1):
        yield f"{result.line}\t{rank}\t{found.word}\t{found.probability:.6g}\t{found.share:.6g}"
