"""Queries for neighbours: words, morphemes or analogies as a person writes them, and how each was understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from morphlm.errors import ConfigError
from morphlm.vectors.forms import word_forms
from morphlm.vectors.search import Neighbour
from morphlm.vectors.vectors import WordVectors

Understood = Literal["known", "composed", "unknown", "morpheme", "analogy"]
Analogy = tuple[str, str, str]


@dataclass(frozen=True)
class QueryAnswer:
    """The neighbours of one query, nearest first."""

    query: str
    understood: Understood
    neighbours: tuple[Neighbour, ...]

    def to_json(self) -> dict[str, Any]:
        neighbours = [neighbour._asdict() for neighbour in self.neighbours]
        return {"query": self.query, "understood": self.understood, "neighbours": neighbours}


def ask(
    vectors: WordVectors,
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
    search = vectors.nearest_morphemes_of_all if among_morphemes else vectors.neighbours_of_all
    nearest = search(forms, k, morphemes=of_morphemes)
    understood = ["morpheme" if of_morphemes else how_known(vectors, word) for word in forms]
    answers = [QueryAnswer(word, how, tuple(near)) for word, how, near in zip(forms, understood, nearest, strict=True)]
    triples = [(form(a), form(b), form(c)) for a, b, c in analogies]
    solved = vectors.analogies(triples, k)
    return answers + [
        QueryAnswer(f"{a}:{b}::{c}:?", "analogy", tuple(near)) for (a, b, c), near in zip(triples, solved, strict=True)
    ]


def how_known(vectors: WordVectors, word: str) -> Understood:
    """Where a word's vector comes from."""
    if vectors.known(word):
        return "known"
    return "composed" if vectors.compose and vectors.composable(word) else "unknown"
