"""Relative change by groups of tokens, and how much of the text each group is (paper, figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.groups import Group, GroupComparison
from morphlm.report.pictures.style import (
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    file_name,
    finite,
    new_figure,
    percent_axis,
    shortened,
    value_text,
    whiskers,
)
from morphlm.tables import percent

ROW = 0.3  # inches for each group
WIDTH = 7.5
COLUMNS = 2  # of comparisons side by side
VALUE = 0.72  # inches that a value beside a bar takes


def draw(results: Sequence[GroupComparison]) -> Figure:
    """Each comparison has a panel of changes and one of shares, with a row for each group; all have one scale."""
    columns = min(COLUMNS, len(results))
    lines = -(-len(results) // columns)
    most = max(len(result.groups) for result in results) + 1
    figure = new_figure(WIDTH * (1 if columns == 1 else 1.7), lines * (1.1 + ROW * most) + 0.2)
    panels = figure.subplots(lines, 2 * columns, squeeze=False, width_ratios=[3, 1.2] * columns).reshape(-1, 2)
    for (left, right), result in zip(panels, results, strict=False):
        _draw_one(left, right, result)
    for axes in panels[len(results) :].flat:
        axes.set_axis_off()
    _one_scale(figure, panels[: len(results)], results)
    return figure


def _draw_one(left: Axes, right: Axes, result: GroupComparison) -> None:
    rows = [*result.groups, result.whole]
    baseline, other = (shortened(name, 20) for name in result.names)
    left.set_title(f"{file_name(result.text)}: {shortened(result.title)}")
    left.set_xlabel(f"change of perplexity, {other} against {baseline}")
    _changes(left, rows)
    _shares(right, rows)


def _changes(axes: Axes, rows: Sequence[Group]) -> None:
    """Less perplexity is better: these bars are blue; the others are orange."""
    values = finite([group.change for group in rows])
    axes.barh(range(len(rows)), values, 0.68, color=[BLUE if value <= 0 else VERMILION for value in values], zorder=2)
    whiskers(axes, [group.change for group in rows], list(range(len(rows))), "x")
    axes.set_yticks(range(len(rows)), [shortened(group.name) for group in rows])
    axes.get_yticklabels()[-1].set_fontweight("bold")
    axes.axhline(len(rows) - 1.5, color=GREY, linewidth=0.6)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    percent_axis(axes, "x")
    for row, group in enumerate(rows):
        _value_beside(axes, row, group.change)


def _value_beside(axes: Axes, row: int, change: PerplexityChange) -> None:
    """The value stands beyond the end of bar and whisker, away from zero."""
    side = -1 if change.value < 0 else 1
    axes.annotate(
        value_text(change), (_end(change), row), (4 * side, 0), textcoords="offset points",
        ha="right" if side < 0 else "left", va="center", fontsize=8,
    )  # fmt: skip


def _end(change: PerplexityChange) -> float:
    """Where the whisker ends that points away from zero, or else the bar."""
    bound = change.low if change.value < 0 else change.high
    return next((value for value in (bound, change.value) if np.isfinite(value)), 0.0)


def _one_scale(figure: Figure, panels: Any, results: Sequence[GroupComparison]) -> None:
    """Equal limits in all panels, with space for the values beside the longest bars."""
    figure.draw_without_rendering()  # gives the panels their widths
    ends = [_end(group.change) for result in results for group in (*result.groups, result.whole)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    widest = float(min(axes.get_window_extent().width for axes, _ in panels)) / figure.dpi
    share = min(VALUE / widest, 0.4)  # of a panel, that a value takes
    sides = (low < 0) + (high > 0)
    label_space = (high - low or 1.0) / (1 - sides * share) * share
    margin = 0.03 * (high - low or 1.0)
    most = max([0.01, *(group.share for result in results for group in result.groups)])
    for left, right in panels:
        left.set_xlim(low - (label_space if low < 0 else margin), high + (label_space if high > 0 else margin))
        right.set_xlim(0, 1.55 * most)


def _shares(axes: Axes, rows: Sequence[Group]) -> None:
    """Striped bars, as in the paper; the whole text needs none."""
    shares = [group.share for group in rows[:-1]]
    axes.barh(range(len(shares)), shares, 0.68, facecolor="white", edgecolor=ORANGE, hatch="////", zorder=2)
    for row, share in enumerate(shares):
        axes.annotate(percent(share), (share, row), (4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks([])
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_title("share of the text", fontweight="normal", fontsize=9)
