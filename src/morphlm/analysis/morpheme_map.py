"""A map of morphemes: their vectors in two dimensions, so that similar ones lie together (paper, figure 6).

t-SNE of their cosines. Affixes say more than stems, which are many: up to half of the points are theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from morphlm.analysis.tsne import tsne
from morphlm.arrays import Array, BoolArray, Float32Array, Float64Array, Int64Array
from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import ConfigError
from morphlm.lazy import cached_property
from morphlm.segmentation.factors import Factors
from morphlm.segmentation.morphemes import LABELS, STEM, split_name
from morphlm.tables import Table, counted
from morphlm.text.reading import RESERVED
from morphlm.vectors.search import Neighbour, nearest, unit_rows
from morphlm.vectors.vectors import Side, WordVectors

COUNT = 400
FEWEST, MOST = 10, 2000  # points of a map; all pairs of them are compared
NEAREST = 5
EXAMPLES = 3
PERPLEXITY = 30.0  # t-SNE's: about how many neighbours each point keeps
AFFIX_SHARE = 0.5  # at most, of the places on the map


@dataclass(frozen=True)
class MapPoint:
    """A morpheme and its coordinates on the map."""

    name: str  # form/LABEL
    form: str
    label: str | None  # PRE, STM, SUF; None if the model's morphemes have none
    words: int  # of the vocabulary that have it
    tokens: int  # of the training text that have it
    examples: tuple[str, ...]  # frequent ones of these words
    x: float  # in [0, 1]
    y: float
    near: tuple[Neighbour, ...]  # the nearest on the map, with their cosines

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "form": self.form,
            "label": self.label,
            "words": self.words,
            "tokens": self.tokens,
            "examples": list(self.examples),
            "x": self.x,
            "y": self.y,
            "near": [[name, similarity] for name, similarity in self.near],
        }


@dataclass(frozen=True)
class MorphemeMap(Tabular):
    """The points of a map, those of frequent morphemes first."""

    points: tuple[MapPoint, ...]
    side: Side
    seed: int
    perplexity: float  # t-SNE's
    record: tuple[tuple[str, str], ...] = ()  # the fields of the model's signature

    __repr__ = dataclass_repr

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def by_name(self) -> dict[str, MapPoint]:
        return {point.name: point for point in self.points}

    def only(self, names: Sequence[str]) -> MorphemeMap:
        """The map with these morphemes alone, at their places."""
        missing = [name for name in names if name not in self.by_name]
        if missing:
            message = f"{missing[0]!r} is not on the map; write it as form/LABEL, or ask for more morphemes"
            raise ConfigError(message)
        return replace(self, points=tuple(self.by_name[name] for name in names))

    def place(self, vectors: WordVectors, rows: Array) -> Float64Array:
        """Where vectors of the same model lie: (n, 2), the mean of the places of the nearest morphemes.

        Each counts by its cosine, so that what is like one morpheme only lies near it.
        """
        units = unit_rows(np.stack([vectors.morpheme(point.name) for point in self.points]))
        if rows.ndim != 2 or rows.shape[1] != units.shape[1]:
            raise ConfigError(f"vectors of shape {rows.shape} for a map of rows of {units.shape[1]}; give rows alike")
        coordinates = np.array([(point.x, point.y) for point in self.points])
        neighbours = nearest(units, rows.astype(np.float32), NEAREST, [[]] * len(rows))
        return np.array([_weighted(coordinates[near], cosines) for near, cosines in neighbours]).reshape(-1, 2)

    def to_table(self) -> Table:
        rows = [
            [
                point.name,
                f"{point.words:,}",
                f"{point.tokens:,}",
                f"{point.x:.3f}",
                f"{point.y:.3f}",
                " ".join(f"{name} {similarity:.2f}" for name, similarity in point.near),
                " ".join(point.examples),
            ]
            for point in self.points
        ]
        note = f"t-SNE of cosines, perplexity {self.perplexity:g}, seed {self.seed}; vectors: {self.side}"
        return Table(["morpheme", "words", "tokens", "x", "y", "nearest", "examples"], rows, [note])

    def frame_rows(self) -> list[Row]:
        return [point.to_json() for point in self.points]

    def to_json(self) -> dict[str, Any]:
        return {
            "points": [point.to_json() for point in self.points],
            "side": self.side,
            "seed": self.seed,
            "perplexity": self.perplexity,
            "model": dict(self.record),
        }


def map_morphemes(
    vectors: WordVectors,
    *,
    count: int = COUNT,
    labels: Sequence[str] | None = None,
    seed: int = 1,
    perplexity: float = PERPLEXITY,
) -> MorphemeMap:
    """Put the `count` most frequent morphemes on a map; of certain `labels` only, or (None) of all.

    Of all, half of the places at most are for prefixes and suffixes, and the others for stems.
    `perplexity` is that of t-SNE: about the number of neighbours of each point.
    """
    factors = _factors_of(vectors, count)
    tokens = _token_counts(factors)
    chosen = _choose(factors, tokens, count, labels)
    names = [factors.names[number] for number in chosen.tolist()]
    units = unit_rows(np.stack([vectors.morpheme(name) for name in names]))
    usable_perplexity = _usable(perplexity, len(units))
    coordinates = _scaled(tsne(units, perplexity=usable_perplexity, seed=seed))
    near = [
        tuple(
            Neighbour(names[coordinate], round(float(cosine), 4))
            for coordinate, cosine in zip(indices, cosines, strict=True)
        )
        for indices, cosines in nearest(units, units, NEAREST, [[own] for own in range(len(units))])
    ]
    points = tuple(
        _point(factors, int(number), int(tokens[number]), coordinate, neighbours)
        for number, coordinate, neighbours in zip(chosen, coordinates, near, strict=True)
    )
    return MorphemeMap(points, vectors.side, seed, usable_perplexity, tuple(vectors.record.items()))


def _factors_of(vectors: WordVectors, count: int) -> Factors:
    if vectors.factors is None:
        raise ConfigError("this model has no morphemes to put on a map; take one with factors (+c, +o or ++)")
    if count < FEWEST:
        raise ConfigError(f"a map of {count} morphemes shows nothing; ask for {FEWEST} or more")
    if count > MOST:
        raise ConfigError(f"a map of {count:,} morphemes cannot be read; ask for {MOST:,} or fewer")
    return vectors.factors


def _token_counts(factors: Factors) -> Int64Array:
    """How many tokens of the training text have each factor; once for each time that it is in the word."""
    counts = np.repeat(factors.vocabulary.counts, np.diff(factors.indptr))
    return np.bincount(factors.indices, counts, len(factors)).astype(np.int64)


def _choose(factors: Factors, tokens: Int64Array, count: int, labels: Sequence[str] | None) -> Int64Array:
    """The ids of the morphemes for the map, frequent ones first."""
    first = factors.surfaces
    order = first + np.argsort(-tokens[first:], kind="stable")
    label_of = [split_name(factors.names[number])[1] for number in order.tolist()]
    if labels is None:
        is_affix = np.array([label not in (None, STEM) for label in label_of], bool)
        wanted = _within(is_affix, max(int(AFFIX_SHARE * count), count - int((~is_affix).sum())))
        wanted |= _within(~is_affix, count - int(wanted.sum()))
    else:
        wanted = np.array([label in _checked(labels) for label in label_of], bool)
    chosen = order[wanted][:count]
    if len(chosen) < FEWEST:
        kind = "" if labels is None else f" with the label {' or '.join(labels)}"
        raise ConfigError(f"the model has {counted(len(chosen), 'morpheme')}{kind}; a map needs {FEWEST} or more")
    return chosen


def _within(mask: BoolArray, count: int) -> BoolArray:
    """The first `count` true entries."""
    return mask & (np.cumsum(mask) <= count)


def _checked(labels: Sequence[str]) -> set[str]:
    unknown = sorted(set(labels) - set(LABELS))
    if unknown or not labels:
        problem = f"{unknown[0]!r} is no label of morphemes" if unknown else "no label is named"
        raise ConfigError(f"{problem}; choose among {', '.join(LABELS)}")
    return set(labels)


def _usable(perplexity: float, count: int) -> float:
    """t-SNE's perplexity lies well below the number of points."""
    if not perplexity >= 1:
        raise ConfigError(f"the perplexity of t-SNE is {perplexity:g}; choose 1 or more, commonly 5 to 50")
    return min(perplexity, (count - 1) / 3)


