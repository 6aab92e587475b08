"""Several models of one text, and a search of settings, in one call each, with settings by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from morphlm.progress import ProgressOption, reports_progress
from morphlm.text.preparation import PrepareOptions
from morphlm.training import tune as tuning
from morphlm.training.job import RunOptions
from morphlm.training.pipeline import Comparison, sort_settings, train_all
from morphlm.training.tune import TuneResult
from morphlm.vocabulary.corpus import Source, as_text


@reports_progress
def train_kinds(
    source: Source,
    dev: Source,
    out: str | Path,
    kinds: Sequence[str] | None = None,
    *,
    test: Source | None = None,
    seed: int = 1,
    threads: int | None = None,
    artefacts: str | Path | None = None,
    language: str | None = None,
    progress: ProgressOption = None,
    **settings: Any,
) -> Comparison:
    """Train models of several kinds (by default of all) into `out`/KIND, with the same vocabulary, factors and classes.

    Texts, `settings` and the other arguments are as of `morphlm.train`; each kind takes the settings that it has.
    Models that stand there complete, from the same text with the same settings, are taken as they are unless
    `restart=True`. With `test`, their perplexities on that text are measured too. A training that diverges is among
    the `failures` of the result, and the others go on.
    """
    inputs, options, run = sort_settings(settings, seed, RunOptions(threads=threads))
    text = as_text(source, PrepareOptions(language=language))
    return train_all(text, dev, out, inputs, options, run, kinds=kinds, artefacts=artefacts, test=test)


@reports_progress
def tune(
    kind: str,
    source: Source,
    dev: Source,
    *,
    minutes: float = 30.0,
    steps: Sequence[float] = (),
    decays: Sequence[float] = (),
    widths: Sequence[int] = (),
    seed: int = 1,
    threads: int | None = None,
    artefacts: str | Path | None = None,
    language: str | None = None,
    progress: ProgressOption = None,
    **settings: Any,
) -> TuneResult:
    """Search step, weight decay and width of a `kind` of log-bilinear model on the development text.

    `minutes` is the time for the whole search; `steps`, `decays` and `widths` are the values to try, by default those
    about the recipe's. Texts, `settings` and the other arguments are as of `morphlm.train`. The `settings` of the
    result are those of the best training, to be passed to `morphlm.train`.
    """
    inputs, options, run = sort_settings(settings, seed, RunOptions(threads=threads))
    return tuning.tune(
        kind,
        as_text(source, PrepareOptions(language=language)),
        dev,
        minutes=minutes,
        steps=steps,
        decays=decays,
        widths=widths,
        input_options=inputs,
        options=options,
        run=replace(run, threads=threads),
        artefacts=artefacts,
    )
