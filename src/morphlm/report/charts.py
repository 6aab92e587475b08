"""Small pictures for the page: SVG whose colours are those of style.css, so that they fit light and dark.

Pictures for papers are made by `report.pictures`; these have the same numbers, drawn for a screen of any width.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from morphlm.analysis.groups import Group
from morphlm.report.html import Markup, tag
from morphlm.report.numbers import decimal
from morphlm.tables import percent

WIDTH = 480
SERIES = 6  # colours of style.css
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "12 4")
SYMBOLS = (  # as on the map: told apart without colours
    "M-4,0 A4,4 0 1 0 4,0 A4,4 0 1 0 -4,0 Z",
    "M-3.5,-3.5 H3.5 V3.5 H-3.5 Z",
    "M0,-5 L5,0 L0,5 L-5,0 Z",
    "M-4.5,3.5 L0,-4.5 L4.5,3.5 Z",
    "M-4.5,-3.5 L4.5,-3.5 L0,4.5 Z",
    "M-4.5,-1.5 H-1.5 V-4.5 H1.5 V-1.5 H4.5 V1.5 H1.5 V4.5 H-1.5 V1.5 H-4.5 Z",
)
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """Maps numbers to coordinates in the picture."""

    low: float
    high: float
    begin: float  # place of `low`
    end: float

    def __call__(self, number: float) -> float:
        """The coordinate of a number, rounded so that equal pictures are equal bytes."""
        share = (number - self.low) / (self.high - self.low)
        return round(self.begin + share * (self.end - self.begin), 1)

    def ticks(self, count: int) -> list[float]:
        """About `count` round numbers."""
        step = _round_step((self.high - self.low) / count)
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _round_step(width: float) -> float:
    """1, 2 or 5 times a power of ten, not below the width."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= width * (1 - 1e-9))


def axis_over(numbers: Sequence[float], begin: float, end: float, *, with_zero: bool = False) -> Axis:
    """An axis that spans the numbers, with a margin except at an edge that is zero."""
    low, high = min(numbers), max(numbers)
    if with_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.06 * (high - low) or abs(high) * 0.1 or 0.1
    at_edge = with_zero and low < high  # of equal models all changes are 0, which is then in the middle
    return Axis(
        low if at_edge and low == 0 else low - margin, high if at_edge and high == 0 else high + margin, begin, end
    )


def _text(content: str, x: float, y: float, anchor: str = "start", class_: str | None = None) -> Markup:
    return tag("text", content, x=str(x), y=str(y), text_anchor=anchor, class_=class_)


def _line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return tag("line", x1=str(x1), y1=str(y1), x2=str(x2), y2=str(y2), class_=class_)


def _picture(name: str, height: int, *parts: Markup | list[Markup]) -> Markup:
    svg = tag("svg", tag("title", name), *parts, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=name)
    return tag("div", svg, class_="chart")


# ---------------------------------------------------------------- learning curves


def line_chart(name: str, series: Mapping[str, Points], x_name: str, y_name: str) -> Markup:
    """Lines with a symbol at each point, and a legend."""
    points = [point for line in series.values() for point in line]
    x = axis_over([point[0] for point in points], 52, WIDTH - 12)
    y = axis_over([point[1] for point in points], 240, 14)
    lines = [_series(number, line, x, y) for number, line in enumerate(series.values())]
    picture = _picture(
        name, 282, _grid(x, y), *lines, _text(x_name, WIDTH / 2 + 20, 276, "middle"), _text(y_name, 0, 10)
    )
    return tag("figure", picture, _legend(list(series)))


def _grid(x: Axis, y: Axis) -> list[Markup]:
    across = [(tick, y(tick)) for tick in y.ticks(5)]
    along = [(tick, x(tick)) for tick in x.ticks(8) if tick == int(tick)]
    lines = [_line(x.begin, position, x.end, position, "grid") for _, position in across]
    names = [_text(f"{tick:,.10g}", x.begin - 6, position + 4, "end") for tick, position in across]
    return lines + names + [_text(f"{tick:g}", position, y.begin + 18, "middle") for tick, position in along]


