"""What is printed of an experiment: a section for each part that its recipe names, our numbers beside the paper's."""

from __future__ import annotations

from morphlm.errors import MorphlmError
from morphlm.experiments.parts import PARTS
from morphlm.experiments.plan import Plan
from morphlm.experiments.running import Outcome
from morphlm.experiments.sections.section import PlanResults, ReportSection, signatures_in

__all__ = ["ReportSection", "sections_of", "signatures_in"]


def sections_of(plan: Plan, outcome: Outcome) -> tuple[list[ReportSection], dict[str, str]]:
    """All parts of which there is something to show, and why others cannot be made."""
    results = PlanResults(plan, outcome)
    sections: list[ReportSection] = []
    failures = {}
    makers = {PARTS[part].section: part for part in reversed(plan.recipe.print)}  # `main` and `kappa` are one table
    for part in plan.recipe.print:
        if part not in makers.values():
            continue
        try:
            sections += PARTS[part].load_section()(results)
        except MorphlmError as error:  # the others can be shown all the same
            failures[f"the part {part}"] = str(error)
    return sections, failures
