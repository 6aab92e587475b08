"""What morphemes are worth in each model, and what the paper says of it (figure 2)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from morphlm.analysis.bootstrap import bootstrap_note
from morphlm.analysis.selection import BASES, PAPER_KINDS, Selection, display, select_from_scores
from morphlm.experiments.paper import NONE, in_percent, paper
from morphlm.experiments.sections.section import SEED, PlanResults, ReportSection, most_gained
from morphlm.experiments.steps.scores import ScoresStep
from morphlm.tables import Table


def selection_section(results: PlanResults) -> Iterator[ReportSection]:
    """Perplexities and changes, intervals, and the statements of the paper."""
    scores = {results.label(cell): results.of(cell, ScoresStep) for cell in results.plan.cells}
    scores = {
        label: {kind: score for kind, score in models.items() if kind in PAPER_KINDS}
        for label, models in scores.items()
    }
    scores = {label: models for label, models in scores.items() if models}
    if not any(kind in models and base in models for models in scores.values() for kind, base in BASES.items()):
        return
    selection = select_from_scores(scores)
    intervals = selection.to_intervals()
    tables = (
        selection.to_table(),
        Table(intervals.header, intervals.rows, [bootstrap_note(SEED)]),
        Table(["statement of the paper", "paper", "here"], [row for row in _statements(selection) if row[-1] != NONE]),
    )
    pictures = {"selection": selection} if len(scores) > 1 else {}
    yield ReportSection(
        "selection", "What morphemes are worth in each model (figure 2)", tables, selection.to_json(), pictures
    )


def _statements(selection: Selection) -> Iterator[list[str]]:
    """What the paper says of figure 2, and whether it is so here."""
    stated = paper()["selection"]
    yield ["median perplexity of MKN", str(stated["mkn_median"]), _number(selection.median_perplexity("mkn"))]
    for base in ("lbl", "clbl"):
        both, context, output = (f"{base}{suffix}" for suffix in ("++", "+c", "+o"))
        name = display(both)
        yield [f"{name} is better than {display(base)}", "in all languages", _count(selection, both, None)]
        for part in (context, output):
            yield [f"{name} is better than {display(part)}", "in all languages", _count(selection, both, part)]
        first, second = (output, context) if base == "lbl" else (context, output)
        yield [f"{display(first)} gains more than {display(second)}", "yes", _count(selection, first, second)]
    yield ["perplexity of CLBL against LBL", "slightly higher", _against(selection, "lbl", "clbl")]
    yield [
        "CLBL++ gains most in",
        ", ".join(paper()["selection"]["most_gained"]),
        most_gained(selection.values("clbl++")),
    ]
    english = next(
        (changes.get("clbl++") for name, changes in selection.changes.items() if name.split()[0] == "en"), None
    )
    yield [
        "CLBL++ against CLBL in English",
        in_percent(stated["english"]),
        NONE if english is None else english.format(),
    ]


def _number(value: float) -> str:
    return NONE if math.isnan(value) else f"{value:.0f}"


def _count(selection: Selection, better: str, worse: str | None) -> str:
    """In how many of the languages that have both."""
    one = selection.values(better)
    other = dict.fromkeys(one, 0.0) if worse is None else selection.values(worse)
    both = [language for language in one if language in other]
    return f"in {sum(one[language] < other[language] for language in both)} of {len(both)}" if both else NONE


def _against(selection: Selection, base: str, other: str) -> str:
    pairs = [
        (models[base], models[other]) for models in selection.perplexities.values() if {base, other} <= models.keys()
    ]
    changes = sorted(new / old - 1 for old, new in pairs)
    return f"{in_percent(round(100 * changes[0], 1))} to {in_percent(round(100 * changes[-1], 1))}" if changes else NONE
