"""`morphlm ppl`: perplexity, on demand for each sentence or token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from morphlm.cli import options
from morphlm.files import source_name
from morphlm.language_model.perplexity import Perplexity, ScoredText, format_table, score_text, text_signature
from morphlm.scoring.loading import load


@click.command(name="ppl")
@click.argument("model_path", metavar="MODEL")
@options.text_files
@click.option("--per-sentence", "detail", flag_value="sentence", help="A line a sentence before the summary.")
@click.option("--per-token", "detail", flag_value="token", help="A line a token before the summary.")
@options.allow_unk
@options.as_json
def command(model_path: str, files: tuple[str, ...], detail: str | None, allow_unk: bool, as_json: bool) -> None:
    """Perplexity of prepared text under a model directory or an ARPA file, with its signature.

    Per sentence: number, ln p, tokens, unknown words, perplexity. Per token: sentence, position, token, ln p and
    whether it is unknown. Both are separated by tabs; the summary follows on stderr, with --json all is one object.
    """
    model = load(model_path)
    results: list[tuple[Perplexity, ScoredText]] = []
    for path in options.or_stdin(files):
        scored = score_text(model, path, allow_unknown=allow_unk, keep_forms=detail == "token")
        results.append((scored.perplexity(source_name(path), text_signature(model, path)), scored))
    if as_json:
        options.print_json([result.to_json() | _details(scored, detail) for result, scored in results])
        return
    for _, scored in results:
        for row in _rows(scored, detail):
            click.echo("\t".join(f"{cell:.6f}" if isinstance(cell, float) else str(cell) for cell in row.values()))
    summary = results[0][0].format() if len(results) == 1 else format_table([(r.text, r) for r, _ in results])
    click.echo(summary, err=detail is not None)


def _rows(scored: ScoredText, detail: str | None) -> Iterator[dict[str, Any]]:
    if detail == "sentence":
        yield from scored.sentence_rows()
    elif detail == "token":
        yield from scored.token_rows()


def _details(scored: ScoredText, detail: str | None) -> dict[str, Any]:
    return {} if detail is None else {f"{detail}s": list(_rows(scored, detail))}
