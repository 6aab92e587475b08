"""`morphlm translate align`: word alignment of parallel text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.setting_options import SettingOptions
from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.progress import notify, progress_bar
from morphlm.translation.alignment.align import align_text
from morphlm.translation.alignment.config import AlignmentConfig
from morphlm.translation.alignment.model import Pass
from morphlm.translation.alignment.parallel_text import ParallelText, read_pairs, read_parallel
from morphlm.translation.alignment.pharaoh import write_pharaoh

alignment = SettingOptions(AlignmentConfig)


@click.command(name="align")
@click.argument("source")
@click.argument("target", required=False)
@click.option("--out", default="-", show_default=True, metavar="FILE", help="Write the alignment here.")
@alignment
@click.option("--no-diagonal", is_flag=True, help="All positions are equally likely: a tension of 0.")
@settings.threads
@options.allow_unk
@options.as_json
def command(
    source: str,
    target: str | None,
    out: str,
    no_diagonal: bool,
    threads: int | None,
    allow_unknown: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Align the words of tokenised text, line n of SOURCE with line n of TARGET.

    Without TARGET, SOURCE has pairs, `source words ||| target words`. The result has a line a pair: `0-0 1-2 2-1`,
    source and target positions from 0. The model is fast_align's. Words are taken as they are, so lower-case the text
    first if that is wanted (`morphlm prepare` does). Memory: 4 bytes for each source word times each target word of a
    pair, 2.6 GB for a million pairs of 25 words.

    \b
      morphlm translate align train.en.txt train.de.txt --out train.align
    """
    config = _config(no_diagonal, values)
    options.check_one_stdin(source, *([] if target is None else [target]))
    check_can_write(out)
    text = _read(source, target, allow_unknown)
    with progress_bar("aligning", config.iterations * (2 if config.direction == "both" else 1), "pass") as bar:
        aligned = align_text(text, config, threads=threads, report=_report(bar))
    write_pharaoh(out, aligned.alignments)
    settings.show(aligned.to_json(), aligned.format(), as_json, err=out == "-")


def _config(no_diagonal: bool, values: Mapping[str, Any]) -> AlignmentConfig:
    chosen = alignment.chosen(values)
    if no_diagonal:
        if "tension" in chosen:
            raise ConfigError("--no-diagonal is a tension of 0; leave out --tension")
        chosen |= {"tension": 0.0, "optimise_tension": False}
    return AlignmentConfig(**chosen)


def _read(source: str, target: str | None, allow_unknown: bool) -> ParallelText:
    if target is None:
        return read_pairs(source, allow_unknown=allow_unknown)
    return read_parallel(source, target, allow_unknown=allow_unknown)


def _report(bar: Any) -> Callable[[str, Pass], None]:
    def report(direction: str, em_pass: Pass) -> None:
        bar.clear()
        notify(f"{direction}: {em_pass.format()}")
        bar.update()

    return report
