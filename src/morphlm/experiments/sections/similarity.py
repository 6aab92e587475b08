"""Word vectors against ratings of word pairs (Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from morphlm.experiments.paper import NONE, similarity_cells
from morphlm.experiments.plan import WIDE, Plan
from morphlm.experiments.sections.section import PlanResults, ReportSection
from morphlm.experiments.steps.groups import BASELINE, OTHER
from morphlm.experiments.steps.similarity import SimilarityStep
from morphlm.tables import Table


def similarity(results: PlanResults) -> Iterator[ReportSection]:
    """A row a set of pairs, a column a model and what becomes of unknown words."""
    rows, content = [], []
    columns = _similarity_columns(results.plan)
    for cell in results.plan.cells:
        sets = _by_set(results.of(cell, SimilarityStep))
        label = results.label(cell).partition(" ")[2]  # the names of sets begin with the language
        for name, models in sets.items():
            pairs = str(next(iter(models.values()))["pairs"])
            cells = [_rho(models.get(model), policy) for _, model, policy in columns]
            rows.append([f"{name} {label}".strip(), pairs, *cells, *similarity_cells(name)])
            content += [result | {"model": model, "text": results.label(cell)} for model, result in models.items()]
    if rows:
        theirs = ["paper: CLBL", "paper: CLBL++", "paper: -compose"]
        header = ["rho x 100", "pairs", *(title for title, _, _ in columns), *theirs]
        notes = ["in brackets: 95 % of 1000 bootstrap samples of the pairs", "paper: Tables 3 and 4"]
        yield ReportSection(
            "similarity", "Word similarity (Tables 3 and 4)", (Table(header, rows, notes),), {"sets": content}
        )


def _by_set(models: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What each model reaches on each set of pairs: [set][model]."""
    sets: dict[str, dict[str, Any]] = {}
    for model, content in models.items():
        for result in content["sets"]:
            sets.setdefault(result["set"], {})[model] = result
    return sets


def _similarity_columns(plan: Plan) -> list[tuple[str, str, str]]:
    """Title, model and what becomes of unknown words: CLBL knows UNK only."""
    columns = [("CLBL", BASELINE, "unk"), ("CLBL++", OTHER, "composed"), ("-compose", OTHER, "unk")]
    columns += [("wide CLBL++", OTHER + WIDE, "composed"), ("wide -compose", OTHER + WIDE, "unk")]
    names = {*plan.recipe.kinds, *(kind + WIDE for kind in plan.recipe.wide)}
    return [column for column in columns if column[1] in names]


def _rho(result: Mapping[str, Any] | None, policy: str) -> str:
    figures = None if result is None else result["rho_x_100"][policy]
    if figures is None or figures["rho"] is None:
        return NONE
    interval = "" if figures["low"] is None else f" [{figures['low']:.1f}, {figures['high']:.1f}]"
    return f"{figures['rho']:.1f}{interval}"
