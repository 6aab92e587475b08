"""Word similarity: Spearman's rank correlation of the cosines of word pairs with the ratings of people (paper, 4.3).

Words that are not known can be composed, be UNK (the paper's "-compose"), or drop their pair. A bootstrap
over the pairs tells how far the correlation can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from scipy.stats import rankdata

from morphlm.arrays import BoolArray, Float32Array, Float64Array
from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import InputError
from morphlm.files import source_name
from morphlm.segmentation.encoding import normalised
from morphlm.tables import format_columns
from morphlm.text.reading import numbered_lines, parse_number, split_tokens
from morphlm.vectors.base import BaseVectors
from morphlm.vectors.forms import is_lowercased, word_forms

Policy = Literal["composed", "unk", "dropped"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
TITLES = {"composed": "composed", "unk": "-compose", "dropped": "known pairs"}
RESAMPLES = 1000
COVERAGE = 95.0  # per cent of the resamples lie in the interval
DIGITS = 9  # of a cosine: pairs that are equal but for rounding share their rank


@dataclass(frozen=True, eq=False)
class RatedPairs(Tabular):
    """Pairs of words, or of phrases, with the ratings of people. A phrase is the sum of its words."""

    name: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    ratings: Float64Array

    __repr__ = dataclass_repr

    def frame_rows(self) -> list[Row]:
        rows = zip(self.left, self.right, self.ratings.tolist(), strict=True)
        return [{"left": left, "right": right, "rating": rating} for left, right, rating in rows]

    def __len__(self) -> int:
        return len(self.ratings)

    def in_form(self, form: Callable[[str], str]) -> RatedPairs:
        """The pairs with their words in the form that a model knows."""
        left, right = (tuple(map(form, words)) for words in (self.left, self.right))
        return RatedPairs(self.name, left, right, self.ratings)


def read_pairs(path: str | Path) -> RatedPairs:
    """Read `word TAB word TAB rating` lines; words are taken in Unicode NFC, and several between TABs are a phrase."""
    rows = [_parse_pair(line, source_name(path), number) for number, line in numbered_lines(path)]
    left, right, ratings = zip(*rows, strict=True)
    return RatedPairs(source_name(path), left, right, np.array(ratings))


def _parse_pair(line: str, source: str, number: int) -> tuple[str, str, float]:
    fields = line.split("\t")
    if len(fields) != 3 or not all(map(split_tokens, fields)):
        raise InputError("not `word TAB word TAB rating`; correct the line", source=source, line=number)
    try:
        rating = parse_number(fields[2])
    except ValueError:
        rating = math.nan
    if not math.isfinite(rating):
        raise InputError(f"the rating {fields[2]!r} is no number; correct the line", source=source, line=number)
    return normalised(fields[0]), normalised(fields[1]), rating


# ---------------------------------------------------------------- results


@dataclass(frozen=True)
class Correlation:
    """Spearman's rho x 100 under one policy, with a bootstrap interval; None where it is not defined."""

    pairs: int
    rho: float | None
    low: float | None
    high: float | None

    def format(self) -> str:
        """`21.3 [15.0, 27.4]`."""
        if self.rho is None:
            return "-"
        return f"{self.rho:.1f}" + ("" if self.low is None else f" [{self.low:.1f}, {self.high:.1f}]")


@dataclass(frozen=True)
class Similarity(Tabular):
    """The correlations on one set of pairs."""

    name: str
    pairs: int
    known: int  # pairs whose words are both known
    covered: int  # pairs whose words are both known or composable
    correlations: dict[Policy, Correlation]
    signature: str

    __repr__ = dataclass_repr

    def frame_rows(self) -> list[Row]:
        shared = {"set": self.name, "known": self.known, "covered": self.covered}
        return [shared | {"policy": policy} | vars(figures) for policy, figures in self.correlations.items()]

    def to_json(self) -> dict[str, Any]:
        figures = {policy: vars(correlation) for policy, correlation in self.correlations.items()}
        counts = {"pairs": self.pairs, "known": self.known, "covered": self.covered}
        return {"set": self.name} | counts | {"rho_x_100": figures, "signature": self.signature}

    def row(self) -> list[str]:
        """The cells of a line of the table."""
        correlations = [self.correlations[policy].format() for policy in POLICIES]
        return [self.name, str(self.pairs), str(self.known), str(self.covered), *correlations]


