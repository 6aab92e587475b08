"""The texts of an experiment (Table 1) and the test perplexities of its models."""

from __future__ import annotations

from collections.abc import Iterator

from morphlm.analysis.selection import PAPER_KINDS, display
from morphlm.experiments.paper import NONE, corpus_cells
from morphlm.experiments.plan import WIDE
from morphlm.experiments.recipe import FIXED
from morphlm.experiments.sections.section import Found, Section
from morphlm.experiments.steps import amount
from morphlm.tables import Table, finite_or_none


def corpus(found: Found) -> Iterator[Section]:
    """A row a training text."""
    rows, content = [], []
    for cell in found.plan.cells:
        stages = found.outcome.get(cell.stages)
        if stages is None or cell.seed != found.plan.recipe.seeds[0]:
            continue
        fixed = f", words of {amount(found.plan.recipe.tokens[0])}" if cell.vocabulary == FIXED else ""
        name = f"{cell.texts.hints['name']}{fixed}"
        sizes = [f"{stages['tokens']:,}", f"{stages['vocabulary']:,}"]
        rows.append([name, f"{cell.kappa:g}", *sizes, *corpus_cells(cell.language, cell.tokens)])
        content.append({"text": name, "kappa": cell.kappa, "tokens": stages["tokens"], "words": stages["vocabulary"]})
    if rows:
        header = ["text", "kappa", "tokens", "|V|", "paper: tokens", "paper: |V|"]
        note = "paper: Table 1, of its own texts: a million tokens beside its DATA-1m, all text beside its DATA-Main"
        yield Section("corpus", "Texts", (Table(header, rows, [note]),), {"texts": content})


def _display(model: str) -> str:
    kind = model.removesuffix(WIDE)
    return display(kind) if kind == model else f"wide {display(kind)}"


def perplexity(found: Found) -> Iterator[Section]:
    """A row a training text, a column a model."""
    cells = [(cell, scores) for cell in found.plan.cells if (scores := found.scores(cell))]
    there = {kind for _, scores in cells for kind in scores}
    kinds = sorted(there, key=lambda kind: (PAPER_KINDS.index(kind.removesuffix(WIDE)), kind))
    rows = [
        [found.label(cell), *(f"{scores[kind].perplexity:.2f}" if kind in scores else NONE for kind in kinds)]
        for cell, scores in cells
    ]
    content = [
        {
            "text": found.label(cell),
            **{name: getattr(cell, name) for name in ("language", "tokens", "vocabulary", "kappa", "seed")},
            "perplexities": {kind: finite_or_none(score.perplexity) for kind, score in scores.items()},
            "signatures": {kind: score.signature for kind, score in scores.items()},
        }
        for cell, scores in cells
    ]
    if rows:
        table = Table(["text", *map(_display, kinds)], rows)
        title = "Perplexity of the test texts, unknown words included"
        yield Section("perplexity", title, (table,), {"perplexities": content})
