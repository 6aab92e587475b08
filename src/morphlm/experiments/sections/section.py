"""What a part of a report is, and what it is made of: the cells of a plan with their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from morphlm.analysis.scores import SentenceScores, scores_from_json
from morphlm.experiments.paper import NONE
from morphlm.experiments.plan import Cell, Plan
from morphlm.experiments.running import Outcome
from morphlm.experiments.steps import amount
from morphlm.tables import Table

SEED = 1  # of all bootstrap samples


@dataclass(frozen=True)
class Section:
    """A part of a report."""

    name: str  # of its pictures' files
    title: str
    tables: tuple[Table, ...]
    content: Mapping[str, Any]  # for JSON
    pictures: Mapping[str, Any] = field(default_factory=dict)  # name -> a result that can be drawn


@dataclass(frozen=True)
class Found:
    """The cells of a plan and what is known of them."""

    plan: Plan
    outcome: Outcome

    def label(self, cell: Cell, *, kappa: bool = True) -> str:
        """How a cell is called: its text, and in what it differs from others of the recipe."""
        return " ".join([cell.text, *self.differences(cell, kappa=kappa)])

    def differences(self, cell: Cell, *, kappa: bool = True) -> list[str]:
        """What the recipe varies, beside languages."""
        recipe = self.plan.recipe
        parts = [amount(cell.tokens)] if len(recipe.tokens) > 1 else []
        parts += [cell.vocabulary] if len(recipe.vocabularies) > 1 else []
        parts += [f"kappa {cell.kappa:g}"] if kappa and len(recipe.kappas) > 1 else []
        parts += [f"seed {cell.seed}"] if len(recipe.seeds) > 1 else []
        return parts

    def scores(self, cell: Cell) -> dict[str, SentenceScores]:
        """The test text under each model of a cell that was scored."""
        results = {kind: self.outcome.get(step) for kind, step in cell.scores.items()}
        return {kind: scores_from_json(result) for kind, result in results.items() if result is not None}


def most_gained(changes: Mapping[str, float]) -> str:
    """The names of the three largest gains."""
    return ", ".join(sorted(changes, key=lambda name: changes[name])[:3]) or NONE


def signatures_in(sections: Sequence[Section]) -> list[str]:
    """Every signature that the sections name, each once, sorted."""
    return sorted({text for section in sections for text in _signatures(section.content, named=False)})


def _signatures(value: Any, *, named: bool) -> Iterator[str]:
    """All texts below a key that is called so."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _signatures(each, named=named or key in ("signature", "signatures"))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _signatures(each, named=named)
    elif named and isinstance(value, str):
        yield value
