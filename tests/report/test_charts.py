from __future__ import annotations

import math

import pytest

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.groups import Group
from morphlm.report.charts import Axis, axis_over, change_bars, line_chart
from tests.report.wellformed import Element, Page, parsed


def page_of(body: str) -> Page:
    return parsed(f"<!DOCTYPE html>\n<html><body>{body}</body></html>")


def places(element: Element, *names: str) -> list[float]:
    return [float(element.attributes[name] or "") for name in names]


def group(name: str, value: float, low: float, high: float, share: float = 0.5) -> Group:
    return Group(name, 10, share, 100.0, 100 * (1 + value), PerplexityChange(value, low, high))


def test_an_axis_maps_numbers_to_places() -> None:
    axis = Axis(0.0, 200.0, 50, 450)
    assert [axis(number) for number in (0, 50, 200)] == [50, 150, 450]
    assert axis.ticks(5) == [0, 50, 100, 150, 200]
    assert Axis(0.0, 1.0, 0, 1).ticks(3) == [0, 0.5, 1.0]
    assert Axis(-0.41, 0.0, 0, 1).ticks(4) == pytest.approx([-0.4, -0.2, 0.0])


def test_an_axis_over_one_number_or_none_has_room() -> None:
    for numbers in ([7.0], [0.0], [3.0, 3.0]):
        axis = axis_over(numbers, 0, 100)
        assert axis.low < numbers[0] < axis.high
        assert axis(numbers[0]) == 50
    same = axis_over([0.0], 0, 100, with_zero=True)
    assert (same(0.0), len(same.ticks(4))) == (50, 5)
    zero = axis_over([-0.5, -0.1], 0, 100, with_zero=True)
    assert (zero(0.0), zero.high) == (100, 0.0)


def test_curves_have_a_mark_for_each_point_and_differ_without_colours() -> None:
    series = {"clbl": [(1.0, 500.0), (2.0, 450.0)], "<clbl++>": [(1.0, 480.0), (2.0, 400.0), (3.0, 410.0)]}
    page = page_of(line_chart("curves", series, "epochs", "perplexity"))
    lines = page.all("path", class_="curve")[:2]
    first, second = (
        [tuple(map(float, p.split(","))) for p in (e.attributes["d"] or "")[1:].split(" L")] for e in lines
    )
    assert [len(first), len(second)] == [2, 3]
    assert first[0][0] == second[0][0]  # the same epoch
    assert first[0][1] < second[0][1]  # 500 is above 480
    assert second[1][1] > second[2][1]  # 400 is below 410
    assert "stroke-dasharray" not in lines[0].attributes
    assert lines[1].attributes["stroke-dasharray"]
    symbols = [element.attributes["d"] for element in page.all("path", class_="symbol")]
    assert len(symbols) == 5 + 2  # and those of the legend
    assert len(set(symbols)) == 2
    assert [entry.text for entry in page.all("li")] == ["clbl", "<clbl++>"]


def test_bars_begin_at_zero_and_have_their_intervals() -> None:
    groups = [group("1-9", -0.2, -0.25, -0.15, 0.25), group("10-99", 0.1, 0.05, 0.2, 0.75)]
    page = page_of(change_bars("bars", groups, group("all", -0.05, -0.1, 0.0, 1.0)))
    zero = places(page.all("line", class_="zero")[0], "x1")[0]
    less, more, whole = (places(bar, "x", "width") for bar in page.all("rect", class_="change"))
    assert less[0] + less[1] == pytest.approx(zero)
    assert more[0] == zero
    assert [less[1], whole[1]] == pytest.approx([2 * more[1], more[1] / 2], abs=0.4)
    whiskers = [places(line, "x1", "x2") for line in page.all("line", class_="whisker")]
    assert len(whiskers) == 9
    assert whiskers[0][0] < less[0] < whiskers[0][1]
    shares = [places(bar, "width")[0] for bar in page.all("rect", class_="share")]
    assert len(shares) == 2  # the whole has none
    assert shares[1] == pytest.approx(3 * shares[0], abs=0.2)


def test_groups_without_a_change_have_no_bar() -> None:
    empty = group("1-9", math.nan, math.nan, math.nan, 0.0)
    page = page_of(change_bars("bars", [empty], group("all", math.inf, 0.0, math.inf)))
    assert not page.all("rect", class_="change")
    assert {"1-9", "all"} <= {text.text for text in page.all("text")}


def test_a_change_without_an_interval_has_a_bar() -> None:
    """Of one sentence nothing tells how far it can be trusted."""
    alone = group("1-9", -0.2, math.nan, math.nan)
    page = page_of(change_bars("bars", [alone], group("all", -0.1, -0.2, -0.05)))
    less, whole = (places(bar, "width")[0] for bar in page.all("rect", class_="change"))
    assert less == pytest.approx(2 * whole, abs=0.2)
    assert len(page.all("line", class_="whisker")) == 3, "those of the whole"
