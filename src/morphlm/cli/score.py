"""`morphlm score`: the log-probability of every line as it arrives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from morphlm.cli import options
from morphlm.files import atomic_writer, source_name
from morphlm.scoring.loading import load
from morphlm.scoring.spelled import with_spelling
from morphlm.scoring.streaming import LineScore, Unit, score_lines


@click.command(name="score")
@click.argument("model_path", metavar="MODEL")
@options.text_files
@click.option("--per-token", is_flag=True, help="Print a line for each token.")
@options.header
@options.scoring
def command(
    model_path: str,
    files: tuple[str, ...],
    per_token: bool,
    has_header: bool,
    open_vocabulary: bool,
    as_json: bool,
    **scoring: Any,
) -> None:
    """Score text line by line as it arrives, without waiting for the next line.

    Raw lines are prepared as the model's training text was; lines stay lines. Each is a text of its own, unless
    --continuous says that they follow each other; then a file begins anew.

    For every line, even an empty one: its log-probability, the number of tokens including the end of the sentence, and
    how many of them are unknown and scored as UNK (with --open-vocabulary, by their spelling). With --per-token, for
    every token: line number, position, token, log-probability, and 1 if it is unknown; </s> is the last token of each
    line. Columns are separated by tabs, with the file first if there are several. With --json, one object for each line
    of the text.
    """
    paths = options.or_stdin(files)
    options.check_one_stdin(model_path, *paths)
    options.check_model_first(model_path, *paths)
    model = with_spelling(load(model_path)) if open_vocabulary else load(model_path)
    options.check_composes(model_path, model, scoring["unknown_contexts"])
    columns = ("line", "position", "token", "logprob", "unknown") if per_token else ("logprob", "tokens", "unknown")
    options.tab_header([*(["file"] if len(paths) > 1 else []), *columns], wanted=has_header and not as_json)
    with atomic_writer("-") as out:
        for path in paths:
            name = source_name(path) if len(paths) > 1 else None
            for scores in score_lines(model, path, per_token=per_token, **scoring):
                rows = _json_rows(scores, scoring["unit"], name) if as_json else _rows(scores, per_token, name)
                out.write("".join(f"{row}\n" for row in rows).encode())
                out.flush()  # whoever wrote the lines may be waiting for it
    options.mention_missing_record(model_path, model, scoring["prepared"])


def _rows(scores: list[LineScore], per_token: bool, name: str | None) -> Iterator[str]:
    first = "" if name is None else f"{name}\t"
    for score in scores:
        if not per_token:
            yield f"{first}{score.logprob:.4f}\t{score.tokens}\t{score.unknown}"
        for position, token in enumerate(score.scores or (), 1):
            yield f"{first}{score.line}\t{position}\t{token.token}\t{token.logprob:.6f}\t{token.unknown:d}"


def _json_rows(scores: list[LineScore], unit: Unit, name: str | None) -> Iterator[str]:
    first = {} if name is None else {"text": name}
    for score in scores:
        yield options.json_line(first | score.to_json() | {"unit": unit})
