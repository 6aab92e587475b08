"""What CLBL and CLBL++ gain, with few and with all words that occur once pruned (paper, Table 2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.model_triple import ModelTriple
from morphlm.analysis.pruning import Pruning
from morphlm.report.pictures.style import (
    COLOURS,
    finite,
    new_figure,
    percent_axis,
    shortened,
    whiskers,
)

BAR = 0.31  # inches that a bar takes
LETTER = 0.09  # and a letter
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\")


def draw(result: Pruning) -> Figure:
    """A group of bars a language, a bar a rate; left what CLBL++ gains over CLBL, right CLBL over MKN."""
    bars = len(result.languages) * len(result.kappas)
    figure = new_figure(max(6.0, 2.4 + 2 * BAR * bars), 4.2)
    left, right = figure.subplots(1, 2)
    _bars(left, result, lambda models: models.second, "CLBL++ against CLBL")
    _bars(right, result, lambda models: models.first, "CLBL against MKN")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _bars(axes: Axes, result: Pruning, choose: Callable[[ModelTriple], PerplexityChange], title: str) -> None:
    width = 0.8 / len(result.kappas)
    for number, kappa in enumerate(result.kappas):
        positions = np.arange(len(result.languages)) + (number - (len(result.kappas) - 1) / 2) * width
        rows = [result.row(language, kappa) for language in result.languages]
        changes = [PerplexityChange(*[float("nan")] * 3) if row is None else choose(row.models) for row in rows]
        axes.bar(
            positions, finite(changes), width * 0.92, label=f"κ = {kappa:g}", zorder=2, edgecolor="white",
            color=COLOURS[number % len(COLOURS)], hatch=HATCHES[number % len(HATCHES)], linewidth=0,
        )  # fmt: skip
        whiskers(axes, changes, positions.tolist(), "y")
    names = [shortened(language, 16) for language in result.languages]
    axes.set_xticks(range(len(names)), names)
    if max(map(len, names)) * LETTER > max(BAR * len(result.kappas), 2.0 / len(names)):
        for label in axes.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0)
    axes.set_title(title)
    axes.set_ylabel("change of perplexity")
    percent_axis(axes, "y")
