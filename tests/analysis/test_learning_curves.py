"""Learning curves from logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morphlm.analysis.learning_curves import curve_of, learning_curves, read_learning_curves
from morphlm.errors import ConfigError, InputError

HUGE = f'{{"epoch": {10**400}, "tokens": 1, "development_perplexity": 2}}'  # no float holds it


def entry(epoch: int, perplexity: float | None, minibatch: int = 0, tokens: int | None = None) -> dict[str, Any]:
    return {
        "epoch": epoch,
        "minibatch": minibatch,
        "tokens": 100 * epoch if tokens is None else tokens,
        "development_perplexity": perplexity,
    }


def test_a_curve_for_each_model_with_a_log() -> None:
    found = learning_curves({"mkn": [], "a": [entry(1, 9.0), entry(2, 7.0), entry(3, 8.0)], "b": [entry(1, 5.0)]})
    assert found.curves == {"a": ((1.0, 9.0), (2.0, 7.0), (3.0, 8.0)), "b": ((1.0, 5.0),)}
    assert found.best("a") == (2.0, 7.0)
    assert found.to_table().header == ["epoch", "a", "b"]
    assert found.to_table().rows == [["1", "9.00", "5.00"], ["2", "7.00", "-"], ["3", "8.00", "-"]]
    assert found.to_json()["b"] == [[1.0, 5.0]]


def test_evaluations_inside_an_epoch_and_those_that_failed() -> None:
    log = [
        entry(0, 9.0, 25, 25),
        entry(1, 8.0),
        entry(1, None, 50, 150),
        entry(1, float("inf"), 60, 160),
        entry(2, 6.0),
    ]
    assert learning_curves({"a": log}).curves["a"] == ((0.25, 9.0), (1.0, 8.0), (2.0, 6.0))


def test_without_a_complete_epoch_the_training_text_tells() -> None:
    log = [entry(0, 9.0, 25, 25), entry(0, 8.0, 50, 50)]
    assert curve_of(log, tokens=200) == ((0.125, 9.0), (0.25, 8.0))
    assert curve_of(log) == ((0.0, 9.0), (0.0, 8.0))


@pytest.mark.parametrize("line", ['{"epoch": 2, "note": "by hand"}', "3", '{"epoch": "x", "tokens": 1}', "[]", HUGE])
def test_a_log_that_people_have_changed(tmp_path: Path, line: str) -> None:
    good = '{"epoch": 1, "minibatch": 0, "tokens": 9, "development_perplexity": 3.5}'
    (tmp_path / "log.jsonl").write_text(f"{good}\n{line}\n")
    with pytest.raises(InputError, match=r"log.jsonl:2: this line is no evaluation of a training; "):
        read_learning_curves({"x": tmp_path})
    assert curve_of([json.loads(good), json.loads(line)]) == ((1.0, 3.5),)


def test_no_log_at_all(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model has a log of its training"):
        read_learning_curves({"mkn": tmp_path})
    (tmp_path / "log.jsonl").write_text('{"epoch": 1, "minibatch": 0, "tokens": 9, "development_perplexity": 3.5}\n')
    assert read_learning_curves({"x": tmp_path}).curves == {"x": ((1.0, 3.5),)}
