"""`morphlm translate align`: word alignment of parallel text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.progress import notify, progress_bar
from morphlm.translation.alignment.align import Aligned, align_text
from morphlm.translation.alignment.config import DIRECTIONS, AlignmentConfig
from morphlm.translation.alignment.model import Pass
from morphlm.translation.alignment.parallel_text import ParallelText, read_pairs, read_parallel
from morphlm.translation.alignment.pharaoh import write_pharaoh
from morphlm.translation.alignment.symmetrise import METHODS

_DEFAULT = AlignmentConfig()


@click.command(name="align")
@click.argument("source")
@click.argument("target", required=False)
@click.option("--out", default="-", show_default=True, metavar="FILE", help="Write the alignment here.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default=_DEFAULT.method,
    show_default=True,
    help="How the two directions are joined.",
)
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default=_DEFAULT.direction,
    show_default=True,
    help="Forward: each target word chooses a source word; backward: the reverse.",
)
@click.option("--iterations", type=int, default=_DEFAULT.iterations, show_default=True, help="Passes of EM.")
@click.option("--p0", type=float, default=_DEFAULT.p0, show_default=True, help="Probability of a word without a link.")
@click.option(
    "--alpha",
    type=float,
    default=_DEFAULT.alpha,
    show_default=True,
    help="Prior of the translation probabilities (variational Bayes); 0: maximum likelihood.",
)
@click.option(
    "--tension",
    type=float,
    default=_DEFAULT.tension,
    show_default=True,
    help="How closely links keep to the diagonal, to begin with.",
)
@click.option("--fixed-tension", is_flag=True, help="Keep the tension as it is, instead of optimising it.")
@click.option("--no-diagonal", is_flag=True, help="All positions are equally likely: a tension of 0.")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Number of threads; results do not depend on it.  [default: all cores]",
)
@options.allow_unk
@options.as_json
def command(
    source: str,
    target: str | None,
    out: str,
    fixed_tension: bool,
    no_diagonal: bool,
    threads: int | None,
    allow_unknown: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Align the words of tokenised text, line n of SOURCE with line n of TARGET.

    Without TARGET, SOURCE has pairs, `source words ||| target words`. The result has a line a pair: `0-0 1-2 2-1`,
    source and target positions from 0. The model is fast_align's. Words are taken as they are, so lower-case the text
    first if that is wanted (`morphlm prepare` does). Memory: 4 bytes for each source word times each target word of a
    pair, 2.6 GB for a million pairs of 25 words.

    \b
      morphlm translate align train.en.txt train.de.txt --out train.align
    """
    config = _config(fixed_tension, no_diagonal, settings)
    options.check_one_stdin(source, *([] if target is None else [target]))
    check_can_write(out)
    text = _read(source, target, allow_unknown)
    with progress_bar("aligning", config.iterations * (2 if config.direction == "both" else 1), "pass") as bar:
        aligned = align_text(text, config, threads=threads, report=_report(bar))
    write_pharaoh(out, aligned.alignments)
    _show(aligned, as_json, err=out == "-")


def _config(fixed_tension: bool, no_diagonal: bool, settings: dict[str, Any]) -> AlignmentConfig:
    if no_diagonal:
        context = click.get_current_context()
        if context.get_parameter_source("tension") is not click.core.ParameterSource.DEFAULT:
            raise ConfigError("--no-diagonal is a tension of 0; leave out --tension")
        settings["tension"] = 0.0
    return AlignmentConfig(optimise_tension=not (fixed_tension or no_diagonal), **settings)


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


def _show(aligned: Aligned, as_json: bool, err: bool) -> None:
    """The figures; on stderr when standard output carries the alignment."""
    if as_json:
        options.print_json(aligned.to_json(), err=err)
    else:
        click.echo(aligned.format(), err=err)
