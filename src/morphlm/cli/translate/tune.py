"""`morphlm translate tune`: the weights of a translation system, by MERT."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.translation.system.directory import read_manifest
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.system.tuning import read_tuning_text, tune_system


@click.command(name="tune")
@click.argument("directory", metavar="DIR")
@settings.dev
@settings.mend
@settings.runs
@settings.tuning
@settings.mert
@settings.search
@settings.threads
@options.as_json
def command(
    directory: str,
    dev: tuple[str, str] | None,
    mend: bool,
    runs: int,
    seed: int,
    threads: int | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Find weights for the system in DIR with which it translates the text of --dev best.

    Minimum error rate training (Och 2003): decode, search weights with exact line searches for which the lists so far
    have the highest BLEU, and again. Weights of the iteration with the highest BLEU of the decoded text count. After
    Ctrl-C the same command goes on after the last complete iteration. With several --runs, `decode --run SEED` takes
    the weights of one; else those of the best are taken. Runs with other seeds, of the same text and settings, stay.
    Under mpirun each rank tunes one run at a time.

    \b
      morphlm translate tune system --dev dev.en dev.cs --runs 3
    """
    if dev is None:
        raise ConfigError("there is nothing to tune on; give a text and its translation (--dev SOURCE REFERENCE)")
    options.check_one_stdin(*dev)
    config = settings.tuning_config(values)
    manifest = read_manifest(directory)
    text = read_tuning_text(*dev, manifest.config, mend=mend)
    system = TranslationSystem.load(directory, **settings.search.chosen(values))
    tuned = tune_system(directory, text, config, seeds=range(seed, seed + runs), threads=threads, system=system)
    settings.show(tuned.to_json(), tuned.to_table().format(), as_json)
