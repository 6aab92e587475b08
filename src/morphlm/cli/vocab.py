"""`morphlm vocab`: corpus statistics and the vocabulary."""

from __future__ import annotations

from pathlib import Path

import click

from morphlm.cli import options
from morphlm.files import check_can_write, source_name
from morphlm.progress import notify
from morphlm.tables import counted
from morphlm.vocabulary.corpus import add_counts, count_words, warn_if_raw
from morphlm.vocabulary.statistics import corpus_statistics, format_statistics


@click.command(name="vocab")
@options.text_files
@options.kappa(0.2)
@options.seed
@click.option("--out", type=click.Path(dir_okay=False), help="Write the vocabulary of all files here (word TAB count).")
@options.allow_unk
@options.as_json
def command(
    files: tuple[str, ...], kappa: float, seed: int, out: str | None, allow_unknown: bool, as_json: bool
) -> None:
    """Count the words of prepared text: tokens, types, singletons, one row a file; with --out, make the vocabulary."""
    paths = options.or_stdin(files)
    if out is not None:
        check_can_write(out)
    texts = [count_words(path, allow_unknown=allow_unknown) for path in paths]
    for path, words in zip(paths, texts, strict=True):
        warn_if_raw(words, Path(path))
    rows = [corpus_statistics(source_name(path), words, kappa) for path, words in zip(paths, texts, strict=True)]
    together = texts[0] if len(texts) == 1 else add_counts(texts)
    if len(texts) > 1:
        rows.append(corpus_statistics("together", together, kappa))
    if out is not None:
        vocabulary = together.vocabulary(kappa, seed)
        vocabulary.save(out)
        notify(f"{counted(len(vocabulary), 'entry', 'entries')} written to {out}")
    if as_json and out != "-":
        options.print_json([row.to_json() for row in rows])
    else:
        options.show(format_statistics(rows), err=out == "-")
