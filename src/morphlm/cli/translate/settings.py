"""Options that several commands of `morphlm translate` share."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.progress import notify
from morphlm.text.parallel_pairs import MAX_RATIO
from morphlm.text.tokenise import has_abbreviations
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.tuning.loop import TuningConfig
from morphlm.translation.tuning.mert import MertConfig

_DECODER, _GRAMMAR, _TUNING = DecoderConfig(), GrammarConfig(), TuningConfig()

threads = click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Number of threads; results do not depend on it.  [default: all cores]",
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
        click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of tuning runs."),
        click.option(
            "--seed",
            type=click.IntRange(0, 2**31),
            default=1,
            show_default=True,
            help="Seed of the first run; further runs count on from it.",
        ),
        click.option(
            "--kbest",
            type=int,
            default=_TUNING.kbest,
            show_default=True,
            help="Length of the k-best lists.",
        ),
        click.option(
            "--iterations",
            type=int,
            default=_TUNING.iterations,
            show_default=True,
            help="Maximum number.",
        ),
        click.option(
            "--probes",
            type=int,
            default=_TUNING.probes,
            show_default=True,
            help="Number of random weights around the initial ones to decode with before the first search.",
        ),
        click.option(
            "--restarts",
            type=int,
            default=_TUNING.mert.restarts,
            show_default=True,
            help="Restarts of each search from weights around the best so far.",
        ),
    ]
)
searching = options.applied(
    [
        click.option(
            "--pop-limit",
            type=int,
            help="Hypotheses for each span of words; 0: all, for small grammars only.  "
            f"[default: as built, or {_DECODER.pop_limit}]",
        ),
        click.option(
            "--max-span",
            type=int,
            help=f"Words that a rule with its gaps covers.  [default: as built, or {_DECODER.max_span}]",
        ),
    ]
)


def _limit(name: str, text: str) -> Any:
    """An option for a field of the configuration."""
    field = name.replace("-", "_")
    return click.option(f"--{name}", field, type=int, default=getattr(_GRAMMAR, field), show_default=True, help=text)


limits = options.applied(
    [
        _limit("max-symbols", "Words and gaps of a source side."),
        _limit("max-target-symbols", "Words and gaps of a target side."),
        _limit("min-gap", "Words that a gap covers, at least."),
        _limit("max-input-span", "Words of the input that a source side is taken from."),
        _limit("max-training-span", "Words of a training sentence that a rule covers."),
        _limit("sample", "Occurrences of a source side to look at; 0: all."),
        _limit("anchors", "Occurrences of the rarest chunk of a source side with gaps to look at; 0: all."),
        _limit("max-targets", "Target sides of a source side, the likeliest; 0: all."),
        click.option("--loose-gaps", is_flag=True, help="The first and last word of a gap need not have a link."),
        click.option("--unlinked-rules", is_flag=True, help="Also rules whose words have no link at all."),
    ]
)


def language_pair(values: str | None) -> tuple[str | None, str | None]:
    """The two languages of `en,cs`."""
    source, comma, target = (values or ",").partition(",")
    if not comma or "," in target:
        raise ConfigError(f"--languages {values} is not a pair; write it like --languages en,cs")
    return source or None, target or None


def mention_missing_abbreviations(tokenise: bool, pair: tuple[str | None, str | None]) -> None:
    """Tell where the tokeniser goes by English rules."""
    for language in pair:
        if tokenise and language and not has_abbreviations(language):
            notify(f"the tokeniser knows no abbreviations of {language}; it goes by those of English")


def tuning_config(kbest: int, iterations: int, probes: int, restarts: int) -> TuningConfig:
    """From the options."""
    return TuningConfig(kbest=kbest, iterations=iterations, probes=probes, mert=MertConfig(restarts=restarts))


def grammar_config(loose_gaps: bool, unlinked_rules: bool, **limits: int) -> GrammarConfig:
    """From the options."""
    return GrammarConfig(tight_gaps=not loose_gaps, linked_word=not unlinked_rules, **limits)


def search(pop_limit: int | None, max_span: int | None) -> dict[str, Any]:
    """What is to differ from the settings of a system."""
    values = {"pop_limit": pop_limit, "max_span": max_span}
    return {name: value for name, value in values.items() if value is not None}