def _scaled(coordinates: Float64Array) -> Float64Array:
    """To [0, 1], both axes alike, so that distances keep their ratios; four digits are more than a screen has."""
    low, high = coordinates.min(0), coordinates.max(0)
    size = float((high - low).max()) or 1.0
    return np.asarray(np.round((coordinates - (low + high) / 2) / size + 0.5, 4), np.float64)


def _weighted(coordinates: Float64Array, cosines: Float32Array) -> Float64Array:
    """The mean by cosines; those below zero count nothing, and if all are, all count alike."""
    weights = np.maximum(cosines, 0).astype(np.float64)
    mean: Float64Array = np.average(coordinates, axis=0, weights=weights if weights.sum() > 0 else None)
    return mean


def _point(
    factors: Factors, number: int, tokens: int, coordinate: Float64Array, near: tuple[Neighbour, ...]
) -> MapPoint:
    """Words are in order of frequency, so the first are the examples."""
    words = np.unique(factors.inverse[number])
    words = words[words >= len(RESERVED)]
    name = factors.names[number]
    examples = tuple(factors.vocabulary.words[word] for word in words[:EXAMPLES].tolist())
    return MapPoint(
        name, *split_name(name), len(words), tokens, examples, float(coordinate[0]), float(coordinate[1]), near
    )
