"""Caches in compiled files: they are fixed by a text, and Python and the header score them alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import morphlm
from morphlm.errors import ConfigError
from tests.cache.small import UNITS, encoded, mixture, small_cache, small_neural_cache
from tests.training.small import sentences

from .test_native import native_scores

BEFORE, LINES = sentences(6, 5), sentences(8, 4)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("before", [[], BEFORE], ids=["empty", "after a text"])
def test_a_cache_is_a_distribution_over_words(unit: str, before: list[list[str]], tmp_path: Path) -> None:
    model = small_cache(unit)  # type: ignore[arg-type]
    morphlm.export_compiled(model, tmp_path / "model", after=before)
    expected = model.score_sentences(encoded(LINES, model), after=encoded(before, model) if before else None)
    assert morphlm.load(tmp_path / "model").score_tokens(encoded(LINES, model)) == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(native_scores(tmp_path / "model", LINES), expected, rtol=0, atol=1e-5)


def test_a_mixture_with_caches_is_fixed_by_the_text_before(tmp_path: Path) -> None:
    """Its first component is a cache, and a model of n-grams behind it sorts the contexts."""
    model = mixture()
    morphlm.export_compiled(model, tmp_path / "model", after=BEFORE)
    fixed = model.after_text(BEFORE)
    expected = fixed.score_tokens(encoded(LINES, model))
    assert morphlm.load(tmp_path / "model").score_tokens(encoded(LINES, model)) == pytest.approx(expected, abs=1e-5)
    np.testing.assert_allclose(native_scores(tmp_path / "model", LINES), expected, rtol=0, atol=1e-5)
    assert np.abs(expected - model.after_text([]).score_tokens(encoded(LINES, model))).max() > 0.01


def test_a_neural_cache_must_be_empty(tmp_path: Path) -> None:
    model = small_neural_cache()
    morphlm.export_compiled(model, tmp_path / "model")
    expected = model.after_text([]).score_tokens(encoded(LINES, model))
    np.testing.assert_allclose(native_scores(tmp_path / "model", LINES), expected, rtol=0, atol=1e-5)
    with pytest.raises(ConfigError, match=r"a neural cache cannot be compiled; leave after= out"):
        morphlm.export_compiled(model, tmp_path / "other", after=BEFORE)
