"""`morphlm translate prepare`: parallel text tokenised and filtered for translation."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.translate import settings
from morphlm.files import check_can_write
from morphlm.progress import notify
from morphlm.text.parallel_pairs import prepare_pair_files
from morphlm.translation.system.config import SystemConfig


@click.command(name="prepare")
@click.argument("source")
@click.argument("target")
@click.option("--out", nargs=2, required=True, metavar="SOURCE TARGET", help="Where both sides go.")
@settings.languages
@settings.preparing
@settings.mend
@options.as_json
@options.processes
def command(
    source: str,
    target: str,
    out: tuple[str, str],
    languages: str | None,
    mend: bool,
    as_json: bool,
    processes: int,
    **values: Any,
) -> None:
    """Prepare parallel text, line n of SOURCE with line n of TARGET, as `translate build` does.

    As `morphlm prepare --parallel`, but digits stay as they are, and so do words in another script. Pairs that are
    empty on a side, too long or too unequal in length are dropped.

    \b
      morphlm translate prepare raw.en raw.cs --languages en,cs --out train.en train.cs
    """
    pair = settings.language_pair(languages)
    config = SystemConfig(pair, **settings.preparing.chosen(values))
    for path in out:
        check_can_write(path)
    settings.mention_missing_abbreviations(config)
    records = prepare_pair_files((source, target), out, config.pair_options(), mend=mend, processes=processes)
    if not records[0].counts.kept:
        notify(f"warning: no pair of sentences is left of {source} and {target}; there is nothing to learn from")
    if as_json:
        options.print_json([record.to_dict() for record in records])
        return
    for path, record in zip(out, records, strict=True):
        notify(f"prepared {path}: {record.format()}")
