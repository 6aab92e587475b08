"""Estimates of time and disk space, by the records of model kinds."""

from __future__ import annotations

import pytest

from morphlm.costs import Cost, ModelCost, TrainingSize, format_duration, format_size, rough_cost
from morphlm.kinds import kind_named, kind_names
from morphlm.logbilinear.config import VARIANTS
from morphlm.training.pipeline import ModelOptions

SIZE = TrainingSize(1_000_000, 100_000)
WIDTH = {"width": 100, "epochs": 20, "batch": 10_000}


def cost(kind: str, size: TrainingSize = SIZE, **settings: object) -> ModelCost:
    result: ModelCost = kind_named(kind).load("cost")(kind, size, ModelOptions(WIDTH | settings).of(kind))
    return result


def test_ngrams_by_tokens() -> None:
    assert cost("mkn") == ModelCost(Cost(3.5, 46_000_000), 1.0)


def test_models_with_classes_by_tokens_words_epochs_and_width() -> None:
    # 7 epochs of a million tokens, 4e-6 s and 4.5e-11 s a word each; 3 s beside them.
    additive = 7 * 1e6 * (4e-6 + 4.5e-11 * 1e5)
    assert cost("clbl++").training.seconds == pytest.approx(3 + additive)
    assert cost("clbl").training.seconds == pytest.approx(3 + 0.8 * additive)
    assert cost("clbl++", width=200).training.seconds == pytest.approx(3 + 2 * additive)
    assert cost("clbl++", epochs=2).training.seconds == pytest.approx(3 + 2 / 7 * additive)
    assert cost("clbl++", wide_context=True).training.seconds == pytest.approx(3 + 2 * additive)
    assert cost("clbl++", batch=1000).training.seconds == pytest.approx(3 + 7 * 1e6 * (4e-6 + 4.5e-10 * 1e5))
    assert cost("clbl++").scoring == 1.0


def test_models_without_classes_normalise_when_they_are_evaluated() -> None:
    normalising = 75_000 * 1e5 * 100 * 2 / 8e10
    assert cost("lbl").scoring == pytest.approx(1 + normalising)
    assert cost("lbl++").training.seconds == pytest.approx(3 + 7 * (10 + normalising))
    assert cost("lbl").training.seconds == pytest.approx(3 + 7 * (11 + normalising))


@pytest.mark.parametrize(("kind", "factor"), [("clbl", 1.0), ("clbl+c", 1.35), ("lbl++", 1.35)])
def test_disk_space_by_words(kind: str, factor: float) -> None:
    training, parameters = cost(kind).training, 1e5 * 100 * 8 * factor
    assert (training.bytes, training.temporary_bytes) == pytest.approx((parameters + 7e6, 3 * parameters))


def test_all_kinds_that_are_trained_have_an_estimate() -> None:
    assert all(kind_named(kind).cost for kind in (*VARIANTS, "mkn", *kind_names()))
    assert rough_cost("own", SIZE, {}) == ModelCost(Cost(10.0, 50_000_000), 1.75)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (89, "89 s"), (95, "2 min"), (3600, "1 h"), (9600, "2 h 40 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_sizes() -> None:
    sizes = ["0 kB", "1 kB", "60 kB", "1 MB", "25 MB", "3.1 GB"]
    assert [format_size(count) for count in (0, 10, 60_000, 1.2e6, 25e6, 3.14e9)] == sizes
