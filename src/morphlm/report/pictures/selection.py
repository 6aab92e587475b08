"""Box plots over languages: what each additive model changes against its base (paper, figure 2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from morphlm.analysis.selection import BASES, NGRAMS, Selection, check_box, display
from morphlm.report.pictures.style import BLUE, GREEN, GREY, INK, VERMILION, new_figure, percent_axis, shortened

BOX = 0.36  # width of a box; the distance of two is 1
LONGEST = 12  # letters of a language
BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 0.3}
GAP = 0.042  # of the axes' height, that the names of two languages keep


def draw(result: Selection) -> Figure:
    """A box a model; the languages stand beside it."""
    kinds = result.additive
    longest = max(len(shortened(language, LONGEST)) for language in result.languages)
    figure = new_figure(1.6 + (1.1 + 0.08 * longest) * len(kinds), 5.2)
    axes = figure.subplots()
    check_box(max(len(result.values(kind)) for kind in kinds))
    positions = _positions(kinds)
    boxes = {
        position: result.box(kind)
        for kind, position in zip(kinds, positions, strict=True)
        if len(result.values(kind)) > 1
    }
    stats = [
        {
            "med": box.median,
            "q1": box.lower,
            "q3": box.upper,
            "whislo": box.low,
            "whishi": box.high,
            "mean": box.mean,
            "fliers": np.array(box.outliers),
        }
        for box in boxes.values()
    ]
    axes.bxp(
        stats, positions=list(boxes), widths=BOX, showmeans=True, patch_artist=True, manage_ticks=False,
        boxprops={"facecolor": "#CFE3F1", "edgecolor": BLUE}, whiskerprops={"color": BLUE}, capprops={"color": BLUE},
        medianprops={"color": VERMILION, "linewidth": 2},
        meanprops={"marker": "o", "markerfacecolor": "white", "markeredgecolor": INK, "markersize": 5},
        flierprops={"marker": "x", "markeredgecolor": INK, "markersize": 6},
    )  # fmt: skip
    axes.set_xticks(positions, [display(kind) for kind in kinds])
    axes.set_xlim(positions[0] - 0.5, positions[-1] + 0.85)
    axes.tick_params(axis="x", length=0)
    percent_axis(axes, "y")
    axes.margins(y=0.08)
    axes.set_ylabel("change of perplexity against the base")
    for kind, position in zip(kinds, positions, strict=True):
        _languages(axes, position, result.values(kind))
    _name_bases(axes, result, dict(zip(kinds, positions, strict=True)))
    _explain(figure, result)
    return figure


def _positions(kinds: tuple[str, ...]) -> list[float]:
    """One step apart, and half a step more between the families."""
    families = list(dict.fromkeys(BASES[kind] for kind in kinds))
    return [position + 0.5 * families.index(BASES[kind]) for position, kind in enumerate(kinds)]


def _languages(axes: Axes, position: float, values: Mapping[str, float]) -> None:
    """A dot for each language, and its name where it does not hide another."""
    edge = position + BOX / 2 + 0.1
    low, high = axes.get_ylim()
    heights = _spread(np.array([(value - low) / (high - low) for value in values.values()]), GAP)
    axes.plot([edge] * len(values), list(values.values()), "o", color=GREEN, markersize=3, zorder=4)
    for (language, value), height in zip(values.items(), heights, strict=True):
        label_height = low + height * (high - low)
        axes.plot([edge, edge + 0.09], [value, label_height], color=GREY, linewidth=0.5, zorder=3)
        axes.text(
            edge + 0.11, label_height, shortened(language, LONGEST), fontsize=7, va="center", zorder=4, bbox=BEHIND
        )
    axes.set_ylim(low, high)


def _spread(heights: np.ndarray, gap: float) -> np.ndarray:
    """Move heights apart until any two differ by the gap; their order stays, and crowds stay where they were."""
    order = np.argsort(heights, kind="stable")
    groups: list[list[float]] = []  # each: the heights of neighbours that touch
    for height in heights[order]:
        groups.append([height])
        while len(groups) > 1 and _bottom(groups[-1], gap) - _top(groups[-2], gap) < gap:
            groups[-2:] = [groups[-2] + groups[-1]]
    spread = [_bottom(group, gap) + gap * k for group in groups for k in range(len(group))]
    result = np.empty(len(heights))
    result[order] = spread
    return result


def _bottom(group: list[float], gap: float) -> float:
    return float(np.mean(group)) - gap * (len(group) - 1) / 2


def _top(group: list[float], gap: float) -> float:
    return float(np.mean(group)) + gap * (len(group) - 1) / 2


def _name_bases(axes: Axes, result: Selection, positions: Mapping[str, float]) -> None:
    """Below the boxes of a family: what they are compared with, and its median perplexity."""
    for base in result.bases:
        own = [position for kind, position in positions.items() if BASES[kind] == base]
        text = f"against {display(base)}\n(median perplexity {result.median_perplexity(base):.0f})"
        axes.annotate(
            text, (sum(own) / len(own), 0), (0, -22), xycoords=axes.get_xaxis_transform(),
            textcoords="offset points", ha="center", va="top", color=INK,
        )  # fmt: skip


def _explain(figure: Figure, result: Selection) -> None:
    count = len(result.languages)
    ngrams = result.median_perplexity(NGRAMS)
    title = f"{count} languages" + ("" if np.isnan(ngrams) else f"; median perplexity of MKN {ngrams:.0f}")
    marks = {
        "median": Line2D([], [], color=VERMILION, linewidth=2),
        "mean": Line2D([], [], marker="o", linestyle="", markerfacecolor="white", markeredgecolor=INK, markersize=5),
        "a language": Line2D([], [], marker="o", linestyle="", color=GREEN, markersize=3),
        "outlier": Line2D([], [], marker="x", linestyle="", color=INK, markersize=6),
    }
    if not any(result.box(kind).outliers for kind in result.additive if len(result.values(kind)) > 1):
        del marks["outlier"]
    figure.axes[0].set_title(title)
    figure.legend(list(marks.values()), list(marks), loc="outside upper right", ncols=len(marks), fontsize=8)