def format_similarities(results: Sequence[Similarity]) -> str:
    """A table with a line for each set, and what the figures depend on."""
    header = ["rho x 100", "pairs", "known", "covered", *(TITLES[policy] for policy in POLICIES)]
    return "\n".join([format_columns(header, [result.row() for result in results]), results[0].signature])


# ---------------------------------------------------------------- measuring


def evaluate_similarity(
    vectors: BaseVectors, pairs: RatedPairs, *, seed: int = 1, resamples: int = RESAMPLES, prepared: bool = False
) -> Similarity:
    """Spearman's rho of `pairs`, of `read_pairs`, under each policy.

    Words are brought to the form of the model's text, unless they are `prepared`.
    """
    pairs = pairs.in_form(word_forms(vectors, prepared=prepared))
    known = _both(pairs, vectors.known)
    covered = _both(pairs, lambda word: vectors.known(word) or vectors.composable(word))
    composed, unk = (_cosines(vectors.using(compose=compose), pairs) for compose in (True, False))
    chosen = {"composed": composed, "unk": unk, "dropped": unk[known]}
    ratings = {"composed": pairs.ratings, "unk": pairs.ratings, "dropped": pairs.ratings[known]}
    correlations = {policy: correlate(chosen[policy], ratings[policy], seed, resamples) for policy in POLICIES}
    signature = _signature(vectors, lowercase=not prepared and is_lowercased(vectors), seed=seed, resamples=resamples)
    return Similarity(pairs.name, len(pairs), int(known.sum()), int(covered.sum()), correlations, signature)


def _both(pairs: RatedPairs, predicate: Callable[[str], bool]) -> BoolArray:
    """For which pairs the predicate holds of every word on both sides."""
    holds = {phrase: all(map(predicate, split_tokens(phrase))) for phrase in {*pairs.left, *pairs.right}}
    return np.array([holds[left] and holds[right] for left, right in zip(pairs.left, pairs.right, strict=True)], bool)


def _cosines(vectors: BaseVectors, pairs: RatedPairs) -> Float64Array:
    """The cosine of each pair; 0 where a word has no vector at all."""
    left, right = (_sums(vectors, phrases).astype(np.float64) for phrases in (pairs.left, pairs.right))
    lengths = np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
    products = (left * right).sum(axis=1)
    cosines: Float64Array = np.divide(products, lengths, out=np.zeros(len(pairs)), where=lengths > 0)
    return cosines.round(DIGITS)


def _sums(vectors: BaseVectors, phrases: Sequence[str]) -> Float32Array:
    """The vectors of words, and of phrases, whose words' vectors are added."""
    parts = [split_tokens(phrase) for phrase in phrases]
    rows = vectors.rows([word for words in parts for word in words])
    return np.add.reduceat(rows, np.cumsum([0, *map(len, parts)])[:-1])


def correlate(scores: Float64Array, ratings: Float64Array, seed: int = 1, resamples: int = RESAMPLES) -> Correlation:
    """Spearman's rho x 100 with its percentile bootstrap interval; resamples without a rho do not count."""
    if len(scores) < 2:
        return Correlation(len(scores), None, None, None)
    (rho,) = spearman(scores[None], ratings[None])
    chosen = np.random.default_rng(seed).integers(0, len(scores), (resamples, len(scores)))
    drawn = spearman(scores[chosen], ratings[chosen])
    drawn = drawn[np.isfinite(drawn)]
    ends = [(100 - COVERAGE) / 2, (100 + COVERAGE) / 2]
    low, high = np.percentile(100 * drawn, ends).tolist() if len(drawn) else (None, None)
    return Correlation(len(scores), float(100 * rho) if math.isfinite(rho) else None, low, high)


def spearman(scores: Float64Array, ratings: Float64Array) -> Float64Array:
    """Spearman's rho of each row: the correlation of ranks, equal values sharing theirs; NaN if all are equal."""
    x, y = (rankdata(values, axis=1) for values in (scores, ratings))
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    spread = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    rho: Float64Array = np.divide((x * y).sum(axis=1), spread, out=np.full(len(x), np.nan), where=spread > 0)
    return rho


def _signature(vectors: BaseVectors, *, lowercase: bool, seed: int, resamples: int) -> str:
    fields = vectors.signature_fields()
    fields |= {"case": "lower" if lowercase else "kept", "bootstrap": f"{resamples}.{seed}"}
    return "|".join(["rho", *(f"{name}:{value}" for name, value in fields.items())])
