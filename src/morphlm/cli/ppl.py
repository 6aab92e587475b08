"""`morphlm ppl`: perplexity of text, optionally of each sentence or token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from morphlm.cli import options
from morphlm.compiling import COMPILATIONS
from morphlm.files import source_name
from morphlm.language_model.fitting import fit_text
from morphlm.language_model.perplexity import (
    Perplexity,
    ScoredText,
    UnknownContexts,
    format_table,
    score_text,
    text_signature,
)
from morphlm.scoring.loading import load
from morphlm.scoring.spelling import train_spelling
from morphlm.tables import finite_or_none

# Of the rows of --per-sentence and --per-token.
COLUMNS = {
    "sentence": ("sentence", "logprob", "tokens", "unknown", "perplexity"),
    "token": ("sentence", "position", "token", "logprob", "unknown"),
}


@click.command(name="ppl")
@click.argument("model_path", metavar="MODEL")
@options.text_files
@click.option(
    "--per-sentence", "detail", flag_value="sentence", help="Print a line for each sentence before the summary."
)
@click.option("--per-token", "detail", flag_value="token", help="Print a line for each token before the summary.")
@click.option(
    "--open-vocabulary",
    is_flag=True,
    help="Give each unknown word its own share of P(UNK) by its spelling; adds perplexity and bits per character.",
)
@options.header
@options.unknown_contexts
@options.prepared
@options.encoding
@options.allow_unk
@options.as_json
def command(
    model_path: str,
    files: tuple[str, ...],
    detail: str | None,
    open_vocabulary: bool,
    has_header: bool,
    unknown_contexts: UnknownContexts,
    prepared: bool | None,
    encoding: str | None,
    allow_unknown: bool,
    as_json: bool,
) -> None:
    """Perplexity of text under a model directory or an ARPA file, with its signature.

    Raw text is prepared as the model's training text was, and that is said on stderr.

    Per sentence: number, ln p, tokens, unknown words, perplexity. Per token: sentence, position, token, ln p and
    whether it is unknown. Columns are separated by tabs, with the file first if there are several; the summary then
    goes to stderr. With --json everything is one list. With --open-vocabulary, ln p is that of the spelled words.

    Characters are counted as `wc -m` does: words, spaces between them, and the newline after each sentence.
    """
    paths = options.or_stdin(files)
    options.check_one_stdin(model_path, *paths)
    options.check_model_first(model_path, *paths)
    COMPILATIONS.begin_early()
    model = load(model_path)
    spelling = train_spelling(model.vocabulary) if open_vocabulary else None
    options.check_composes(model_path, model, unknown_contexts)
    results: list[tuple[Perplexity, ScoredText]] = []
    for path in paths:
        text = fit_text(model, path, prepared=prepared, encoding=encoding)
        scored = score_text(
            model,
            text,
            allow_unknown=allow_unknown,
            keep_forms=detail == "token",
            spelling=spelling,
            unknown_contexts=unknown_contexts,
        )
        results.append((scored.perplexity(source_name(path), text_signature(model, text)), scored))
    options.mention_missing_record(model_path, model, prepared)
    if as_json:
        options.print_json([result.to_json() | _details(scored, detail) for result, scored in results])
        return
    first = ["file"] if len(results) > 1 else []
    options.tab_header([*first, *COLUMNS.get(detail or "", ())], wanted=has_header and detail is not None)
    for result, scored in results:
        text = [result.text] if first else []
        for row in _rows(scored, detail):
            click.echo("\t".join([*text, *(_cell(value) for value in row.values())]))
    summary = results[0][0].format() if len(results) == 1 else format_table([(r.text, r) for r, _ in results])
    options.show(summary, err=detail is not None)


def _cell(value: Any) -> str:
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _rows(scored: ScoredText, detail: str | None) -> Iterator[dict[str, Any]]:
    if detail == "sentence":
        yield from scored.sentence_rows()
    elif detail == "token":
        yield from scored.token_rows()


def _details(scored: ScoredText, detail: str | None) -> dict[str, Any]:
    """The rows as JSON; it has no infinity."""
    rows = [
        {name: finite_or_none(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in _rows(scored, detail)
    ]
    return {} if detail is None else {f"{detail}s": rows}
