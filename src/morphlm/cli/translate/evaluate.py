"""`morphlm translate evaluate`: BLEU and chrF of translations, and whether systems differ."""

from __future__ import annotations

import click

from morphlm.cli import options
from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.translation.evaluation.comparison import BASELINE, compare_systems, read_translations
from morphlm.translation.evaluation.metrics import evaluate
from morphlm.translation.evaluation.significance import SHUFFLES


@click.command(name="evaluate")
@click.argument("files", nargs=-1, required=True, metavar="[TRANSLATION] REFERENCE")
@click.option("--baseline", multiple=True, metavar="FILE", help="A run of the baseline; repeat for more runs.")
@click.option(
    "--system", "systems", nargs=2, multiple=True, metavar="NAME FILE", help="A run of another system; repeat."
)
@click.option("--case", is_flag=True, help="Capital letters make a difference.")
@click.option("--shuffles", type=click.IntRange(min=1), default=SHUFFLES, show_default=True, help="For p-values.")
@options.seed
@options.as_json
def command(
    files: tuple[str, ...],
    baseline: tuple[str, ...],
    systems: tuple[tuple[str, str], ...],
    case: bool,
    shuffles: int,
    seed: int,
    as_json: bool,
) -> None:
    """Compare translations with references by sacreBLEU, line by line; both as people write them, not tokenised.

    With --baseline and --system, each given once for every tuning run, systems are compared: mean and standard
    deviation over the runs, and a p-value by approximate randomisation (Clark et al. 2011).

    \b
      morphlm translate evaluate out.cs reference.cs
      morphlm translate evaluate --baseline a1.cs --baseline a2.cs --system clbl++ b1.cs --system clbl++ b2.cs ref.cs
    """
    options.check_one_stdin(*files, *baseline, *(path for _, path in systems))
    references = read_translations(files[-1])
    if baseline or systems:
        runs = _runs(files, baseline, systems)
        read = {name: [read_translations(path, len(references)) for path in paths] for name, paths in runs.items()}
        comparison = compare_systems(read, references, lowercase=not case, seed=seed, shuffles=shuffles)
        settings.show(comparison.to_json(), comparison.to_table().format(), as_json)
        return
    if len(files) != 2:
        raise ConfigError("give translations and references; more systems by --baseline FILE and --system NAME FILE")
    evaluation = evaluate(read_translations(files[0], len(references)), references, lowercase=not case)
    settings.show(evaluation.to_json(), evaluation.to_table().format(), as_json)


def _runs(
    files: tuple[str, ...], baseline: tuple[str, ...], systems: tuple[tuple[str, str], ...]
) -> dict[str, list[str]]:
    """The files of each system, the baseline first."""
    if len(files) != 1 or not baseline:
        raise ConfigError("systems are compared with a --baseline FILE; beside these, give the references alone")
    runs: dict[str, list[str]] = {BASELINE: list(baseline)}
    for name, path in systems:
        if name == BASELINE:
            raise ConfigError(f"a system named {BASELINE} is that of --baseline; give it another name")
        runs.setdefault(name, []).append(path)
    return runs
