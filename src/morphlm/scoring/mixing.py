"""Makes a mixture: loads the models, fits the weights to development text by EM, writes it, and measures it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array, Int64Array
from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import ConfigError, InputError
from morphlm.files import check_can_make
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_text, unknown_share, warn_if_foreign
from morphlm.language_model.perplexity import Perplexity, ScoredText, text_signature
from morphlm.machine import machine_type
from morphlm.modelfile import check_can_hold_model, learned_part, read_model
from morphlm.progress import ProgressOption, notify, reports_progress
from morphlm.scoring.contexts import Contexts
from morphlm.scoring.loading import load, model_from_files
from morphlm.scoring.mixture import KIND as MIXTURE
from morphlm.scoring.mixture import (
    Component,
    MixtureModel,
    WeightsBy,
    as_components,
    component_scores,
    contexts_of,
    numbered,
)
from morphlm.tables import counted, format_columns
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Corpus, Source, describe, encode_text
from morphlm.wording import option

GAIN = 1e-7  # EM ends when a step gains less than this a token, in nats
PSEUDO_TOKENS = 10.0  # the weight of the overall weights in every bucket, in tokens
DECIMALS = 9  # of weights that were fitted


@dataclass(frozen=True)
class Fit:
    """Fitted weights, and how EM got there."""

    weights: Float64Array  # (buckets, components)
    objective: tuple[float, ...]  # a token, before each step; the log-likelihood and, with a prior, its logarithm
    tokens: Int64Array  # of the development text, in each bucket


@dataclass(frozen=True)
class Mixed(Tabular):
    """A mixture, and the perplexities of it and of its components."""

    model: MixtureModel
    out: Path | None
    names: tuple[str, ...]  # of the components, as they were given, each another
    development: tuple[Perplexity, ...]  # of each component, then of the mixture; none without the text
    test: tuple[Perplexity, ...]

    __repr__ = dataclass_repr

    def format(self) -> str:
        texts = {"development": self.development, "test": self.test}
        shown = {name: results for name, results in texts.items() if results}
        weights = [f"{weight:.4f}" for weight in self.model.training["weights"]]
        rows = [
            [name, weight, *(f"{results[row].including_unknown:.2f}" for results in shown.values())]
            for row, (name, weight) in enumerate(zip([*self.names, MIXTURE], [*weights, ""], strict=True))
        ]
        lines = [format_columns(["", "weight", *shown], rows), f"signature: {self.model.signature}"]
        return "\n".join(lines + ([] if self.out is None else [f"written to {self.out}"]))

    def frame_rows(self) -> list[Row]:
        names, weights = [*self.names, MIXTURE], [*self.model.training["weights"], None]
        results = {"development_perplexity": self.development, "test_perplexity": self.test}
        return [
            {"model": name, "weight": weight}
            | {column: figures[row].including_unknown for column, figures in results.items() if figures}
            for row, (name, weight) in enumerate(zip(names, weights, strict=True))
        ]

    def to_json(self) -> dict[str, Any]:
        names = [*self.names, MIXTURE]
        return {
            "out": None if self.out is None else str(self.out),
            "components": list(self.names),
            "weights": self.model.training["weights"],
            "weights_by": self.model.weights_by,
            "development": {name: result.to_json() for name, result in zip(names, self.development, strict=False)},
            "test": {name: result.to_json() for name, result in zip(names, self.test, strict=False)},
            "signature": str(self.model.signature),
        }


@dataclass(frozen=True, eq=False)
class _ComponentScores:
    """A text with the log-probability of every token under each component."""

    source: Source
    corpus: Corpus
    logprobs: Float64Array  # (tokens, components)
    buckets: Int64Array

    def perplexities(self, model: MixtureModel) -> tuple[Perplexity, ...]:
        """Those of each component, then that of the mixture."""
        models = [*(component.model for component in model.components), model]
        columns = [*self.logprobs.T, model.combine(self.logprobs, self.buckets)]
        return tuple(
            ScoredText(self.corpus, column).perplexity(describe(self.source), text_signature(scorer, self.source))
            for scorer, column in zip(models, columns, strict=True)
        )


# ---------------------------------------------------------------- the calls


@reports_progress
def mix(
    models: Sequence[str | Path | LanguageModel],
    dev: Source | None = None,
    out: str | Path | None = None,
    *,
    weights: Sequence[float] | None = None,
    weights_by: WeightsBy | None = None,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    progress: ProgressOption = None,
) -> MixtureModel:
    """Interpolate models of one vocabulary: p = sum_m lambda_m p_m.

    Models are loaded ones, directories, or ARPA files. The weights are fitted to the development text, for each bucket
    of contexts (`weights_by="context"`, the default) or for all together ("none"), or are given, for all together. With
    `out`, the model directory is written there, with the components in it. Raw text is prepared as the models' training
    text was; `prepared` is as of `LanguageModel.perplexity`.
    """
    mixed = mix_and_test(
        models,
        dev,
        out,
        weights=weights,
        weights_by=weights_by,
        allow_unknown=allow_unknown,
        prepared=prepared,
        encoding=encoding,
    )
    return mixed.model


@reports_progress
def mix_and_test(
    models: Sequence[str | Path | LanguageModel],
    dev: Source | None = None,
    out: str | Path | None = None,
    *,
    weights: Sequence[float] | None = None,
    weights_by: WeightsBy | None = None,
    test: Source | None = None,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    progress: ProgressOption = None,
) -> Mixed:
    """As `mix`, and measure the perplexities of all components and of the mixture."""
    directory = None if out is None else Path(out)
    _check_choices(models, dev, directory, weights, weights_by)
    components = load_components(models)
    by: WeightsBy = "none" if weights is not None else weights_by or "context"
    contexts = contexts_of(components, by)
    loaded = [component.model for component in components]
    texts = {
        name: _scored(
            fit_text(loaded, source, prepared=prepared, encoding=encoding), components, contexts, allow_unknown
        )
        for name, source in (("dev", dev), ("test", test))
        if source is not None
    }
    if weights is not None:
        model = MixtureModel(components, _given_weights(weights), by, _record(components, _given_weights(weights)))
    else:
        model = _fitted(components, by, texts["dev"])
    if directory is not None:
        model.save(directory)
    names = [
        str(model_or_path) if isinstance(model_or_path, str | Path) else model_or_path.kind for model_or_path in models
    ]
    results = {name: text.perplexities(model) for name, text in texts.items()}
    return Mixed(
        model, directory, tuple(numbered([MIXTURE, *names])[1:]), results.get("dev", ()), results.get("test", ())
    )


def _check_choices(
    models: Sequence[str | Path | LanguageModel],
    dev: Source | None,
    out: Path | None,
    weights: Sequence[float] | None,
    weights_by: str | None,
) -> None:
    """Refuse contradictory arguments before any work is done."""
    if len(models) < 2:
        raise ConfigError("a mixture has two models or more; name another one")
    if dev is None and weights is None:
        raise ConfigError(
            f"there is nothing to fit the weights to; give development text ({option('--dev')}), or "
            f"{option('--weights')}"
        )
    if weights_by not in (None, "none", "context"):
        raise ConfigError(f"weights by {weights_by!r} are not known; choose none or context")
    if weights is not None:
        if weights_by == "context":
            raise ConfigError("weights by context are fitted, not given; leave out the weights, or take none")
        if len(weights) != len(models):
            raise ConfigError(
                f"{counted(len(weights), 'weight')} for {counted(len(models), 'model')}; give one for each"
            )
        _given_weights(weights)
    if out is not None:
        check_can_hold_model(out)
        check_can_make(out)
        _check_apart(out.resolve(), [Path(model).resolve() for model in models if isinstance(model, str | Path)])


def _check_apart(out: Path, paths: Sequence[Path]) -> None:
    """A mixture must not take the place of a model that it is made of, nor one inside it or around it."""
    for path in paths:
        if out == path or out in path.parents or path in out.parents:
            relation = "is" if out == path else "lies around" if out in path.parents else "lies inside"
            raise ConfigError(f"{out}: this {relation} one of the models to be mixed; choose another place")


def load_components(models: Sequence[str | Path | LanguageModel]) -> list[Component]:
    """Load the models given by path; warn if their texts were prepared in different ways."""
    loaded: list[LanguageModel] = []
    sources: list[tuple[Path, str] | None] = []
    for model_or_path in models:
        model, source = (model_or_path, None) if isinstance(model_or_path, LanguageModel) else _loaded(model_or_path)
        loaded.append(model)
        sources.append(source)
    prepared = [f"{model.signature.value('tok')}/{model.signature.value('norm')}" for model in loaded]
    if len(set(prepared)) > 1:
        notify(f"warning: the models' texts were prepared in different ways: {', '.join(prepared)}")
    return as_components(loaded, sources)


def _loaded(path: str | Path) -> tuple[LanguageModel, tuple[Path, str] | None]:
    if not Path(path).is_dir():
        return load(path), None
    path = learned_part(path)
    files = read_model(path)
    return model_from_files(path, files), (Path(path), files.digest)


def _scored(
    source: Source, components: Sequence[Component], contexts: Contexts, allow_unknown: bool
) -> _ComponentScores:
    corpus = encode_text(source, components[0].model.vocabulary, allow_unknown=allow_unknown)
    if len(corpus.tokens) == 0:
        raise InputError("there are no sentences; give at least one", source=describe(source))
    warn_if_foreign(components[0].model, corpus.tokens, lambda: [], describe(source))
    return _ComponentScores(source, corpus, component_scores(components, corpus.tokens), contexts.before(corpus.tokens))


def _given_weights(weights: Sequence[float]) -> Float64Array:
    values = np.array([weights], np.float64)
    if not (np.isfinite(values).all() and (values >= 0).all() and abs(values.sum() - 1) < 1e-6):
        listed = ", ".join(f"{weight:g}" for weight in weights)
        raise ConfigError(f"weights are 0 or more and add up to 1, not {listed}; divide them by their sum")
    normalised: Float64Array = values / values.sum()
    return normalised


def _fitted(components: Sequence[Component], weights_by: WeightsBy, dev: _ComponentScores) -> MixtureModel:
    overall = fit_weights(dev.logprobs)
    fit = overall
    if weights_by == "context":
        buckets = contexts_of(components, weights_by).buckets
        fit = fit_weights(dev.logprobs, dev.buckets, buckets, overall.weights[0])
    record = _record(components, overall.weights) | {
        "development_tokens": len(dev.logprobs),
        "development_unknown": round(unknown_share(dev.corpus.tokens), 6),
        "pseudo_tokens": PSEUDO_TOKENS if weights_by == "context" else None,
        "steps": len(overall.objective) - 1,
    }
    return MixtureModel(components, fit.weights, weights_by, record, fit.tokens)


def _record(components: Sequence[Component], overall: Float64Array) -> dict[str, Any]:
    """How the mixture came about; what the trainings of all components agree in is also said of it."""
    trainings = [component.model.training for component in components]
    shared = {
        name: trainings[0].get(name)
        for name in ("kappa", "vocabulary", "preparation", "seed")
        if all(training.get(name) == trainings[0].get(name) for training in trainings)
    }
    return shared | {
        "version": __version__,
        "machine": dict(machine_type()),
        "weights": overall[0].tolist(),
        "components": [str(component.model.signature) for component in components],
    }


# ---------------------------------------------------------------- EM


def fit_weights(
    logprobs: Float64Array,
    buckets: Int64Array | None = None,
    count: int = 1,
    overall: Float64Array | None = None,
    pseudo_tokens: float = PSEUDO_TOKENS,
) -> Fit:
    """The weights under which a text is most likely, for each bucket of its tokens.

    lambda_m is the mean of the posteriors lambda_m p_m / sum_k lambda_k p_k over the tokens of a bucket. With `overall`
    weights, `pseudo_tokens` distributed like them are added to every bucket: a Dirichlet prior.
    """
    # A token without probability under all models says nothing about the weights.
    possible = np.isfinite(logprobs).any(axis=1)
    if not possible.any():
        raise ConfigError("no model gives any token of the development text a probability; take another text")
    logprobs = logprobs[possible]
    groups = np.zeros(len(logprobs), np.int64) if buckets is None else buckets[possible]
    models = logprobs.shape[1]
    start = np.full(models, 1 / models) if overall is None else overall
    prior = np.zeros(models) if overall is None else pseudo_tokens * overall
    weights, objectives = np.tile(start, (count, 1)), []
    while True:
        posteriors, objective = _expectation(logprobs, groups, weights, prior)
        objectives.append(objective)
        if len(objectives) > 1 and objectives[-1] - objectives[-2] < GAIN:
            break
        mass = prior + np.stack([np.bincount(groups, column, count) for column in posteriors.T], axis=1)
        seen = mass.sum(axis=1) > 0
        weights[seen] = mass[seen] / mass[seen].sum(axis=1, keepdims=True)
    rounded = np.round(weights, DECIMALS)
    return Fit(rounded / rounded.sum(axis=1, keepdims=True), tuple(objectives), np.bincount(groups, minlength=count))


def _expectation(
    logprobs: Float64Array, groups: Int64Array, weights: Float64Array, prior: Float64Array
) -> tuple[Float64Array, float]:
    """The posteriors of the models for each token, and the objective a token."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    joint = logprobs + log_weights[groups]
    total = np.logaddexp.reduce(joint, axis=1)
    penalty = np.where(prior > 0, prior, 0.0) @ np.where(prior > 0, log_weights, 0.0).sum(axis=0)
    return np.exp(joint - total[:, None]), float(total.sum() + penalty) / len(logprobs)
