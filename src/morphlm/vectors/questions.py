"""Queries for neighbours: words, morphemes or analogies as a person writes them, and how each was understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import ConfigError
from morphlm.vectors.composition import Composition, Origin
from morphlm.vectors.forms import word_forms
from morphlm.vectors.interface import Vectors
from morphlm.vectors.search import Neighbour
from morphlm.vectors.vectors import WordVectors

Understood = Literal[Origin, "morpheme", "analogy"]
Analogy = tuple[str, str, str]


@dataclass(frozen=True)
class QueryAnswer(Tabular):
    """The neighbours of one query, nearest first."""

    query: str
    understood: Understood
    neighbours: tuple[Neighbour, ...]
    compositions: tuple[Composition, ...] = ()  # what the vectors of its words are made of; a morpheme has none

    __repr__ = dataclass_repr

    @property
    def notes(self) -> list[str]:
        """What to know about words whose stem was never seen, or nothing of them, before trusting the neighbours."""
        return [
            f"{composition.word}: {composition.format()}; {_ADVICE[composition.origin]}"
            for composition in self.compositions
            if composition.origin in _ADVICE
        ]

    def frame_rows(self) -> list[Row]:
        return [
            {"query": self.query, "understood": self.understood, **neighbour._asdict()} for neighbour in self.neighbours
        ]

    def to_json(self) -> dict[str, Any]:
        neighbours = [neighbour._asdict() for neighbour in self.neighbours]
        words = [{"word": one.word, "origin": one.origin} | one.to_json() for one in self.compositions]
        return {"query": self.query, "understood": self.understood, "words": words, "neighbours": neighbours}


_ADVICE: dict[Origin, str] = {
    "affixes": "its neighbours are words of the same form, not of the same meaning",
    "unknown": "its neighbours are those of UNK",
}


def ask(
    vectors: Vectors,
    queries: Sequence[str],
    analogies: Sequence[Analogy] = (),
    k: int = 10,
    *,
    of_morphemes: bool = False,
    among_morphemes: bool = False,
    prepared: bool = False,
) -> list[QueryAnswer]:
    """The neighbours of words, or of morphemes, and the answers to analogies.

    Words are brought to the form that they have in the model's text, unless they are `prepared`.
    """
    if not queries and not analogies:
        raise ConfigError("nothing is asked for; name some words or an analogy")
    form = word_forms(vectors, prepared=prepared)
    forms = queries if of_morphemes else [form(word) for word in queries]
    nearest = _search(vectors, forms, k, of_morphemes, among_morphemes)
    triples = [(form(a), form(b), form(c)) for a, b, c in analogies]
    solved = vectors.analogies(triples, k)
    return [_answer(vectors, word, near, of_morphemes) for word, near in zip(forms, nearest, strict=True)] + [
        QueryAnswer(f"{a}:{b}::{c}:?", "analogy", tuple(near), tuple(map(vectors.composition, (a, b, c))))
        for (a, b, c), near in zip(triples, solved, strict=True)
    ]


def _search(
    vectors: Vectors, queries: Sequence[str], k: int, of_morphemes: bool, among_morphemes: bool
) -> Sequence[Sequence[Neighbour]]:
    if not (of_morphemes or among_morphemes):
        return vectors.neighbours_of_all(queries, k)
    if not isinstance(vectors, WordVectors):
        raise ConfigError("a file of vectors has no morphemes; ask a model with factors (+c, +o or ++)")
    search = vectors.nearest_morphemes_of_all if among_morphemes else vectors.neighbours_of_all
    return search(queries, k, morphemes=of_morphemes)


def _answer(vectors: Vectors, query: str, neighbours: Sequence[Neighbour], is_morpheme: bool) -> QueryAnswer:
    if is_morpheme:
        return QueryAnswer(query, "morpheme", tuple(neighbours))
    composition = vectors.composition(query)
    return QueryAnswer(query, composition.origin, tuple(neighbours), (composition,))
