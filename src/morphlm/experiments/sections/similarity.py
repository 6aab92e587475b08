"""Word vectors against ratings of word pairs (Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from morphlm.experiments.paper import NONE, similarity_cells
from morphlm.experiments.plan import WIDE, Cell, Plan
from morphlm.experiments.running import Outcome
from morphlm.experiments.sections.section import Found, Section
from morphlm.experiments.steps import BASELINE, OTHER
from morphlm.tables import Table


def similarity(found: Found) -> Iterator[Section]:
    """A row a set of pairs, a column a model and what becomes of unknown words."""
    rows, content = [], []
    columns = _similarity_columns(found.plan)
    for cell in found.plan.cells:
        sets = _sets_of(cell, found.outcome)
        label = found.label(cell).partition(" ")[2]  # the names of sets begin with the language
        for name, models in sets.items():
            pairs = str(next(iter(models.values()))["pairs"])
            cells = [_rho(models.get(model), policy) for _, model, policy in columns]
            rows.append([f"{name} {label}".strip(), pairs, *cells, *similarity_cells(name)])
            content += [result | {"model": model, "text": found.label(cell)} for model, result in models.items()]
    if rows:
        theirs = ["paper: CLBL", "paper: CLBL++", "paper: -compose"]
        header = ["rho x 100", "pairs", *(title for title, _, _ in columns), *theirs]
        notes = ["in brackets: 95 % of 1000 bootstrap samples of the pairs", "paper: Tables 3 and 4"]
        yield Section(
            "similarity", "Word similarity (Tables 3 and 4)", (Table(header, rows, notes),), {"sets": content}
        )


def _sets_of(cell: Cell, outcome: Outcome) -> dict[str, dict[str, Any]]:
    """What each model reaches on each set of pairs."""
    found: dict[str, dict[str, Any]] = {}
    for model, step in cell.similarities.items():
        for result in (outcome.get(step) or {}).get("sets", []):
            found.setdefault(result["set"], {})[model] = result
    return found


def _similarity_columns(plan: Plan) -> list[tuple[str, str, str]]:
    """Title, model and what becomes of unknown words: CLBL knows UNK only."""
    found = [("CLBL", BASELINE, "unk"), ("CLBL++", OTHER, "composed"), ("-compose", OTHER, "unk")]
    found += [("wide CLBL++", OTHER + WIDE, "composed"), ("wide -compose", OTHER + WIDE, "unk")]
    names = {*plan.recipe.kinds, *(kind + WIDE for kind in plan.recipe.wide)}
    return [column for column in found if column[1] in names]


def _rho(result: Mapping[str, Any] | None, policy: str) -> str:
    figures = None if result is None else result["rho_x_100"][policy]
    if figures is None or figures["rho"] is None:
        return NONE
    interval = "" if figures["low"] is None else f" [{figures['low']:.1f}, {figures['high']:.1f}]"
    return f"{figures['rho']:.1f}{interval}"
