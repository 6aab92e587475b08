"""Parallel text of a known synchronous grammar, so that every translation is known.

The source puts adjectives before nouns and owners before what they own, and has verbs with a particle after the object.
The target puts them after, has a negation of two parts around the object, and the verb of a clause with "because" at
its end. Its articles and adjectives agree with the noun in gender and number, and its verbs with the subject in number.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from morphlm.ngram.training import train_ngram
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SystemConfig

NOUNS, ADJECTIVES, VERBS, PHRASAL = 30, 12, 10, 5
GENDERS = ("o", "a")
THE = {("o", 0): "el", ("o", 1): "los", ("a", 0): "la", ("a", 1): "las"}
A = {"o": "un", "a": "una"}


@dataclass(frozen=True)
class Pair:
    """A phrase in both languages, with what others must agree with."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    gender: str = "o"
    number: int = 0  # 0 singular, 1 plural


class Grammar:
    """Draws sentences; equal seeds give equal ones."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def _choice(self, count: int) -> int:
        return int(self.rng.integers(count))

    def _chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def noun_phrase(self, *, owned: bool) -> Pair:
        """[the red house] -> [la casa roja]; [of the man 's red house] -> [la casa roja de el hombre]."""
        noun, number = self._choice(NOUNS), self._choice(2)
        gender = GENDERS[noun % 2]
        source, target = [f"noun{noun}" + "s" * number], [f"sust{noun}{gender}" + "s" * number]
        if self._chance(0.4):
            adjective = self._choice(ADJECTIVES)
            source.insert(0, f"adj{adjective}")
            target.append(f"calif{adjective}{gender}" + "s" * number)
        if owned and self._chance(0.25):
            owner = self.noun_phrase(owned=False)
            source = ["of", *owner.source, "'s", *source]
            target = [THE[gender, number], *target, "de", *owner.target]
        elif number or self._chance(0.6):
            source, target = ["the", *source], [THE[gender, number], *target]
        else:
            source, target = ["a", *source], [A[gender], *target]
        return Pair(tuple(source), tuple(target), gender, number)

    def clause(self) -> Pair:
        """[men see the house] -> [hombres ven la casa]; [men do not see ...] -> [hombres no ven ... nada]."""
        subject, thing, kind = self.noun_phrase(owned=False), self.noun_phrase(owned=True), self._verb()
        verb, up = f"verb{kind}", self._particle(kind)
        hace = f"hace{kind}{'n' * subject.number}"
        if self._chance(0.25):
            negation = ("do" if subject.number else "does", "not")
            source, target = (*negation, verb, *thing.source, *up), ("no", hace, *thing.target, "nada")
        else:
            source, target = (verb + "s" * (1 - subject.number), *thing.source, *up), (hace, *thing.target)
        return Pair((*subject.source, *source), (*subject.target, *target))

    def reason(self) -> Pair:
        """[because of men seeing the house] -> [porque hombres la casa ver]."""
        subject, thing, kind = self.noun_phrase(owned=False), self.noun_phrase(owned=False), self._verb()
        source = ("because", *subject.source, f"verb{kind}ing", *thing.source, *self._particle(kind))
        return Pair(source, ("porque", *subject.target, *thing.target, f"hace{kind}r"))

    def _verb(self) -> int:
        return self._choice(VERBS + PHRASAL)

    def _particle(self, verb: int) -> tuple[str, ...]:
        return ("up",) if verb >= VERBS else ()

    def sentence(self) -> tuple[list[str], list[str]]:
        """One or two clauses."""
        clauses = [self.clause()] + ([self.reason()] if self._chance(0.3) else [])
        source = [word for clause in clauses for word in clause.source]
        target = [word for clause in clauses for word in clause.target]
        return [*source, "."], [*target, "."]


def sentences(count: int, seed: int) -> list[tuple[list[str], list[str]]]:
    """Pairs of token lists."""
    grammar = Grammar(seed)
    return [grammar.sentence() for _ in range(count)]


def write(folder: Path, name: str, pairs: list[tuple[list[str], list[str]]]) -> tuple[Path, Path]:
    """Two files, line by line translations."""
    paths = folder / f"{name}.source.txt", folder / f"{name}.target.txt"
    for side, path in enumerate(paths):
        path.write_text("".join(" ".join(pair[side]) + "\n" for pair in pairs))
    return paths


def small_system(folder: Path, count: int = 300, **search: int) -> Path:
    """A system of so many pairs with a language model of order 3, not tuned; its parts are beside it."""
    texts = write(folder, "train", sentences(count, 1))
    train_ngram(texts[1], 3).save(folder / "mkn")
    config = SystemConfig(tokenise=False).with_decoder(**{"pop_limit": 20, **search})
    build_system(folder / "system", Sources(*texts, models=[NamedModel("mkn", folder / "mkn")]), config, threads=1)
    return folder / "system"
