"""The parts of a report: what `print = [...]` of a recipe may name, with the kind of step and the section of each.

This table is where a new kind of step enters: name its class and the function that makes its section. Both are given
as `module:attribute` and imported when a recipe asks for them, so that reading a recipe stays quick.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from morphlm.experiments.sections.section import PlanResults, ReportSection
    from morphlm.experiments.steps.base import Step

SECTIONS, STEPS = "morphlm.experiments.sections", "morphlm.experiments.steps"


@dataclass(frozen=True)
class ReportPart:
    """One part."""

    section: str  # (PlanResults) -> Iterable[ReportSection]
    step: str = f"{STEPS}.scores:ScoresStep"  # the kind of step whose results it shows

    def load_section(self) -> Callable[[PlanResults], Iterable[ReportSection]]:
        function: Callable[[PlanResults], Iterable[ReportSection]] = _load(self.section)
        return function


PARTS = {
    "corpus": ReportPart(f"{SECTIONS}.texts:corpus"),
    "perplexity": ReportPart(f"{SECTIONS}.texts:perplexity"),
    "selection": ReportPart(f"{SECTIONS}.selection:selection_section"),
    "main": ReportPart(f"{SECTIONS}.three_models:table2"),
    "kappa": ReportPart(f"{SECTIONS}.three_models:table2"),
    "scaling": ReportPart(f"{SECTIONS}.three_models:scaling_section"),
    "frequency": ReportPart(f"{SECTIONS}.groups:frequency", f"{STEPS}.groups:FrequencyStep"),
    "tags": ReportPart(f"{SECTIONS}.groups:tags", f"{STEPS}.tags:TagsStep"),
    "similarity": ReportPart(f"{SECTIONS}.similarity:similarity", f"{STEPS}.similarity:SimilarityStep"),
    "translation": ReportPart(f"{SECTIONS}.translation:translation", f"{STEPS}.comparison:ComparisonStep"),
}


def step_kinds(names: Sequence[str]) -> list[type[Step[Any]]]:
    """The kinds of steps that some parts need, each once."""
    return [_load(reference) for reference in dict.fromkeys(part.step for name, part in PARTS.items() if name in names)]


def _load(reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    return getattr(importlib.import_module(module), attribute)
