"""The transformer for scikit-learn: its numbers, and that scikit-learn can do with it what it does with its own."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

import morphlm
from morphlm.errors import ConfigError, InputError
from morphlm.integrations.sklearn import SentenceFeatures
from tests.integrations.models import HELD_OUT, KINDS, directory, model_of

WITHOUT_VECTORS = {"mkn", "arpa"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_perplexity_is_that_of_the_sentence_alone(kind: str) -> None:
    model = model_of(kind)
    features = SentenceFeatures(model, vectors=False).fit()
    texts = [*HELD_OUT[:8], "", "neviděno domu"]
    found = features.transform(texts)
    assert found.shape == (10, 1)
    for text, (perplexity,) in zip(texts, found, strict=True):
        logprobs = model.after_text([]).sentence(text.split())
        assert perplexity == pytest.approx(np.exp(-np.mean(logprobs)), rel=1e-6)
    assert features.transform(texts[::-1])[::-1] == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WITHOUT_VECTORS])
def test_the_vector_is_the_mean_of_the_words(kind: str) -> None:
    vectors = model_of(kind).vectors
    features = SentenceFeatures(model_of(kind), perplexity=False).fit()
    found = features.transform(["domu škola domu", "", "neviděnou"])
    assert found[0] == pytest.approx((2 * vectors["domu"] + vectors["škola"]) / 3, abs=1e-6)
    assert not found[1].any()
    assert found[2] == pytest.approx(vectors["neviděnou"], abs=1e-6)
    assert features.get_feature_names_out().tolist() == [f"vector{i}" for i in range(vectors.dimensions)]


def test_choices_of_vectors_and_columns() -> None:
    model = model_of("clbl++")
    features = SentenceFeatures(model, side="output", centre=True, normalise=True).fit()
    expected = model.vectors.using(side="output", centre=True, normalise=True)["domu"]
    found = features.transform(["domu"])
    assert found[0, :-1] == pytest.approx(expected, abs=1e-6)
    assert features.get_feature_names_out()[-1] == "perplexity"
    assert found.shape[1] == len(features.get_feature_names_out())
    assert features.transform([]).shape == (0, found.shape[1])


def test_many_texts_are_scored_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    features = SentenceFeatures(model_of("mixture")).fit()
    whole = features.transform(HELD_OUT)
    monkeypatch.setattr("morphlm.integrations.sklearn_features.BATCH", 7)
    assert features.transform(HELD_OUT) == pytest.approx(whole, rel=1e-9)
    assert features.transform(np.array(HELD_OUT)) == pytest.approx(whole, rel=1e-9)


def test_it_learns_in_a_pipeline() -> None:
    """Which ending a sentence has can be told by the vectors of its words."""
    labels = np.array([text.split()[0][-1] == "u" for text in HELD_OUT])
    classifier = make_pipeline(SentenceFeatures(model_of("mixture")), StandardScaler(), LogisticRegression())
    assert classifier.fit(HELD_OUT, labels).score(HELD_OUT, labels) > max(labels.mean(), 1 - labels.mean())
    assert list(classifier[:-1].get_feature_names_out())[-1] == "perplexity"


def test_it_is_cloned_searched_over_and_joined() -> None:
    features = SentenceFeatures(model_of("mixture"), side="context")
    copied = clone(features)
    assert copied.get_params()["side"] == "context"
    assert set(copied.get_params()) == {"model", "vectors", "perplexity", "side", "centre", "normalise"}
    assert clone(features.fit()).set_params(vectors=False).fit().transform(["domu"]).shape == (1, 1)
    labels = [len(text.split()) > 3 for text in HELD_OUT]
    pipeline = make_pipeline(SentenceFeatures(model_of("mixture")), LogisticRegression(max_iter=2000))
    search = GridSearchCV(pipeline, {"sentencefeatures__side": ["context", "output"]}, cv=2, error_score="raise")
    assert search.fit(HELD_OUT, labels).best_params_["sentencefeatures__side"] in ("context", "output")
    union: FeatureUnion = make_union(SentenceFeatures(model_of("mkn"), vectors=False), features)
    width = features.transform(["domu"]).shape[1]
    assert union.fit(HELD_OUT).transform(HELD_OUT).shape == (len(HELD_OUT), 1 + width)


@pytest.mark.parametrize("fitted", [True, False])
@pytest.mark.parametrize("stored", [True, False])
def test_it_is_pickled_and_goes_to_other_processes(tmp_path: Path, stored: bool, fitted: bool) -> None:
    model: Any = str(directory(tmp_path, "mixture")) if stored else model_of("mixture")
    features = SentenceFeatures(model)
    expected = clone(features).fit().transform(HELD_OUT[:3])
    if fitted:
        features.fit()
    again = pickle.loads(pickle.dumps(features))
    assert again.fit().transform(HELD_OUT[:3]) == pytest.approx(expected, rel=1e-9)
    path = tmp_path / "features.joblib"
    joblib.dump(features.fit(), path)
    assert joblib.load(path).transform(HELD_OUT[:3]) == pytest.approx(expected, rel=1e-9)


def test_raw_text_is_prepared_as_the_models_was() -> None:
    model = morphlm.train("mkn", ["Nová škola stojí.", "Nová řeka."], ["Nová škola."], language="cs", kappa=0)
    features = SentenceFeatures(model, vectors=False).fit()
    assert features.transform(["NOVÁ\nškola   stojí."]) == pytest.approx(features.transform(["nová škola stojí ."]))


def test_wrong_arguments_are_refused() -> None:
    features = SentenceFeatures(model_of("mkn"), vectors=False)
    with pytest.raises(NotFittedError):
        features.transform(["domu"])
    features.fit()
    for wrong in ("domu", None, 5):
        with pytest.raises(InputError, match="is no list of texts"):
            features.transform(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="<texts>:2: 5 is no text"):
        features.transform(["domu", 5])  # type: ignore[list-item]
    with pytest.raises(InputError, match="is a mark that morphlm sets itself"):
        features.transform(["domu </s> domu"])
    with pytest.raises(ConfigError, match="neither vectors nor perplexity"):
        SentenceFeatures(model_of("mkn"), vectors=False, perplexity=False).fit()
    with pytest.raises(ConfigError, match="has no word vectors"):
        SentenceFeatures(model_of("mkn")).fit()
