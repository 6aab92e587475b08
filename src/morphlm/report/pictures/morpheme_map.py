"""The map of morphemes as a picture, with as many names as there is room for (paper, figure 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from morphlm.analysis.morpheme_map import MapPoint, MorphemeMap
from morphlm.report.pictures.style import BLUE, GREY, PURPLE, VERMILION, new_figure, shortened
from morphlm.segmentation.morphemes import PREFIX, STEM, SUFFIX

KINDS = {  # label -> what it is called, colour, marker
    PREFIX: ("prefix", BLUE, "<"),
    SUFFIX: ("suffix", VERMILION, ">"),
    STEM: ("stem", GREY, "o"),
    None: ("morpheme", PURPLE, "o"),
}
SIZE = 10.0  # inches
DOT = 3.0  # points: a marker's diameter
LONGEST = 16
Box = tuple[float, float, float, float]  # left, bottom, right, top, in pixels


def draw(result: MorphemeMap) -> Figure:
    """Affixes in colour, stems in grey; shapes tell them apart too."""
    figure = new_figure(SIZE, SIZE * 0.86)
    axes = figure.subplots()
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(*_extent([point.y for point in result.points]))
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_axis_off()
    handles = {}
    for label, (name, colour, marker) in KINDS.items():
        points = [point for point in result.points if point.label == label]
        if points:
            coordinates = [point.x for point in points], [point.y for point in points]
            (handles[name],) = axes.plot(*coordinates, marker, color=colour, markersize=DOT, zorder=2)
    figure.legend(list(handles.values()), list(handles), loc="outside upper right", ncols=len(handles), markerscale=2.5)
    place_names(figure, axes, result.points)
    return figure


def _extent(values: Sequence[float]) -> tuple[float, float]:
    """A map is wider than high, or not: no empty room above and below it."""
    low, high = min(values), max(values)
    margin = 0.03 * (high - low or 1)
    return low - margin, high + margin


def name_of(point: MapPoint) -> str:
    """`ver-`, `-ung`, `haus`: what is missing of a word shows as a hyphen."""
    form = shortened(point.form, LONGEST)
    if point.label == PREFIX and not form.endswith("-"):
        return f"{form}-"
    return f"-{form}" if point.label == SUFFIX and not form.startswith("-") else form


def place_names(figure: Figure, axes: Axes, points: Sequence[MapPoint]) -> list[Text]:
    """Write the names beside their dots, affixes and frequent morphemes first; one that finds no room is left out."""
    figure.draw_without_rendering()  # the axes get their size, and keep it
    figure.set_layout_engine("none")
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]  # the canvas is Agg's
    dots = axes.transData.transform([(point.x, point.y) for point in points])
    taken = _Taken(dots, DOT / 2 * figure.dpi / 72, np.asarray(axes.get_window_extent(renderer).extents))
    written = []
    for number in sorted(range(len(points)), key=lambda number: (points[number].label == STEM, number)):
        text = _text(axes, points[number])
        extent = text.get_window_extent(renderer)
        box = taken.find(number, extent.width, extent.height)
        if box is None:
            text.remove()
            continue
        x, y = axes.transData.inverted().transform(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
        text.set_position((float(x), float(y)))
        written.append(text)
    return written


def _text(axes: Axes, point: MapPoint) -> Text:
    colour = KINDS[point.label][1]
    is_stem = point.label == STEM
    return axes.text(
        point.x, point.y, name_of(point), fontsize=6.5 if is_stem else 7.5, color="#444444" if is_stem else colour,
        ha="center", va="center", zorder=3,
    )  # fmt: skip


class _Taken:
    """What is on the map already: all dots, and the names that are written."""

    def __init__(self, dots: np.ndarray, radius: float, frame: np.ndarray) -> None:
        self.dots, self.radius, self.frame = dots, radius, frame
        self.boxes = np.zeros((0, 4))

    def find(self, number: int, width: float, height: float) -> Box | None:
        """The first place beside a dot where its name hides nothing; it is taken then."""
        for box in self._candidates(number, width, height):
            if self._is_free(box, number):
                self.boxes = np.vstack([self.boxes, box])
                return box
        return None

    def _candidates(self, number: int, width: float, height: float) -> list[Box]:
        """Right, left, above, below, and the corners."""
        x, y = self.dots[number]
        away = self.radius + 2.5
        right, left = x + away + width / 2, x - away - width / 2
        above, below = y + away + height / 2, y - away - height / 2
        centres = [(right, y), (left, y), (x, above), (x, below)]
        centres += [(right, above), (left, above), (right, below), (left, below)]
        return [(cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2) for cx, cy in centres]

    def _is_free(self, box: Box, number: int) -> bool:
        left, bottom, right, top = box
        if left < self.frame[0] or bottom < self.frame[1] or right > self.frame[2] or top > self.frame[3]:
            return False
        x, y, reach = self.dots[:, 0], self.dots[:, 1], self.radius
        hidden = (x > left - reach) & (x < right + reach) & (y > bottom - reach) & (y < top + reach)
        hidden[number] = False
        others = self.boxes
        crossed = (others[:, 0] < right) & (others[:, 2] > left) & (others[:, 1] < top) & (others[:, 3] > bottom)
        return not (hidden.any() or crossed.any())
