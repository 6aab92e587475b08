"""`morphlm vocab`: corpus statistics and the vocabulary."""

from __future__ import annotations

import click

from morphlm.cli import options
from morphlm.files import source_name
from morphlm.progress import say
from morphlm.vocabulary.corpus import read_corpus
from morphlm.vocabulary.statistics import corpus_statistics, format_statistics


@click.command(name="vocab")
@options.text_files
@options.kappa(0.2)
@options.seed
@click.option("--out", type=click.Path(dir_okay=False), help="Write the vocabulary of all files here (word TAB count).")
@options.allow_unk
@options.as_json
def command(files: tuple[str, ...], kappa: float, seed: int, out: str | None, allow_unk: bool, as_json: bool) -> None:
    """Count the words of prepared text: tokens, types, singletons, one row a file; with --out, make the vocabulary."""
    paths = options.or_stdin(files)
    corpora = {path: read_corpus(path, allow_unknown=allow_unk) for path in paths}
    rows = [corpus_statistics(source_name(path), corpus, kappa) for path, corpus in corpora.items()]
    together = next(iter(corpora.values()))
    if len(corpora) > 1:
        together = read_corpus(paths, allow_unknown=allow_unk)
        rows.append(corpus_statistics("together", together, kappa))
    if out is not None:
        vocabulary = together.vocabulary(kappa, seed)
        vocabulary.save(out)
        say(f"{len(vocabulary):,} entries written to {out}")
    if as_json:
        options.print_json([row.to_json() for row in rows])
    else:
        click.echo(format_statistics(rows))
