"""`morphlm predict`: the likely next words, or completions of a prefix."""

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
@click.option("-k", "k", type=click.IntRange(min=1), default=10, help="Number of words.")
@click.option("--prefix", default="", show_default=False, help="Only words with this prefix.")
@click.option("--complete", is_flag=True, help="Take the last word as a prefix, unless a space follows.")
@click.option("--end/--no-end", default=True, help="Show </s>, the end of the sentence.")
@click.option("--unknown/--no-unknown", default=False, help="Show <unk>.")
@options.prepared
@options.encoding
@options.header
@options.as_json_lines
def command(
    model_path: str,
    texts: tuple[str, ...],
    prepared: bool | None,
    encoding: str | None,
    has_header: bool,
    as_json: bool,
    **query: Any,  # arguments of predict_texts
) -> None:
    """The most likely next words after each TEXT, or after each line of standard input as it arrives.

    For each word: rank, word, probability, and its share of the probability of all words with the prefix, separated by
    tabs; the number of the text comes first unless one TEXT is given. With --json, one object for each text.
    """
    if query["prefix"] and query["complete"]:
        raise ConfigError("--prefix and --complete both say what the word begins with; give one")
    options.check_model_first(model_path, *texts)
    if not texts:
        options.check_one_stdin(model_path, "-")
        options.tell_waiting()
    predictor = Predictor(load(model_path), prepared=prepared)
    if texts:
        results = iter([predict_texts(predictor, texts, **query)])
    else:
        results = predict_lines(predictor, "-", encoding=encoding, **query)
    first = () if len(texts) == 1 else ("text",)
    options.tab_header((*first, "rank", "word", "probability", "share"), wanted=has_header and not as_json)
    with atomic_writer("-") as out:
        for batch in results:
            for result in batch:
                rows = [options.json_line(result.to_json())] if as_json else _rows(result, numbered=bool(first))
                out.write("".join(f"{row}\n" for row in rows).encode())
            out.flush()


def _rows(result: Continuations, *, numbered: bool) -> Iterator[str]:
    first = f"{result.line}\t" if numbered else ""
    for rank, prediction in enumerate(result.words, 1):
        yield f"{first}{rank}\t{prediction.word}\t{prediction.probability:.6g}\t{prediction.share:.6g}"
