"""Table 2 and figure 5: MKN, CLBL and CLBL++ at several rates of pruning and amounts of text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.model_triple import triple_from_scores
from morphlm.analysis.pruning import PruningRow, compare_pruning, pruning_row
from morphlm.analysis.scaling import ScalingPoint, compare_scaling, scaling_point
from morphlm.analysis.scores import SentenceScores, score_sentences
from morphlm.errors import ConfigError
from morphlm.ngram.training import train_ngram
from tests.analysis.cases import TEXT, TRAIN
from tests.analysis.triples import model_triple

ROWS = [  # the paper's, Table 2
    PruningRow("cs", 0.05, model_triple(862, 683, 643)),
    PruningRow("cs", 1.0, model_triple(634, 477, 462)),
    PruningRow("es", 0.05, model_triple(219, 207, 203)),
    PruningRow("es", 1.0, model_triple(195, 180, 176)),
]


def scores(kappa: float | None = 0.0) -> dict[str, SentenceScores]:
    found = {
        kind: score_sentences(train_ngram(TRAIN, order), TEXT)
        for order, kind in enumerate(["mkn", "clbl", "clbl++"], 1)
    }
    return {kind: replace(one, kappa=kappa) for kind, one in found.items()}


def test_each_against_the_one_before() -> None:
    models = model_triple(862, 683, 643)
    changes = [models.first.value, models.second.value, models.both.value]
    assert [round(100 * change, 1) for change in changes] == [-20.8, -5.9, -25.4]
    assert models.cells() == ["862.00", "683.00", "−20.8 %", "643.00", "−5.9 %"]
    assert not models.has_intervals


def test_a_trio_from_scores() -> None:
    found = triple_from_scores(scores(), seed=2)
    three = scores()
    assert found.second.value == pytest.approx(three["clbl++"].perplexity / three["clbl"].perplexity - 1)
    assert found.both.value == pytest.approx(three["clbl++"].perplexity / three["mkn"].perplexity - 1)
    assert found.has_intervals
    assert [signature.split("|")[2] for signature in found.signatures] == ["n:1", "n:2", "n:3"]
    with pytest.raises(ConfigError, match=r"clbl\+\+ is missing; mkn, clbl, clbl\+\+ are compared"):
        triple_from_scores({kind: three[kind] for kind in ("mkn", "clbl")})


def test_whether_pruning_takes_the_gain_away() -> None:
    found = compare_pruning(ROWS)
    assert (found.languages, found.kappas) == (("cs", "es"), (0.05, 1.0))
    assert found.gains_less == {"cs": True, "es": False}
    table = found.to_table()
    assert table.header == ["kappa", "language", "MKN", "CLBL", "Rel.1", "CLBL++", "Rel.2"]
    assert table.rows[0] == ["0.05", "cs", "862.00", "683.00", "−20.8 %", "643.00", "−5.9 %"]
    assert [row[:2] for row in table.rows] == [["0.05", "cs"], ["0.05", "es"], ["1", "cs"], ["1", "es"]]
    assert table.notes[1] == "CLBL++ gains less over CLBL at kappa = 1 in 1 of 2 languages; not in es"
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert content["gains_less_at_highest_kappa"] == {"cs": True, "es": False}
    assert content["rows"][1]["perplexities"] == {"mkn": 634, "clbl": 477, "clbl++": 462}


def test_one_rate_says_nothing_of_the_hypothesis() -> None:
    found = compare_pruning(ROWS[:1])
    assert found.gains_less == {}
    assert len(found.to_table().notes) == 1


def test_rows_that_do_not_go_together() -> None:
    with pytest.raises(ConfigError, match="there is no language"):
        compare_pruning([])
    with pytest.raises(ConfigError, match=r"cs is there twice with kappa = 0.05"):
        compare_pruning([*ROWS, ROWS[0]])
    for kappas, found in (((0.2, 0.2, 1.0), r"0.2, 1"), ((None, None, None), "none")):
        given = {kind: replace(one, kappa=kappa) for (kind, one), kappa in zip(scores().items(), kappas, strict=True)}
        with pytest.raises(ConfigError, match=rf"cs: the models were not trained at one kappa \({found}\)"):
            pruning_row("cs", given)


def test_a_row_has_the_kappa_of_its_models() -> None:
    row = pruning_row("cs", scores(0.2), seed=2)
    assert (row.language, row.kappa) == ("cs", 0.2)
    assert row.models == triple_from_scores(scores(0.2), seed=2)


# ------------------------------------------------------------ scaling


def point(tokens: int, vocabulary: int, *perplexities: float) -> ScalingPoint:
    return ScalingPoint(tokens, vocabulary, model_triple(*perplexities))


GROWING = [point(2000, 300, 90, 81, 72.9), point(1000, 200, 100, 80, 60)]


def test_series_are_in_order_of_the_amounts() -> None:
    found = compare_scaling([point(1000, 200, 100, 90, 81)], GROWING, text="test.txt")
    assert [one.tokens for one in found.growing] == [1000, 2000]
    assert list(found.series) == ["fixed", "growing"]
    assert found.to_table().rows == [
        ["fixed", "1,000", "200", "100.00", "90.00", "−10.0 %", "81.00", "−10.0 %", "−19.0 %"],
        ["growing", "1,000", "200", "100.00", "80.00", "−20.0 %", "60.00", "−25.0 %", "−40.0 %"],
        ["growing", "2,000", "300", "90.00", "81.00", "−10.0 %", "72.90", "−10.0 %", "−19.0 %"],
    ]
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert content["growing"][1]["clbl++_against_mkn"]["value"] == pytest.approx(-0.19)
    assert (content["text"], content["fixed"][0]["vocabulary"]) == ("test.txt", 200)


def test_one_series_is_enough_and_intervals_are_explained() -> None:
    found = compare_scaling([], GROWING)
    assert list(found.series) == ["growing"]
    assert not any("bootstrap" in note for note in found.to_table().notes)
    models = replace(GROWING[0].models, second=PerplexityChange(-0.1, -0.2, 0.0))
    found = compare_scaling([], [replace(GROWING[0], models=models)], seed=4)
    assert "−10.0 % [−20.0, 0.0]" in found.to_table().rows[0]
    assert found.to_table().notes[1].endswith("seed 4")


def test_points_that_do_not_go_together() -> None:
    with pytest.raises(ConfigError, match="no amount of training text"):
        compare_scaling([], [])
    with pytest.raises(ConfigError, match="2,000 training tokens are in a series twice"):
        compare_scaling([], [*GROWING, GROWING[0]])
    with pytest.raises(ConfigError, match="a fixed vocabulary have 200, 300 words; train them with one vocabulary="):
        compare_scaling(GROWING, [])


def test_a_point_has_the_amount_of_its_models() -> None:
    found = scaling_point(scores(), seed=3)
    assert (found.tokens, found.vocabulary) == (14, 7)
    assert found.models == triple_from_scores(scores(), seed=3)
    other = replace(scores()["clbl"], training_tokens=15)
    with pytest.raises(ConfigError, match="not trained on the same text"):
        scaling_point({**scores(), "clbl": other})
    unknown = {kind: replace(one, training_tokens=None) for kind, one in scores().items()}
    with pytest.raises(ConfigError, match="not trained on the same text"):
        scaling_point(unknown)
