"""What is printed of an experiment: a section for each part that its recipe names, our numbers beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from morphlm.errors import MorphlmError
from morphlm.experiments.plan import Plan
from morphlm.experiments.running import Outcome
from morphlm.experiments.sections import groups, selection, similarity, texts, three_models, translation
from morphlm.experiments.sections.section import Found, Section, signatures_in

__all__ = ["Section", "sections_of", "signatures_in"]


def sections_of(plan: Plan, outcome: Outcome) -> tuple[list[Section], dict[str, str]]:
    """All parts of which there is something to show, and why others cannot be made."""
    makers: dict[str, Callable[[Found], Iterable[Section]]] = {
        "corpus": texts.corpus,
        "perplexity": texts.perplexity,
        "selection": selection.selection_section,
        "main": three_models.table2,
        "kappa": three_models.table2,
        "scaling": three_models.scaling_section,
        "frequency": groups.frequency,
        "tags": groups.tags,
        "similarity": similarity.similarity,
        "translation": translation.translation,
    }
    found = Found(plan, outcome)
    sections: list[Section] = []
    failures = {}
    parts = {makers[part]: part for part in reversed(plan.recipe.print)}  # `main` and `kappa` are one table
    for part in plan.recipe.print:
        if part not in parts.values():
            continue
        try:
            sections += makers[part](found)
        except MorphlmError as error:  # the others can be shown all the same
            failures[f"the part {part}"] = str(error)
    return sections, failures
