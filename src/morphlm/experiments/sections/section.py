"""What a part of a report is, and what it is made of: the cells of a plan with their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from morphlm.experiments.cell import Cell
from morphlm.experiments.paper import NONE
from morphlm.experiments.plan import Plan
from morphlm.experiments.recipe import format_amount
from morphlm.experiments.running import Outcome
from morphlm.experiments.steps.base import Step
from morphlm.tables import Table

SEED = 1  # of all bootstrap samples

Content = TypeVar("Content")


@dataclass(frozen=True)
class ReportSection:
    """A part of a report."""

    name: str  # of its pictures' files
    title: str
    tables: tuple[Table, ...]
    content: Mapping[str, Any]  # for JSON
    pictures: Mapping[str, Any] = field(default_factory=dict)  # name -> a result that can be drawn


@dataclass(frozen=True)
class PlanResults:
    """The cells of a plan with the results of their steps."""

    plan: Plan
    outcome: Outcome

    def label(self, cell: Cell, *, kappa: bool = True) -> str:
        """How a cell is called: its text, and in what it differs from others of the recipe."""
        return " ".join([cell.texts.text, *self.differences(cell, kappa=kappa)])

    def differences(self, cell: Cell, *, kappa: bool = True) -> list[str]:
        """What the recipe varies, beside languages."""
        recipe = self.plan.recipe
        parts = [format_amount(cell.tokens)] if len(recipe.tokens) > 1 else []
        parts += [cell.vocabulary] if len(recipe.vocabularies) > 1 else []
        parts += [f"kappa {cell.kappa:g}"] if kappa and len(recipe.kappas) > 1 else []
        parts += [f"seed {cell.seed}"] if len(recipe.seeds) > 1 else []
        return parts

    def of(self, cell: Cell, kind: type[Step[Content]]) -> dict[str, Content]:
        """The results of the steps of one kind that a cell has, by their names."""
        results = {name: self.outcome.get(step) for name, step in cell.of(kind).items()}
        return {name: result for name, result in results.items() if result is not None}


def most_gained(changes: Mapping[str, float]) -> str:
    """The names of the three largest gains."""
    return ", ".join(sorted(changes, key=lambda name: changes[name])[:3]) or NONE


def signatures_in(sections: Sequence[ReportSection]) -> list[str]:
    """Every signature that the sections name, each once, sorted."""
    return sorted({text for section in sections for text in _signatures(section.content, named=False)})


def _signatures(value: Any, *, named: bool) -> Iterator[str]:
    """All texts below a key that is called so."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _signatures(entry, named=named or key in ("signature", "signatures"))
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _signatures(entry, named=named)
    elif named and isinstance(value, str):
        yield value
