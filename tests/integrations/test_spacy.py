"""Vectors in spaCy: exactly those of the model, for known words in a table, and for unseen words composed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError
from morphlm.integrations.spacy import composed_vectors, create_vectors, vectors_table
from tests.integrations.models import directory, model_of

spacy = pytest.importorskip("spacy")

KINDS = ("clbl++", "wide", "mixture")


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest) -> Any:
    return model_of(request.param)


def test_a_table_has_the_vectors_of_the_known_words(model: Any) -> None:
    nlp = spacy.blank("cs")
    nlp.vocab.vectors = vectors_table(model)
    doc = nlp("Domu škola neviděnou")
    assert [token.has_vector for token in doc] == [True, True, False]
    assert np.array_equal(doc[0].vector, model.vectors["domu"])  # the model's text is in lower case
    assert np.array_equal(nlp.vocab["škola"].vector, model.vectors["škola"])
    assert len(nlp.vocab.vectors) == len(model.vectors.words)


def test_a_table_is_saved_with_the_pipeline_and_takes_more_words(tmp_path: Path) -> None:
    model = model_of("clbl++")
    nlp = spacy.blank("cs")
    word = unseen(model)
    nlp.vocab.vectors = vectors_table(model, [word, "☃☃", "domu"])
    assert len(nlp.vocab.vectors) == len(model.vectors.words) + 1
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert np.array_equal(again(word)[0].vector, model.vectors[word])
    assert not again("☃☃")[0].has_vector


def unseen(model: Any) -> str:
    """A word that the model can compose: the tests' factors know all words of their stems and endings."""
    vectors = model.vectors
    candidates = (f"{stem}{ending}" for stem in ("škol", "dom", "vzácn") for ending in ("ách", "x", "em"))
    found = next((word for word in candidates if vectors.composable(word) and not vectors.known(word)), None)
    return found or pytest.skip("the model composes nothing")
