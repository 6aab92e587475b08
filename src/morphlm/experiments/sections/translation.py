"""BLEU of translation systems with one language model and with two (Table 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from morphlm.experiments.paper import translation_cells
from morphlm.experiments.sections.section import PlanResults, ReportSection
from morphlm.experiments.steps.comparison import ComparisonStep
from morphlm.tables import Table
from morphlm.translation.evaluation.comparison import change_cells


def translation(results: PlanResults) -> Iterator[ReportSection]:
    """A row a system."""
    rows, content = [], []
    for cell in results.plan.cells:
        for pair, compared in results.of(cell, ComparisonStep).items():
            label = " ".join([pair, *results.differences(cell)])
            signatures = [f"BLEU|{compared['bleu_signature']}", f"chrF|{compared['chrf_signature']}"]
            content.append({**compared, "label": label, "signatures": signatures})
            rows += [_row(label, pair, number, compared) for number in range(len(compared["systems"]))]
    if not rows:
        return
    changes = ["change", "p", "from the one before", "p"]
    header = ["", "system", "runs", "BLEU", *changes, "chrF", "length ratio", "paper: BLEU", "paper: change"]
    first = content[0]
    notes = [
        f"{first['sentences']:,} sentences of a test; in brackets: standard deviation over the runs of tuning",
        f"p: approximate randomisation of BLEU, {first['shuffles']:,} shuffles",
        *first["signatures"],
    ]
    yield ReportSection("translation", "Translation (Table 5)", (Table(header, rows, notes),), {"pairs": content})


def _row(label: str, pair: str, number: int, compared: Mapping[str, Any]) -> list[str]:
    systems = compared["systems"]
    system, first, before = systems[number], systems[0], systems[max(0, number - 1)]
    bleu, runs = system["bleu"], len(system["bleu"]["runs"])
    deviation = f" ({bleu['deviation']:.2f})" if runs > 1 else ""
    return [
        label,
        " + ".join(part.upper() for part in system["name"].split("+", 1)),
        str(runs),
        f"{bleu['mean']:.2f}{deviation}",
        *change_cells(bleu["mean"] - first["bleu"]["mean"], system["p"]),
        *change_cells(bleu["mean"] - before["bleu"]["mean"], system["p_before"]),
        f"{system['chrf']['mean']:.2f}",
        f"{system['length_ratio']:.3f}",
        *translation_cells(pair, number),
    ]
