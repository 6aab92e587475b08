"""Options that several commands of `morphlm translate` share."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.progress import say
from morphlm.text.parallel_pairs import MAX_RATIO
from morphlm.text.tokenise import has_abbreviations
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.tuning.loop import TuningConfig
from morphlm.translation.tuning.mert import MertConfig

_DECODER, _TUNING = DecoderConfig(), TuningConfig()

threads = click.option(
    "--threads", type=click.IntRange(min=1), help="Work so parallel; no change of result.  [default: all cores]"
)
languages = click.option(
    "--languages", metavar="CODE,CODE", help="Of the source and the target, such as en,cs: the tokeniser needs them."
)
preparing = options.applied(
    [
        languages,
        click.option("--tokenise/--no-tokenise", default=True, show_default=True, help="Moses tokenisation."),
        click.option("--lowercase/--no-lowercase", default=True, show_default=True, help="All in small letters."),
        click.option("--max-tokens", type=int, default=80, show_default=True, help="Drop longer pairs; 0 keeps all."),
        click.option(
            "--max-ratio",
            type=float,
            default=MAX_RATIO,
            show_default=True,
            help="Drop pairs whose longer side has more than so many times the tokens of the shorter; 0 keeps all.",
        ),
    ]
)
mend = click.option("--mend", is_flag=True, help="Repair what would be refused (CRLF, NUL, BOM, ...) and count it.")
dev = click.option("--dev", nargs=2, metavar="SOURCE REFERENCE", help="Text to tune on, with its translation.")
tuning = options.applied(
    [
        click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, help="Tune so many times."),
        click.option(
            "--seed",
            type=click.IntRange(0, 2**31),
            default=1,
            show_default=True,
            help="Of the first run; the next ones have the following numbers.",
        ),
        click.option("--kbest", type=int, default=_TUNING.kbest, show_default=True, help="Length of the lists."),
        click.option(
            "--iterations", type=int, default=_TUNING.iterations, show_default=True, help="Of decoding, at most."
        ),
        click.option(
            "--probes",
            type=int,
            default=_TUNING.probes,
            show_default=True,
            help="Decode first with so many weights around those to begin with, too.",
        ),
        click.option(
            "--restarts",
            type=int,
            default=_TUNING.mert.restarts,
            show_default=True,
            help="Of each search, from weights around those at hand.",
        ),
    ]
)
pop_limit = click.option(
    "--pop-limit",
    type=int,
    help=f"Combinations for each span of words; 0: all.  [default: as built, or {_DECODER.pop_limit}]",
)


def language_pair(given: str | None) -> tuple[str | None, str | None]:
    """The two languages of `en,cs`."""
    source, comma, target = (given or ",").partition(",")
    if not comma or "," in target:
        raise ConfigError(f"--languages {given} is not a pair; write it like --languages en,cs")
    return source or None, target or None


def mention_missing_abbreviations(tokenise: bool, pair: tuple[str | None, str | None]) -> None:
    """Tell where the tokeniser goes by English rules."""
    for language in pair:
        if tokenise and language and not has_abbreviations(language):
            say(f"the tokeniser knows no abbreviations of {language}; it goes by those of English")


def tuning_config(kbest: int, iterations: int, probes: int, restarts: int) -> TuningConfig:
    """From the options."""
    return TuningConfig(kbest=kbest, iterations=iterations, probes=probes, mert=MertConfig(restarts=restarts))


def search(pop_limit: int | None) -> dict[str, Any]:
    """What is to differ from the settings of a system."""
    return {} if pop_limit is None else {"pop_limit": pop_limit}
