"""The texts of an experiment (Table 1) and the test perplexities of its models."""

from __future__ import annotations

from collections.abc import Iterator

from morphlm.analysis.selection import PAPER_KINDS, display
from morphlm.experiments.paper import NONE, corpus_cells
from morphlm.experiments.plan import WIDE
from morphlm.experiments.recipe import FIXED, format_amount
from morphlm.experiments.sections.section import PlanResults, ReportSection
from morphlm.experiments.steps.scores import ScoresStep
from morphlm.tables import Table, finite_or_none


def corpus(results: PlanResults) -> Iterator[ReportSection]:
    """A row a training text."""
    rows, content = [], []
    for cell in results.plan.cells:
        inputs = results.outcome.get(cell.inputs)
        if inputs is None or cell.seed != results.plan.recipe.seeds[0]:
            continue
        fixed = f", words of {format_amount(results.plan.recipe.tokens[0])}" if cell.vocabulary == FIXED else ""
        name = f"{cell.texts.title}{fixed}"
        sizes = [f"{inputs['tokens']:,}", f"{inputs['vocabulary']:,}"]
        rows.append([name, f"{cell.kappa:g}", *sizes, *corpus_cells(cell.language, cell.tokens)])
        content.append({"text": name, "kappa": cell.kappa, "tokens": inputs["tokens"], "words": inputs["vocabulary"]})
    if rows:
        header = ["text", "kappa", "tokens", "|V|", "paper: tokens", "paper: |V|"]
        note = "paper: Table 1, of its own texts: a million tokens beside its DATA-1m, all text beside its DATA-Main"
        yield ReportSection("corpus", "Texts", (Table(header, rows, [note]),), {"texts": content})


def _display(model: str) -> str:
    kind = model.removesuffix(WIDE)
    return display(kind) if kind == model else f"wide {display(kind)}"


def _position(model: str) -> tuple[int, str]:
    """The paper's kinds in its order, then others."""
    kind = model.removesuffix(WIDE)
    return (PAPER_KINDS.index(kind) if kind in PAPER_KINDS else len(PAPER_KINDS), model)


def perplexity(results: PlanResults) -> Iterator[ReportSection]:
    """A row a training text, a column a model."""
    cells = [(cell, scores) for cell in results.plan.cells if (scores := results.of(cell, ScoresStep))]
    kinds = sorted({kind for _, scores in cells for kind in scores}, key=_position)
    rows = [
        [results.label(cell), *(f"{scores[kind].perplexity:.2f}" if kind in scores else NONE for kind in kinds)]
        for cell, scores in cells
    ]
    content = [
        {
            "text": results.label(cell),
            **{name: getattr(cell, name) for name in ("language", "tokens", "vocabulary", "kappa", "seed")},
            "perplexities": {kind: finite_or_none(score.perplexity) for kind, score in scores.items()},
            "signatures": {kind: score.signature for kind, score in scores.items()},
        }
        for cell, scores in cells
    ]
    if rows:
        table = Table(["text", *map(_display, kinds)], rows)
        title = "Perplexity of the test texts, unknown words included"
        yield ReportSection("perplexity", title, (table,), {"perplexities": content})
