"""The numbers of the box plots."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.scores import score_sentences
from morphlm.analysis.selection import BASES, PAPER_KINDS, box_of, display, select, select_from_scores
from morphlm.errors import ConfigError
from tests.analysis.cases import TEXT, models

PERPLEXITIES = {
    "cs": {"mkn": 700.0, "lbl": 500.0, "lbl++": 400.0, "clbl": 520.0, "clbl+c": 494.0, "clbl++": 468.0},
    "de": {"mkn": 300.0, "lbl": 250.0, "lbl++": 225.0, "clbl": 260.0, "clbl+c": 254.8, "clbl++": 247.0},
    "en": {"mkn": 200.0, "clbl": 190.0, "clbl++": 199.5},
}


@given(st.lists(st.floats(-0.9, 3.0), min_size=2, max_size=9))
def test_boxes_are_those_of_matplotlib(numbers: list[float]) -> None:
    from matplotlib.cbook import boxplot_stats

    box = box_of(numbers)
    (wanted,) = boxplot_stats(numbers, whis=3.0)
    found = [box.median, box.lower, box.upper, box.mean]
    assert found == pytest.approx([wanted[name] for name in ("med", "q1", "q3", "mean")], abs=1e-12)
    assert sorted(box.outliers) == sorted(wanted["fliers"].tolist())
    # Matplotlib lets a whisker end at the box where no number lies beyond it; ours end at the last number inside.
    assert min(box.low, box.lower) == pytest.approx(wanted["whislo"], abs=1e-12)
    assert max(box.high, box.upper) == pytest.approx(wanted["whishi"], abs=1e-12)


def test_whiskers_end_three_ranges_from_the_box() -> None:
    box = box_of([0.0, 1.0, 2.0, 3.0, 4.0, 10.0, 11.0, 30.0])
    assert (box.lower, box.median, box.upper) == (1.75, 3.5, 10.25)
    assert (box.low, box.high, box.outliers) == (0.0, 30.0, ())
    box = box_of([0.0, 1.0, 1.0, 1.0, 2.0, 9.0])
    assert (box.low, box.high, box.outliers, box.mean) == (0.0, 2.0, (9.0,), 14 / 6)


def test_changes_against_the_base_of_the_family() -> None:
    found = select(PERPLEXITIES)
    assert found.languages == ("cs", "de", "en")
    assert found.additive == ("lbl++", "clbl+c", "clbl++")
    assert found.bases == ("lbl", "clbl")
    assert found.values("lbl++") == pytest.approx({"cs": -0.2, "de": -0.1})
    assert found.values("clbl++") == pytest.approx({"cs": -0.1, "de": -0.05, "en": 0.05})
    assert found.box("clbl++").median == pytest.approx(-0.05)
    assert [found.median_perplexity(kind) for kind in ("mkn", "lbl", "clbl")] == [300.0, 375.0, 260.0]
    assert math.isnan(found.median_perplexity("lbl+c"))


def test_the_table() -> None:
    table = select(PERPLEXITIES).to_table()
    assert table.header == ["language", "MKN", "LBL", "LBL++", "CLBL", "CLBL+c", "CLBL++"]
    assert table.rows == [
        ["cs", "700.00", "500.00", "−20.0 %", "520.00", "−5.0 %", "−10.0 %"],
        ["de", "300.00", "250.00", "−10.0 %", "260.00", "−2.0 %", "−5.0 %"],
        ["en", "200.00", "-", "-", "190.00", "-", "5.0 %"],
        ["median", "300.00", "375.00", "−15.0 %", "260.00", "−3.5 %", "−5.0 %"],
        ["mean", "400.00", "375.00", "−15.0 %", "323.33", "−3.5 %", "−3.3 %"],
    ]
    assert table.notes == ["perplexities, and relative changes: LBL++ against LBL; CLBL+c, CLBL++ against CLBL"]


def test_json_has_boxes_of_two_languages_or_more() -> None:
    content = json.loads(json.dumps(select(PERPLEXITIES).to_json(), allow_nan=False))
    assert list(content["boxes"]) == ["lbl++", "clbl+c", "clbl++"]
    assert content["boxes"]["clbl++"]["languages"] == 3
    assert content["changes"]["en"]["clbl++"] == {
        "base": "clbl",
        "value": pytest.approx(0.05),
        "low": None,
        "high": None,
    }
    only = select({"en": PERPLEXITIES["en"]}).to_json()
    assert (only["boxes"], only["median_perplexities"]["mkn"]) == ({}, 200.0)


def test_no_language_is_an_error_and_one_has_a_table_only() -> None:
    with pytest.raises(ConfigError, match="there is no language; name at least one"):
        select({})
    one = select({"cs": PERPLEXITIES["cs"]})
    assert len(one.to_table().rows) == 1
    with pytest.raises(ConfigError, match="a box plot needs 2 or more languages, not 1"):
        one.box("clbl++")


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"mkn": 3.0, "clbl": 2.0}, "no language has an additive model and its base"),
        ({"clbl++": 2.0, "lbl": 3.0}, "no language has an additive model and its base"),
        ({"clbl": 2.0, "mixture": 1.0}, "'mixture' is no model of this comparison; choose among mkn, lbl"),
    ],
)
def test_what_cannot_be_compared(models: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        select({"cs": models})


def test_intervals_that_are_given_are_kept() -> None:
    change = PerplexityChange(-0.1, -0.12, -0.08)
    found = select(PERPLEXITIES, {"cs": {"clbl++": change}}, seed=7)
    assert found.changes["cs"]["clbl++"] == change
    rows = {(row[0], row[1]): row[2:] for row in found.to_intervals().rows}
    assert rows["cs", "CLBL++"] == ["520.00", "468.00", "−10.0 % [−12.0, −8.0]"]
    assert rows["de", "CLBL++"] == ["260.00", "247.00", "−5.0 %"]
    assert found.to_intervals().notes == ["in brackets: 95 % of 1000 paired bootstrap samples of the sentences, seed 7"]
    assert select(PERPLEXITIES).to_intervals().notes == []


def test_from_scores() -> None:
    base, other = (score_sentences(model, TEXT) for model in models())
    found = select_from_scores({"cs": {"clbl": base, "clbl++": other}}, seed=5)
    change = found.changes["cs"]["clbl++"]
    assert change.value == pytest.approx(other.perplexity / base.perplexity - 1)
    assert change.low < change.high
    assert found.to_intervals().notes[-1].startswith("signatures: ppl|model:mkn|n:*|")


def test_infinite_perplexity_stays_out_of_the_boxes() -> None:
    found = select({**PERPLEXITIES, "xx": {"clbl": math.inf, "clbl++": math.inf}})
    assert list(found.values("clbl++")) == ["cs", "de", "en"]
    assert found.to_json()["perplexities"]["xx"]["clbl"] is None
    assert found.to_table().rows[3][-2:] == ["-", "-"]


def test_names_as_in_the_paper() -> None:
    assert [display(kind) for kind in PAPER_KINDS[:5]] == ["MKN", "LBL", "LBL+c", "LBL+o", "LBL++"]
    assert set(BASES) | {"mkn", "lbl", "clbl"} == set(PAPER_KINDS)
    assert np.all([kind.startswith(base) for kind, base in BASES.items()])
