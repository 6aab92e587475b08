"""Pictures: what is drawn is what was found, nothing overlaps, and equal results give equal bytes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.groups import Group, GroupComparison
from morphlm.analysis.learning_curves import LearningCurves
from morphlm.analysis.morpheme_map import MapPoint, MorphemeMap
from morphlm.analysis.pruning import PruningRow, compare_pruning
from morphlm.analysis.scaling import ScalingPoint, compare_scaling
from morphlm.analysis.selection import select
from morphlm.errors import ConfigError, InputError
from morphlm.report.pictures import check_picture, figure_of, picture_svg, save_picture
from morphlm.report.pictures.selection import _spread
from morphlm.report.pictures.style import shortened
from tests.analysis.triples import model_triple

NOTHING = float("nan")


def group(name: str, change: float, share: float, reach: float = 0.02) -> Group:
    return Group(
        name,
        int(1000 * share),
        share,
        100.0,
        100 * (1 + change),
        PerplexityChange(change, change - reach, change + reach),
    )


def comparison(*groups: Group, text: str = "/some/where/test.cs.txt") -> GroupComparison:
    return GroupComparison("frequency", text, ("CLBL", "CLBL++"), groups, group("all", -0.05, 1.0), ("a", "b"), 1)


def random_map(count: int = 150, crowd: float = 0.05) -> MorphemeMap:
    rng = np.random.default_rng(3)
    places = np.clip(rng.integers(1, 9, (count, 2)) / 9 + crowd * rng.standard_normal((count, 2)), 0, 1)
    labels = ["PRE", "STM", "SUF"]
    points = [
        MapPoint(f"morph{k}/{labels[k % 3]}", f"morph{k}", labels[k % 3], 3, 9, ("a",), float(x), float(y), ())
        for k, (x, y) in enumerate(places)
    ]
    return MorphemeMap(tuple(points), "both", 1, 30.0)


GROUPS = comparison(group("unseen", -0.01, 0.1), group("1-9", -0.2, 0.3), group("10-99", 0.04, 0.6))
SELECTION = select(
    {
        "cs": {"mkn": 700.0, "lbl": 600.0, "lbl++": 480.0, "clbl": 520.0, "clbl++": 468.0},
        "de": {"mkn": 300.0, "clbl": 260.0, "clbl++": 247.0},
    }
)
SCALING = compare_scaling(
    [ScalingPoint(1_000_000, 90, model_triple(100, 90, 80)), ScalingPoint(2_000_000, 90, model_triple(100, 91, 85))],
    [ScalingPoint(1_000_000, 90, model_triple(100, 90, 80)), ScalingPoint(2_000_000, 150, model_triple(100, 92, 88))],
    text="test.cs.txt",
)
PRUNING = compare_pruning(
    [
        PruningRow(language, kappa, model_triple(100, 90, 80 + 5 * kappa))
        for language in ("cs", "de")
        for kappa in (0.05, 1.0)
    ]
)
CURVES = LearningCurves({"clbl": ((1, 9.0), (2, 8.0), (3, 8.5)), "clbl++": ((1, 8.0), (2, 7.0))})
RESULTS: dict[str, Any] = {
    "groups": GROUPS,
    "several groups": [GROUPS, replace(GROUPS, text="test.de.txt"), GROUPS],
    "selection": SELECTION,
    "scaling": SCALING,
    "pruning": PRUNING,
    "map": random_map(60),
    "curves": CURVES,
}
WORDS = {
    "groups": ["unseen", "−20.0 %", "60.0 %", "test.cs.txt: frequency", "CLBL++ against CLBL"],
    "several groups": ["test.de.txt: frequency"],
    "selection": [
        "LBL++",
        "against CLBL",
        "(median perplexity 390)",
        "cs",
        "2 languages; median perplexity of MKN 500",
    ],
    "scaling": ["1m", "2m", "fixed vocabulary (90)", "growing vocabulary (90 to 150)", "test.cs.txt"],
    "pruning": ["κ = 0.05", "κ = 1", "cs", "CLBL++ against CLBL"],
    "map": ["prefix", "suffix", "stem", "morph0-", "-morph2"],
    "curves": ["clbl: 8.0", "clbl++: 7.0", "epoch (the best is filled)"],
}


def axes_of(result: Any) -> Any:
    return figure_of(result).axes


def texts(svg: str) -> list[str]:
    return [
        "".join(element.itertext()) for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")
    ]


@pytest.mark.parametrize("name", RESULTS)
def test_words_can_be_read_and_nothing_is_fetched(name: str) -> None:
    svg = picture_svg(RESULTS[name])
    found = texts(svg)
    for words in WORDS[name]:
        assert any(words in text for text in found), words
    links = re.findall(r'(?:href="|url\()([^")]*)', svg)
    assert all(link.startswith("#") for link in links)
    assert not re.search(r"<(image|script|style|!DOCTYPE)|@import|<\?xml", svg)


@pytest.mark.parametrize(
    ("name", "extension"),
    [("groups", "svg"), ("groups", "png"), ("curves", "pdf"), ("selection", "svg"), ("map", "svg"), ("map", "png")],
)
def test_equal_results_give_equal_bytes(name: str, extension: str, tmp_path: Path) -> None:
    for place in ("a", "b"):
        save_picture(RESULTS[name], tmp_path / f"{place}.{extension}")
    first = (tmp_path / f"a.{extension}").read_bytes()
    assert first == (tmp_path / f"b.{extension}").read_bytes()
    assert first.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[extension])
    assert not re.search(rb"20\d\d-\d\d-\d\d|CreationDate|[Mm]atplotlib v", first)


def test_pictures_on_one_page_have_their_own_ids() -> None:
    page = "".join(picture_svg(RESULTS[name]) for name in ("groups", "selection", "scaling", "map", "curves"))
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids)) > 10
    assert set(re.findall(r'(?:href="#|url\(#)([^")]*)', page)) <= set(ids)


def test_settings_of_matplotlib_stay_as_they_are() -> None:
    before = dict(matplotlib.rcParams)
    picture_svg(GROUPS)
    assert dict(matplotlib.rcParams) == before


def test_a_users_settings_do_not_count() -> None:
    wanted = picture_svg(CURVES)
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "axes.facecolor": "black"}):
        assert picture_svg(CURVES) == wanted


def test_matplotlib_and_scikit_learn_wait_until_they_are_needed() -> None:
    code = "import sys, morphlm.report.pictures as _; print([m for m in ('matplotlib', 'sklearn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"[]\n"


# ------------------------------------------------------------ groups


def boxes_of_texts(figure: Any, axes: Sequence[Any]) -> list[Any]:
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    found = []
    for one in axes:
        labels = [*one.texts, *one.get_yticklabels()]
        found += [text.get_window_extent(renderer) for text in labels if text.get_text() and text.get_visible()]
    return found


def overlapping(boxes: Sequence[Any]) -> list[Any]:
    shrunk = [box.padded(-0.5) for box in boxes]
    return [pair for pair in combinations(shrunk, 2) if pair[0].overlaps(pair[1])]


def test_bars_are_as_long_as_the_changes_and_shares() -> None:
    left, right = axes_of(GROUPS)
    assert [bar.get_width() for bar in left.patches] == [-0.01, -0.2, 0.04, -0.05]
    assert [bar.get_width() for bar in right.patches] == [0.1, 0.3, 0.6]
    assert {bar.get_hatch() for bar in right.patches} == {"////"}
    (segments,) = [collection.get_segments() for collection in left.collections if len(collection.get_segments()) == 4]
    assert [segment[:, 0].tolist() for segment in segments][1] == pytest.approx([-0.22, -0.18])


CASES = {
    "usual": GROUPS,
    "one": comparison(group("unseen", -0.3, 1.0)),
    "worse": comparison(group("a", 0.5, 0.2), group("b", 0.01, 0.7)),
    "long": comparison(group("a name that is longer than anybody wants to read", 2.5, 0.2), group("b", -0.4, 0.7)),
    "nothing": comparison(group("empty", NOTHING, 0.0), group("same", 0.0, 0.5, 0.0)),
    "many": comparison(*(group(f"TAG{k}", (-1) ** k * 0.02 * k, 0.05) for k in range(20))),
}


@pytest.mark.parametrize(("name", "copies"), [*((name, 1) for name in CASES), ("usual", 3), ("long", 2)])
def test_names_and_values_of_groups_do_not_overlap(name: str, copies: int) -> None:
    figure = figure_of([CASES[name]] * copies)
    boxes = boxes_of_texts(figure, figure.axes)
    assert len(boxes) >= copies * 3
    assert overlapping(boxes) == []


# ------------------------------------------------------------ selection


def test_boxes_of_one_language_are_refused() -> None:
    with pytest.raises(ConfigError, match="a box plot needs 2 or more languages, not 1"):
        picture_svg(select({"cs": SELECTION.perplexities["cs"]}))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_names_of_languages_keep_their_distance_and_order(heights: list[float]) -> None:
    spread = _spread(np.array(heights), 0.05)
    order = np.argsort(heights, kind="stable")
    assert np.all(np.diff(spread[order]) >= 0.05 - 1e-9)
    far = np.diff(np.sort(heights)).min(initial=1.0) > 0.05
    if far:
        assert spread == pytest.approx(heights)
    assert np.mean(spread) == pytest.approx(np.mean(heights))


def test_many_equal_languages_can_be_told_apart() -> None:
    same = select({f"language {k}": {"clbl": 100.0, "clbl++": 90.0 - 0.001 * k} for k in range(8)})
    figure = figure_of(same)
    boxes = boxes_of_texts(figure, figure.axes)
    assert overlapping(boxes) == []


# ------------------------------------------------------------ map


@pytest.mark.parametrize("crowd", [0.0, 0.02, 0.2])
def test_names_on_the_map_hide_neither_one_another_nor_dots(crowd: float) -> None:
    result = random_map(crowd=crowd)
    figure: Any = figure_of(result)
    (axes,) = figure.axes
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    assert len(boxes) > 30
    assert overlapping(boxes) == []
    dots = axes.transData.transform([(point.x, point.y) for point in result.points])
    for box in boxes:
        inside = (dots[:, 0] > box.x0) & (dots[:, 0] < box.x1) & (dots[:, 1] > box.y0) & (dots[:, 1] < box.y1)
        assert not inside.any()


def test_each_kind_of_morpheme_has_its_colour_and_shape() -> None:
    (axes,) = axes_of(random_map(30))
    assert len({line.get_color() for line in axes.lines}) == len({line.get_marker() for line in axes.lines}) == 3
    assert sum(len(line.get_xdata()) for line in axes.lines) == 30


def test_names_that_are_no_markup() -> None:
    forms = ["$a^", "$x$", "<b>&", "_x", "a\x01b", "]]>", "\u2028", "слово", "x" * 50, "日本", "ab\u200cc"]
    points = [
        MapPoint(f"{form}/STM", form, "STM", 1, 1, (), 0.1 * (k % 4), 0.3 * (k // 4), ())
        for k, form in enumerate(forms)
    ]
    found = texts(picture_svg(MorphemeMap(tuple(points), "both", 1, 5.0)))
    for form in ["$a^", "$x$", "<b>&", "_x", "a�b", "]]>", "�", "слово", "x" * 15 + "…", "日本", "ab\u200cc"]:
        assert form in found


def test_letters_that_the_font_has_not_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curves = LearningCurves({"日本": ((1, 9.0), (2, 8.0))})
    save_picture(curves, tmp_path / "a.svg")
    assert capsys.readouterr().err == ""
    save_picture(curves, tmp_path / "a.png")
    assert "some letters are not in the font" in capsys.readouterr().err


# ------------------------------------------------------------ lines and bars


def test_lines_of_scaling_go_through_the_changes() -> None:
    left, right = axes_of(SCALING)
    lines = [line for line in left.lines if len(line.get_xdata()) == 2 and line.get_linestyle() in ("-", "--")]
    found = {(line.get_color(), line.get_linestyle()): [round(float(y), 3) for y in line.get_ydata()] for line in lines}
    assert [-0.1, -0.09] in found.values()
    assert [-0.1, -0.08] in found.values()
    assert [-0.2, -0.12] in found.values()
    assert [label.get_text() for label in right.get_xticklabels()] == ["1m", "2m"]


def test_bars_of_pruning() -> None:
    left, right = axes_of(PRUNING)
    heights = [bar.get_height() for bar in left.patches]
    assert heights == pytest.approx([80.25 / 90 - 1] * 2 + [85 / 90 - 1] * 2)
    assert [bar.get_height() for bar in right.patches] == pytest.approx([-0.1] * 4)
    missing = compare_pruning(PRUNING.rows[:3])
    assert np.isnan(axes_of(missing)[0].patches[3].get_height())


def test_the_best_epoch_is_filled() -> None:
    (axes,) = axes_of(CURVES)
    filled = [line for line in axes.lines if len(line.get_xdata()) == 1]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in filled] == [(2, 8.0), (2, 7.0)]


# ------------------------------------------------------------ files


@pytest.mark.parametrize("name", ["picture.jpg", "picture", "svg", "-"])
def test_other_endings_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"a picture is a file that ends in .svg, .png, .pdf; rename it"):
        save_picture(CURVES, name if name == "-" else tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_capital_endings_and_missing_folders(tmp_path: Path) -> None:
    save_picture(CURVES, tmp_path / "A.PNG")
    assert (tmp_path / "A.PNG").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="cannot write here"):
        check_picture(tmp_path / "no" / "a.png")


def test_a_full_disk_leaves_the_old_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.svg"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("morphlm.files.os.fsync", full)
    with pytest.raises(InputError, match=r"a.svg: cannot write here \(No space left on device\)"):
        save_picture(CURVES, path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.svg"]


def test_there_is_no_picture_of_anything_else() -> None:
    for other in (3, "text", [], [CURVES]):
        with pytest.raises(ConfigError, match="there is no picture of a"):
            figure_of(other)  # type: ignore[arg-type]


def test_names_are_cut_where_they_are_too_long() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"