def _series(number: int, line: Points, x: Axis, y: Axis) -> Markup:
    positions = [(x(point[0]), y(point[1])) for point in line]
    path = tag(
        "path",
        d="M" + " L".join(f"{a},{b}" for a, b in positions),
        class_="curve",
        stroke_dasharray=DASHES[number % SERIES] or None,
    )
    marks = [
        tag("g", _symbol(number), tag("title", f"{point[0]:g}: {decimal(point[1])}"), transform=f"translate({a},{b})")
        for point, (a, b) in zip(line, positions, strict=True)
    ]
    return tag("g", path, marks, class_=_kind(number))


def _symbol(number: int) -> Markup:
    return tag("path", d=SYMBOLS[number % SERIES], class_="symbol")


def _kind(number: int) -> str:
    return f"kind-{number % SERIES + 1}"


def _legend(names: Sequence[str]) -> Markup:
    def sample(number: int) -> Markup:
        line = tag("path", d="M-14,0 H14", class_="curve", stroke_dasharray=DASHES[number % SERIES] or None)
        parts = tag("g", line, _symbol(number), class_=_kind(number))
        return tag("svg", parts, viewBox="-16 -7 32 14", width=32, height=14, aria_hidden="true")

    return tag(
        "ul", (tag("li", sample(number), tag("span", name)) for number, name in enumerate(names)), class_="legend"
    )


# ---------------------------------------------------------------- changes in groups


ROW, TOP = 27, 42  # heights of a row, and of the space above the first
LETTER = 7  # about as wide is one


def change_bars(name: str, groups: Sequence[Group], whole: Group) -> Markup:
    """A row a group: a bar for the change of perplexity with its interval, and one for its share of the text."""
    rows = [*groups, whole]
    left = 12 + LETTER * max(len(group.name) for group in rows)
    x = axis_over([number for group in rows for number in _drawn(group)] or [0.0], left, 346, with_zero=True)
    shares = Axis(0.0, max([group.share for group in groups], default=0) or 1.0, 372, 440)
    bottom = TOP + ROW * len(rows)
    ticks = [
        [_line(x(tick), TOP - 6, x(tick), bottom, "grid"), _text(percent(tick, 0), x(tick), TOP - 12, "middle")]
        for tick in x.ticks(4)
    ]
    bars = [_bar_row(group, TOP + ROW * k, x, shares if group is not whole else None) for k, group in enumerate(rows)]
    heads = [_text("change of perplexity", x.begin, 12), _text("share of the text", shares.begin - 4, 12)]
    zero = _line(x(0), TOP - 6, x(0), bottom, "zero")
    return tag("figure", _picture(name, bottom + 6, heads, *ticks, *bars, zero))


def _drawn(group: Group) -> list[float]:
    """The change and, where there is an interval, its bounds; nothing if there is no change to draw."""
    numbers = [group.change.value, group.change.low, group.change.high][: 3 if group.change.has_interval else 1]
    return numbers if all(map(math.isfinite, numbers)) else []


def _bar_row(group: Group, top: float, x: Axis, shares: Axis | None) -> Markup:
    middle = top + ROW / 2
    bars = _change_bar(group, top, x)
    if shares is not None:
        bars.append(_bar(shares.begin, shares(group.share), top, "share"))
        bars.append(_text(percent(group.share, 0), shares(group.share) + 4, middle + 4))
    title = tag("title", f"{group.name}: {group.change.format()}, {percent(group.share)} of the text")
    return tag("g", title, _text(group.name, x.begin - 8, middle + 4, "end"), bars)


def _change_bar(group: Group, top: float, x: Axis) -> list[Markup]:
    middle = top + ROW / 2
    bars = [_bar(x(0), x(value), top, "change") for value in _drawn(group)[:1]]
    if bounds := _drawn(group)[1:]:
        bars.append(_line(x(bounds[0]), middle, x(bounds[1]), middle, "whisker"))
    return bars + [_line(x(bound), middle - 4, x(bound), middle + 4, "whisker") for bound in bounds]


def _bar(begin: float, end: float, top: float, class_: str) -> Markup:
    left, width = min(begin, end), round(abs(end - begin), 1)
    return tag("rect", x=str(left), y=str(top + 5), width=str(width), height=str(ROW - 10), class_=class_)
