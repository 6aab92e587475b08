"""`morphlm translate build`: from two text files to a tuned system in a directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.progress import notify
from morphlm.tables import counted
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.directory import WEIGHTS
from morphlm.translation.system.tuning import read_tuning_text, tune_system

HEADINGS = {
    "Text": ("languages", "dev", "out", "bitext", "mend"),
    "Model": ("models", "extra_rules", "recaser"),
    "Run": ("runs", "seed", "threads", "as_json"),
    "Preparation": settings.preparing.names,
    "Tuning": (*settings.tuning.names, *settings.mert.names),
    "Rules": settings.grammar.names,
    "Search": settings.search.names,
}


@click.command(name="build", cls=options.GroupedHelp, headings=HEADINGS)
@click.argument("files", nargs=-1, metavar="[SOURCE TARGET]")
@click.option("--bitext", metavar="BITEXT", help="Instead of two files: a folder of `translate extract --from`.")
@click.option("--lm", "models", multiple=True, metavar="[NAME=]MODEL", help="A language model; repeat for more.")
@click.option("--extra-rules", metavar="FILE", help="Rules in cdec's format that join those of every sentence.")
@click.option("--recaser", is_flag=True, help="Learn capital letters from TARGET, for `translate decode --truecase`.")
@click.option("--out", required=True, metavar="DIR", help="The directory of the system.")
@settings.languages
@settings.preparing
@settings.mend
@settings.dev
@settings.runs
@settings.tuning
@settings.mert
@settings.grammar
@settings.search
@settings.threads
@options.as_json
def command(
    files: tuple[str, ...],
    bitext: str | None,
    models: tuple[str, ...],
    extra_rules: str | None,
    recaser: bool,
    out: str,
    languages: str | None,
    dev: tuple[str, str] | None,
    runs: int,
    seed: int,
    threads: int | None,
    mend: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Make a translation system of parallel text, line n of SOURCE with line n of TARGET, and tune it.

    Text is prepared, aligned and sorted, language models of the target language are taken in, and weights are tuned on
    the text of --dev (without it, use `translate tune` later). The same command again, after Ctrl-C or a crash, goes
    on where it was. `morphlm translate decode DIR < text` translates.

    \b
      morphlm translate build train.en train.cs --languages en,cs --lm cs.mkn --dev dev.en dev.cs --out system
    """
    if len(files) not in (0, 2):
        raise ConfigError(
            f"{counted(len(files), 'file')}; parallel text is two: line n of one translates line n of the other"
        )
    config = SystemConfig(
        settings.language_pair(languages),
        **settings.preparing.chosen(values),
        grammar=GrammarConfig(**settings.grammar.chosen(values)),
        decoder=DecoderConfig(**settings.search.chosen(values)),
    )
    tuning = settings.tuning_config(values)
    source, target = files or (None, None)
    sources = Sources(source, target, bitext, [NamedModel.of(model) for model in models], extra_rules)
    settings.mention_missing_abbreviations(config)
    text = None if dev is None else read_tuning_text(*dev, config, mend=mend)
    built = build_system(out, sources, config, mend=mend, recaser=recaser, threads=threads)
    tuned = None
    if text is not None:
        seeds = range(seed, seed + runs)
        tuned = tune_system(out, text, tuning, seeds=seeds, threads=threads, system=built.load())
    if as_json:
        stages = {name: stage.figures for name, stage in built.stages.items()}
        options.print_json({"out": out, "stages": stages, "tuning": None if tuned is None else tuned.to_json()})
        return
    if tuned is None and not (Path(out) / WEIGHTS).exists():
        notify("the weights are those that tuning begins with; find better ones by `morphlm translate tune`")
    if tuned is not None:
        click.echo(tuned.to_table().format())
    notify(f"written to {out}; translate with `morphlm translate decode {out}`")
