"""`morphlm translate weights`: weights of one decoder as weights of another."""

from __future__ import annotations

from pathlib import Path

import click

from morphlm.cli import options
from morphlm.cli.translate import conversion
from morphlm.errors import ConfigError
from morphlm.progress import notify
from morphlm.translation.system.conversion import (
    CDEC_ARITIES,
    SystemName,
    export_weights,
    format_weights,
    import_weights,
)
from morphlm.translation.system.system import tuned_weights
from morphlm.translation.system.weights import given_weights


@click.command(name="weights")
@click.argument("weights", metavar="DIR|FILE|'NAME=W ...'")
@conversion.systems
@click.option("--run", type=int, metavar="SEED", help="Of a system: this tuning run.  [default: the best one]")
@options.as_json
def command(
    weights: str,
    source: SystemName,
    target: SystemName,
    models: tuple[str, ...],
    extractor: bool,
    run: int | None,
    as_json: bool,
) -> None:
    """Convert the weights of a system in DIR, or of a FILE, for another decoder.

    Products of weights and features stay the same: cdec's LanguageModel is log10 p and its WordPenalty -1 / ln 10 for
    each word, Moses' WordPenalty0 is -1 for each word. Weights of features of rules stay as they are. cdec may leave
    any word as it is; `translate decode --pass-all` does so, too.

    \b
      morphlm translate weights system --to cdec > weights.cdec
      morphlm translate weights weights.cdec --from cdec --lm mkn=LanguageModel > weights
      morphlm translate weights moses.ini --from moses
    """
    naming = conversion.naming(source, target, models, extractor)
    is_system = Path(weights).is_dir()
    if source != "morphlm" and (is_system or run is not None):
        raise ConfigError("a system and --run are ours; leave --from out, or name a file of weights")
    if is_system:
        ours = tuned_weights(weights, run)
    elif run is not None:
        raise ConfigError("--run is a run of a system; name its directory")
    elif source == "morphlm":
        ours = given_weights(weights)
    else:
        between = naming if target == "morphlm" else {"extractor": extractor and source == "cdec"}
        ours = import_weights(weights, source, **between)
    between = naming if source == "morphlm" else {"extractor": extractor and target == "cdec"}
    result = export_weights(ours, target, **between)
    if CDEC_ARITIES[0] in result:
        notify("the rule penalty has become Arity_0 to Arity_2; add `feature_function=ArityPenalty` to cdec.ini")
    if as_json:
        options.print_json({name: values[0] if len(values) == 1 else list(values) for name, values in result.items()})
    else:
        click.echo(format_weights(result, target), nl=False)
