"""MKN, CLBL and CLBL++: at one or more rates kappa (Table 2), and on more and more text (figure 5)."""

from __future__ import annotations

from collections.abc import Iterator

from morphlm.analysis.bootstrap import bootstrap_note
from morphlm.analysis.model_triple import COLUMNS, TRIPLE
from morphlm.analysis.pruning import Pruning, compare_pruning, pruning_row
from morphlm.analysis.scaling import Scaling, ScalingPoint, compare_scaling, scaling_point
from morphlm.experiments.paper import in_percent, paper, table2_cells
from morphlm.experiments.recipe import FIXED, GROWING
from morphlm.experiments.sections.section import SEED, PlanResults, ReportSection
from morphlm.experiments.steps.scores import ScoresStep
from morphlm.tables import Table


def table2(results: PlanResults) -> Iterator[ReportSection]:
    """A row a language and rate, the paper's numbers behind ours."""
    rows = [
        pruning_row(results.label(cell, kappa=False), {kind: scores[kind] for kind in TRIPLE})
        for cell in results.plan.cells
        if (scores := results.of(cell, ScoresStep)).keys() >= {*TRIPLE} and cell.vocabulary == GROWING
    ]
    if not rows:
        return
    pruning = compare_pruning(rows)
    several = len(pruning.kappas) > 1
    rates = ", ".join(f"{kappa:g}" for kappa in pruning.kappas)
    title = "MKN, CLBL and CLBL++" + (f" at kappa = {rates}" if several else "") + " (Table 2)"
    pictures = {"kappa": pruning} if several else {}
    yield ReportSection("kappa" if several else "main", title, (_beside_paper(pruning),), pruning.to_json(), pictures)


def _beside_paper(pruning: Pruning) -> Table:
    """The paper's numbers behind ours."""
    order = sorted(pruning.rows, key=lambda row: (row.kappa, pruning.languages.index(row.language)))
    rows = [
        [f"{row.kappa:g}", row.language, *row.models.cells(), *table2_cells(row.kappa, row.language.partition(" ")[0])]
        for row in order
    ]
    header = ["kappa", "language", *COLUMNS, *(f"paper: {name}" for name in COLUMNS)]
    less = pruning.gains_less
    highest = f"{pruning.kappas[-1]:g}"
    notes = ["Rel.1: CLBL against MKN; Rel.2: CLBL++ against CLBL", bootstrap_note(SEED)]
    if less:
        count = f"{sum(less.values())} of {len(less)}"
        notes.insert(1, f"CLBL++ gains less over CLBL at kappa = {highest} in {count}; paper: in 6 of 6")
    return Table(header, rows, notes)


# ---------------------------------------------------------------- figure 5


def scaling_section(results: PlanResults) -> Iterator[ReportSection]:
    """A section for each text and rate: only perplexities of one text can be in one series."""
    groups: dict[tuple[str, float], dict[str, dict[int, ScalingPoint]]] = {}
    for cell in results.plan.cells:
        scores = results.of(cell, ScoresStep)
        if scores.keys() >= {*TRIPLE} and cell.seed == results.plan.recipe.seeds[0]:
            point = scaling_point({kind: scores[kind] for kind in TRIPLE})
            series = groups.setdefault((cell.texts.text, cell.kappa), {FIXED: {}, GROWING: {}})
            # Where there is less text than was asked for, two amounts are the same text.
            series[cell.vocabulary].setdefault(point.tokens, point)
    for (text, kappa), series in groups.items():
        scaling = compare_scaling(series[FIXED].values(), series[GROWING].values())
        yield _scaling_of(scaling, text, f"{text} kappa {kappa:g}" if len(groups) > 1 else "")


def _scaling_of(scaling: Scaling, text: str, label: str) -> ReportSection:
    """A row an amount of text, then the largest beside the largest of the paper, where that is of this text."""
    table = scaling.to_table()
    notes = [*list(table.notes)[:1], bootstrap_note(SEED)]
    tables = [Table(table.header, table.rows, notes)]
    tables += [_largest(scaling)] if text == paper()["scaling"]["language"] else []
    name = "-".join(["scaling", *label.split()])
    title = "More training text (figure 5)" + (f": {label}" if label else "")
    pictures = {name: scaling} if max(map(len, scaling.series.values())) > 1 else {}
    return ReportSection(name, title, tuple(tables), scaling.to_json(), pictures)


def _largest(scaling: Scaling) -> Table:
    """The largest text with a growing vocabulary beside the paper's 128m tokens."""
    stated = paper()["scaling"]
    point = (scaling.growing or scaling.fixed)[-1]
    low, high = (in_percent(value) for value in stated["clbl"])
    rows = [
        ["CLBL++ against MKN", in_percent(stated["mkn"]), point.models.both.format()],
        ["CLBL++ against CLBL", f"{low} to {high}", point.models.second.format()],
    ]
    return Table(["the largest text", "paper: 128m tokens", f"here: {point.tokens:,} tokens"], rows)
