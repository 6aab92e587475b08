"""Learning curves: the development perplexity after each epoch."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from morphlm.analysis.learning_curves import LearningCurves
from morphlm.report.pictures.style import COLOURS, DASHES, MARKERS, new_figure, shortened


def draw(result: LearningCurves) -> Figure:
    """A line a model; its best epoch is filled."""
    figure = new_figure(6.5, 4.0)
    axes = figure.subplots()
    handles = []
    for number, (name, curve) in enumerate(result.curves.items()):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        (line,) = axes.plot(
            *zip(*curve, strict=True), color=colour, marker=marker, markersize=5, markerfacecolor="white",
            linestyle=DASHES[number // len(COLOURS) % len(DASHES)],
        )  # fmt: skip
        axes.plot(*result.best(name), color=colour, marker=marker, markersize=6.5)
        handles.append(line)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.grid(True)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("epoch (the best is filled)")
    axes.set_ylabel("development perplexity")
    labels = [f"{shortened(name)}: {result.best(name)[1]:.1f}" for name in result.curves]
    figure.legend(handles, labels, loc="outside right upper", fontsize=8)
    return figure
