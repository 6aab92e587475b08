"""Options that several commands of `morphlm translate` share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.setting_options import SettingOptions
from morphlm.errors import ConfigError
from morphlm.progress import notify
from morphlm.text.tokenise import has_abbreviations
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.tuning.loop import TuningConfig
from morphlm.translation.tuning.mert import MertConfig

threads = click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Number of threads; results do not depend on it.  [default: all cores]",
)
languages = click.option(
    "--languages", metavar="CODE,CODE", help="Of the source and the target, such as en,cs: the tokeniser needs them."
)
mend = click.option("--mend", is_flag=True, help="Repair what would be refused (CRLF, NUL, BOM, ...) and count it.")
dev = click.option("--dev", nargs=2, metavar="SOURCE REFERENCE", help="Text to tune on, with its translation.")
runs = options.applied(
    [
        click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of tuning runs."),
        click.option(
            "--seed",
            type=click.IntRange(0, 2**31),
            default=1,
            show_default=True,
            help="Seed of the first run; further runs count on from it.",
        ),
    ]
)
preparing = SettingOptions(SystemConfig)
grammar = SettingOptions(
    GrammarConfig, *(name for name in GrammarConfig.declared() if name not in ("target_anchors", "cached_symbols"))
)
search = SettingOptions(DecoderConfig, "pop_limit", "max_span", "pass_all", default_text="as built, or {}")
tuning = SettingOptions(TuningConfig, "kbest", "iterations", "probes")
mert = SettingOptions(MertConfig, "restarts")


def language_pair(languages: str | None) -> tuple[str | None, str | None]:
    """The two languages of `en,cs`."""
    source, comma, target = (languages or ",").partition(",")
    if not comma or "," in target:
        raise ConfigError(f"--languages {languages} is not a pair; write it like --languages en,cs")
    return source or None, target or None


def mention_missing_abbreviations(config: SystemConfig) -> None:
    """Tell where the tokeniser goes by English rules."""
    for language in config.languages:
        if config.tokenise and language and not has_abbreviations(language):
            notify(f"the tokeniser knows no abbreviations of {language}; it goes by those of English")


def tuning_config(values: Mapping[str, Any]) -> TuningConfig:
    """From the options."""
    return TuningConfig(**tuning.chosen(values), mert=MertConfig(**mert.chosen(values)))


def show(content: object, text: str, as_json: bool, *, err: bool = False) -> None:
    """Print a result as JSON or as text; on standard error where standard output carries something else."""
    if as_json:
        options.print_json(content, err=err)
    else:
        options.show(text, err=err)
