"""How far a relative change of perplexity can be trusted: a paired bootstrap over sentences.

Sentences, not tokens, are drawn again, because the tokens of a sentence depend on one another; each draw takes the same
sentences for both models, so that what is hard for both cancels out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.tables import finite_or_none, percent

RESAMPLES = 1000
COVERAGE = 95.0  # per cent of the resamples lie in the interval
BLOCK = 50  # resamples that are drawn at a time


@dataclass(frozen=True)
class PerplexityChange:
    """A relative change of perplexity, -0.06 for 6 % less, and the interval that it lies in."""

    value: float
    low: float
    high: float

    __repr__ = dataclass_repr

    @property
    def has_interval(self) -> bool:
        """Whether an interval is known."""
        return not (np.isnan(self.low) or np.isnan(self.high))

    @property
    def is_clear(self) -> bool:
        """Whether the interval lies on one side of zero."""
        return self.low > 0 or self.high < 0

    def format(self) -> str:
        """-6.1 % [-6.9, -5.3]; without an interval -6.1 %; a dash where nothing can be said."""
        if np.isnan(self.value):
            return "-"
        if not self.has_interval:
            return percent(self.value)
        # z: no sign where nothing is left after rounding
        value, low, high = (f"{100 * number:z.1f}".replace("-", "−") for number in (self.value, self.low, self.high))
        return f"{value} % [{low}, {high}]"

    def to_json(self) -> dict[str, float | None]:
        return {name: finite_or_none(getattr(self, name)) for name in ("value", "low", "high")}


def paired_changes(
    gains: Float64Array, counts: Float64Array, *, seed: int = 1, resamples: int = RESAMPLES
) -> list[PerplexityChange]:
    """The relative change of perplexity in each group of tokens, exp(-gain / tokens) - 1, with its interval.

    gains[s, g] is the sum of ln p' - ln p over the tokens of sentence s in group g, where p' is the other model and p
    the baseline; counts[s, g] is the number of these tokens. A group with a gain that is not finite has no change
    (NaN). A group whose tokens are all in one sentence has no interval: every resample would repeat that sentence.
    """
    if not len(gains) or resamples < 1:
        raise ConfigError(f"{resamples} samples of {len(gains)} sentences tell nothing; give at least one of each")
    gains = np.where(np.isfinite(gains).all(0), gains, np.nan)
    values = _relative(gains.sum(0), counts.sum(0))
    drawn = np.concatenate(
        [_relative(_sums(draws, gains), _sums(draws, counts)) for draws in _draws(len(gains), seed, resamples)], axis=0
    )
    can_vary = (counts > 0).sum(0) > 1
    drawn[:, ~can_vary] = np.nan
    return [_change(value, column) for value, column in zip(values.tolist(), drawn.T, strict=True)]


def _sums(draws: Float64Array, values: Float64Array) -> Float64Array:
    """(R, S) x (S, G) -> (R, G). Not by BLAS, whose last digits depend on the number of threads."""
    return np.asarray(np.einsum("rs,gs->rg", draws, np.ascontiguousarray(values.T)), np.float64)


def _change(value: float, drawn: Float64Array) -> PerplexityChange:
    """Resamples without a token of the group are left out."""
    finite = drawn[~np.isnan(drawn)]
    if not len(finite):
        return PerplexityChange(value, float("nan"), float("nan"))
    low, high = np.percentile(finite, (50 - COVERAGE / 2, 50 + COVERAGE / 2))
    return PerplexityChange(value, float(low), float(high))


def _draws(sentences: int, seed: int, resamples: int) -> Iterator[Float64Array]:
    """How often each sentence is in each resample, (resamples, sentences), in blocks that fit into memory."""
    rng = np.random.default_rng(seed)
    chances = np.full(sentences, 1 / sentences)
    for begin in range(0, resamples, BLOCK):
        yield rng.multinomial(sentences, chances, min(BLOCK, resamples - begin)).astype(np.float64)


def _relative(gains: Float64Array, counts: Float64Array) -> Float64Array:
    """exp(-gain / count) - 1; not a number where nothing was counted."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(np.expm1(-gains / counts) + 0.0, np.float64)  # + 0: no negative zero


def bootstrap_note(seed: int, resamples: int = RESAMPLES) -> str:
    """The line below a table that explains its brackets."""
    return f"in brackets: {COVERAGE:g} % of {resamples} paired bootstrap samples of the sentences, seed {seed}"


def bootstrap_record(seed: int, resamples: int = RESAMPLES) -> dict[str, Any]:
    """How the intervals were drawn, for JSON output."""
    return {"unit": "sentence", "resamples": resamples, "seed": seed, "coverage": COVERAGE}
