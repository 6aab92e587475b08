"""Relative changes against the amount of training text, with fixed and growing vocabulary (paper, figure 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.model_triple import ModelTriple
from morphlm.analysis.scaling import Scaling, ScalingPoint
from morphlm.language_model.signature import in_thousands
from morphlm.report.pictures.style import BLUE, GREEN, VERMILION, errors_of, file_name, new_figure, percent_axis

LINES: dict[str, tuple[Callable[[ModelTriple], PerplexityChange], str, str]] = {
    "CLBL against MKN": (lambda models: models.first, BLUE, "o"),
    "CLBL++ against MKN": (lambda models: models.both, VERMILION, "s"),
    "CLBL++ against CLBL": (lambda models: models.second, GREEN, "^"),
}
DASHES: dict[str, Literal["-", "--"]] = {"fixed": "--", "growing": "-"}
NEAR = 1.12  # amounts of text whose ratio is less share a tick


def draw(result: Scaling) -> Figure:
    """Left both models against MKN, right one against the other, whose changes are smaller."""
    figure = new_figure(8.6, 4.4)
    left, right = figure.subplots(1, 2, width_ratios=[1.1, 1])
    for name, line in LINES.items():
        axes = right if name.endswith("CLBL") else left
        for series, points in result.series.items():
            _line(axes, points, line, series)
    for axes, title in ((left, "against MKN"), (right, "CLBL++ against CLBL")):
        axes.set_title(title)
        axes.set_ylabel("change of perplexity")
        axes.set_xlabel("training tokens")
        percent_axis(axes, "y")
        _amounts(axes, [point.tokens for points in result.series.values() for point in points])
    _explain(figure, result)
    return figure


def _line(
    axes: Axes,
    points: Sequence[ScalingPoint],
    line: tuple[Callable[[ModelTriple], PerplexityChange], str, str],
    series: str,
) -> None:
    choose, colour, marker = line
    changes = [choose(point.models) for point in points]
    axes.errorbar(
        [point.tokens for point in points], [change.value for change in changes], yerr=errors_of(changes),
        color=colour, marker=marker, markersize=5, linestyle=DASHES[series], capsize=2.5, elinewidth=1,
        markerfacecolor="white" if series == "fixed" else colour, zorder=4,
    )  # fmt: skip


def _amounts(axes: Axes, tokens: Sequence[int]) -> None:
    """Amounts commonly double, so the axis is logarithmic; a tick for each."""
    axes.set_xscale("log")
    ticks: list[int] = []
    for amount in sorted(set(tokens)):
        if not ticks or amount / ticks[-1] > NEAR:
            ticks.append(amount)
    axes.xaxis.set_major_locator(FixedLocator([float(tick) for tick in ticks]))
    axes.set_xticks(ticks, [_amount(tick) for tick in ticks], rotation=45 if len(ticks) > 6 else 0)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(ticks[0] / 1.25, ticks[-1] * 1.25)


def _amount(tokens: int) -> str:
    """Three digits: 16m, 1.05m, 250k."""
    return f"{tokens / 1e6:.3g}m" if tokens >= 999_500 else f"{tokens / 1e3:.3g}k" if tokens >= 1_000 else str(tokens)


def _explain(figure: Figure, result: Scaling) -> None:
    handles = {name: Line2D([], [], color=colour, marker=marker) for name, (_, colour, marker) in LINES.items()}
    for series, points in result.series.items():
        sizes = [point.vocabulary for point in points]
        smallest, largest = in_thousands(min(sizes)), in_thousands(max(sizes))
        words = smallest if len(set(sizes)) == 1 else f"{smallest} to {largest}"
        face = "white" if series == "fixed" else "black"
        handles[f"{series} vocabulary ({words})"] = Line2D(
            [], [], color="black", linestyle=DASHES[series], marker="o", markerfacecolor=face
        )
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=3, fontsize=8)
    if result.text:
        figure.suptitle(file_name(result.text), x=0.01, ha="left", fontsize=10)
