"""The parts of a report: what `print = [...]` of a recipe may name, with the steps and the section of each.

This table is where a new kind of step enters: name its class and the function that makes its section. Both are given
as `module:attribute` below `morphlm.experiments` and imported when a recipe asks for them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # reading a recipe needs the names of parts only
    from morphlm.experiments.sections.section import PlanResults, ReportSection
    from morphlm.experiments.steps.base import Step


@dataclass(frozen=True)
class ReportPart:
    """One part."""

    section: str  # (PlanResults) -> Iterator[ReportSection]
    step: str  # the kind of step whose results it shows

    def load_section(self) -> Callable[[PlanResults], Iterable[ReportSection]]:
        function: Callable[[PlanResults], Iterable[ReportSection]] = _load(self.section)
        return function


SCORES = "steps.scores:ScoresStep"
PARTS = {
    "corpus": ReportPart("sections.texts:corpus", SCORES),
    "perplexity": ReportPart("sections.texts:perplexity", SCORES),
    "selection": ReportPart("sections.selection:selection_section", SCORES),
    "main": ReportPart("sections.three_models:table2", SCORES),
    "kappa": ReportPart("sections.three_models:table2", SCORES),
    "scaling": ReportPart("sections.three_models:scaling_section", SCORES),
    "frequency": ReportPart("sections.groups:frequency", "steps.groups:FrequencyStep"),
    "tags": ReportPart("sections.groups:tags", "steps.tags:TagsStep"),
    "similarity": ReportPart("sections.similarity:similarity", "steps.similarity:SimilarityStep"),
    "translation": ReportPart("sections.translation:translation", "steps.comparison:ComparisonStep"),
}


def step_kinds(names: Sequence[str]) -> list[type[Step[Any]]]:
    """The kinds of steps that some parts need, each once."""
    return [_load(reference) for reference in dict.fromkeys(part.step for name, part in PARTS.items() if name in names)]


def _load(reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    return getattr(importlib.import_module(f"morphlm.experiments.{module}"), attribute)
