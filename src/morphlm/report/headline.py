"""The headline: what a person wants to know first of some models, in one sentence.

`headline` takes the figures, wherever they come from; `headline_of` takes them from the models of a report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.report.examples import is_word
from morphlm.report.models import has_cache
from morphlm.report.numbers import decimal
from morphlm.report.scored_models import ScoredModel, ScoredModels
from morphlm.tables import percent, whole_percent
from morphlm.vectors.vectors import WordVectors

FEWEST = 10  # words never seen, of which a share says something
KNESER_NEY = "mkn"  # the kind of model that everybody knows


@dataclass(frozen=True)
class Headline:
    """The figures of a headline; what is None cannot be told."""

    perplexity: float  # of the best model; of those without caches, if there are any
    kneser_ney: float | None = None  # the perplexity of the same text under Kneser-Ney, with the same vocabulary
    composable: float | None = None  # share of the different words never seen that get a vector with a known stem
    model: str | None = None  # the name of the best model
    baseline: str | None = None  # the name of the Kneser-Ney model
    with_caches: float | None = None  # the perplexity of the best model with caches, where the other one has none
    cached_model: str | None = None  # its name
    is_cached: bool = False  # whether the best model has caches itself, as there is no other

    __repr__ = dataclass_repr

    @property
    def change(self) -> float | None:
        """The change of perplexity against Kneser-Ney: -0.31 for 31 % less; None if there is nothing to compare."""
        if self.kneser_ney is None or not (math.isfinite(self.perplexity) and math.isfinite(self.kneser_ney)):
            return None
        return self.perplexity / self.kneser_ney - 1

    @property
    def change_by_caches(self) -> float | None:
        """The change of perplexity by caches, against the best model without them; None if none has caches."""
        if self.with_caches is None or not (math.isfinite(self.perplexity) and math.isfinite(self.with_caches)):
            return None
        return self.with_caches / self.perplexity - 1

    def format(self) -> str:
        """`31 % lower perplexity than Kneser-Ney; 92 % of the words never seen can be composed`."""
        said = [self._compared(), self._cached(), self._composed()]
        return "; ".join(part for part in said if part is not None)

    def _compared(self) -> str:
        ours, theirs = (" with caches", " without") if self.is_cached else ("", "")
        if self.change is None:
            return f"Perplexity {decimal(self.perplexity, 1)}{ours}"
        if _is_small(self.change):
            return f"About the same perplexity{ours} as Kneser-Ney{theirs}"
        direction = "lower" if self.change < 0 else "higher"
        return f"{percent(abs(self.change), 0)} {direction} perplexity{ours} than Kneser-Ney{theirs}"

    def _cached(self) -> str | None:
        """What comes from the text before each sentence, which Kneser-Ney does not look at, is said apart."""
        if self.change_by_caches is None:
            return None
        if _is_small(self.change_by_caches):
            return "caches make no difference"
        size = percent(abs(self.change_by_caches), 0)
        if self.change_by_caches > 0:
            return f"caches raise it by {size}"
        is_lower = self.change is not None and self.change < 0 and not _is_small(self.change)
        return f"caches lower it by {'another ' if is_lower else ''}{size}"

    def _composed(self) -> str | None:
        if self.composable is None:
            return None
        return f"{whole_percent(self.composable)} of the words never seen can be composed"

    def to_json(self) -> dict[str, Any]:
        return {"text": self.format(), "model": self.model, "baseline": self.baseline, "change": self.change,
                "composable": self.composable, "cached_model": self.cached_model,
                "change_by_caches": self.change_by_caches}  # fmt: skip


def _is_small(change: float) -> bool:
    """Whether it is rounded to 0 %."""
    return percent(abs(change), 0) == percent(0, 0)


def headline(
    perplexity: float,
    kneser_ney: float | None = None,
    composable: float | None = None,
    with_caches: float | None = None,
) -> str:
    """One sentence from the perplexity of the best model, that of Kneser-Ney, the share of words never seen that can
    be composed, and the perplexity with caches; leave out what is not there.
    """
    return Headline(perplexity, kneser_ney, composable, with_caches=with_caches).format()


def composable_share(vectors: WordVectors | None, words: Iterable[str]) -> float | None:
    """The share of the different words the vectors do not know that can be composed, a stem among the known parts.

    Numbers, marks and names of files are no words. None if the vectors compose none, or if fewer than
    10 words are unknown.
    """
    if vectors is None or vectors.factors is None or vectors.factors.analyser is None:
        return None
    unknown = [word for word in dict.fromkeys(words) if is_word(word) and not vectors.known(word)]
    if len(unknown) < FEWEST:
        return None
    return sum(one.origin == "composed" for one in vectors.compositions(unknown)) / len(unknown)


# ---------------------------------------------------------------- of the models of a report


def headline_of(scored_models: ScoredModels) -> Headline:
    """The best model against the best Kneser-Ney model that knows the same words; with one model, that one alone.

    The model is one without caches, if there is any; what caches add is told apart.
    """
    best, baseline = best_and_baseline(scored_models)
    cached = None if has_cache(best.model) else _best_with_caches(scored_models, best)
    composing = next((one for one in (best, *scored_models.models) if _composes(one)), None)
    return Headline(
        perplexity=best.perplexity.including_unknown,
        kneser_ney=None if baseline is None else baseline.perplexity.including_unknown,
        composable=None if composing is None else composable_share(composing.vectors, scored_models.text.counts),
        model=best.name,
        baseline=None if baseline is None else baseline.name,
        with_caches=None if cached is None else cached.perplexity.including_unknown,
        cached_model=None if cached is None else cached.name,
        is_cached=has_cache(best.model),
    )


def _best_with_caches(scored_models: ScoredModels, best: ScoredModel) -> ScoredModel | None:
    """Of the models with caches that know the same words as the best one without."""
    cached = [one for one in scored_models.models if has_cache(one.model) and one.words == best.words]
    return min(cached, key=_perplexity, default=None)


def best_and_baseline(scored_models: ScoredModels) -> tuple[ScoredModel, ScoredModel | None]:
    """The model that the headline is about, and the Kneser-Ney model that it is compared with, if there is one.

    Perplexities can be compared only if the same words are unknown. Models with caches, which look at more text than
    Kneser-Ney does, are compared with it only if there are no others.
    """
    ngrams = [one for one in scored_models.models if one.model.kind == KNESER_NEY]
    others = [one for one in scored_models.models if one.model.kind != KNESER_NEY]
    others = [one for one in others if not has_cache(one.model)] or others
    if not others or not ngrams:
        return min(others or ngrams, key=_perplexity), None
    for baseline in sorted(ngrams, key=_perplexity):
        alike = [one for one in others if one.words == baseline.words]
        if alike:
            return min(alike, key=_perplexity), baseline
    return min(others, key=_perplexity), None


def _perplexity(scored_model: ScoredModel) -> float:
    return scored_model.perplexity.including_unknown


def _composes(scored_model: ScoredModel) -> bool:
    factors = None if scored_model.vectors is None else scored_model.vectors.factors
    return factors is not None and factors.analyser is not None
