"""Vectors in spaCy: exactly those of the model, for known words in a table, and for unseen words composed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError
from morphlm.integrations.spacy import composed_vectors, create_vectors, vectors_table
from morphlm.scoring.mixing import mix
from tests.segmentation.small import model_with

pytest.importorskip("spacy")
import spacy

KNOWN, COMPOSED, AFFIXES, UNKNOWN = "domu", "domou", "xxxem", "brouk"


@pytest.fixture(scope="module", params=["clbl++", "mixture"])
def model(request: pytest.FixtureRequest) -> Any:
    plain = model_with()
    return plain if request.param == "clbl++" else mix([plain, model_with("ngrams")], weights=[0.5, 0.5])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spacy") / "model"
    model_with().save(path)
    return path


def composing(model: Any) -> Any:
    nlp = spacy.blank("cs")
    nlp.vocab.vectors = composed_vectors(model)
    return nlp


def configured(path: Path, **settings: Any) -> Any:
    vectors = {"@vectors": "morphlm.Vectors.v1", "model": str(path), **settings}
    return spacy.blank("cs", config={"nlp": {"vectors": vectors}})


# ---------------------------------------------------------------- a table


def test_a_table_has_the_vectors_of_the_known_words(model: Any) -> None:
    nlp = spacy.blank("cs")
    nlp.vocab.vectors = vectors_table(model)
    doc = nlp(f"{KNOWN.title()} {KNOWN} {COMPOSED}")
    assert [token.has_vector for token in doc] == [True, True, False]
    assert np.array_equal(doc[0].vector, model.vectors[KNOWN])  # the model's text is in lower case
    for word in model.vectors.words:
        assert np.array_equal(nlp.vocab[word].vector, model.vectors[word])
    assert len(nlp.vocab.vectors) == len(model.vectors.words)


def test_a_table_is_saved_with_the_pipeline_and_takes_more_words(tmp_path: Path) -> None:
    vectors, nlp = model_with().vectors, spacy.blank("cs")
    nlp.vocab.vectors = vectors_table(vectors, [COMPOSED, UNKNOWN, KNOWN, COMPOSED])
    assert len(nlp.vocab.vectors) == len(vectors.words) + 1
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert np.array_equal(again(COMPOSED)[0].vector, vectors[COMPOSED])
    assert not again(UNKNOWN)[0].has_vector


# ---------------------------------------------------------------- composed


def test_unseen_words_are_composed(model: Any) -> None:
    nlp, vectors = composing(model), model.vectors
    doc = nlp(f"{KNOWN} {COMPOSED.title()} {AFFIXES} {UNKNOWN}")
    assert [token.has_vector for token in doc] == [True, True, vectors.composable(AFFIXES), vectors.composable(UNKNOWN)]
    assert np.array_equal(doc[1].vector, vectors[COMPOSED])
    assert np.array_equal(nlp.vocab[COMPOSED].vector, vectors[COMPOSED])
    assert np.array_equal(nlp.vocab.get_vector(KNOWN), vectors[KNOWN])
    assert doc[:2].vector == pytest.approx((vectors[KNOWN] + vectors[COMPOSED]) / 2)
    assert doc.vector == pytest.approx(np.mean([token.vector for token in doc], axis=0))
    u, v = vectors[KNOWN], vectors[COMPOSED]
    assert doc[0].similarity(doc[1]) == pytest.approx(u @ v / np.linalg.norm(u) / np.linalg.norm(v), abs=1e-5)
    assert nlp.vocab.vectors_length == vectors.dimensions


def test_nothing_is_made_up_for_words_of_which_nothing_is_known() -> None:
    nlp = composing(model_with())
    token = nlp(UNKNOWN)[0]
    assert not token.has_vector
    assert not token.vector.any()
    assert token.vector_norm == 0
    with pytest.raises(KeyError, match="nothing is known of 'brouk'"):
        nlp.vocab.vectors[UNKNOWN]
    assert ("" in nlp.vocab.vectors, KNOWN in nlp.vocab.vectors) == (False, True)


def test_batches_and_the_limit_of_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = model_with().vectors
    adapter = composed_vectors(vectors)
    monkeypatch.setattr("morphlm.integrations.spacy_vectors.ENTRIES", 2)
    rows = adapter.get_batch([KNOWN, UNKNOWN, COMPOSED, KNOWN])
    assert np.array_equal(rows, np.stack([vectors[KNOWN], np.zeros_like(rows[1]), vectors[COMPOSED], vectors[KNOWN]]))
    assert adapter.get_batch([]).shape == (0, vectors.dimensions)
    assert adapter.shape == (len(vectors.words), vectors.dimensions)


def test_a_configuration_names_the_model(folder: Path, tmp_path: Path) -> None:
    vectors = model_with().vectors
    nlp = configured(folder, side="context", normalise=True)
    expected = vectors.using(side="context", normalise=True)[COMPOSED]
    assert np.array_equal(nlp(COMPOSED)[0].vector, expected)
    nlp.to_disk(tmp_path / "pipeline")
    assert np.array_equal(spacy.load(tmp_path / "pipeline")(COMPOSED)[0].vector, expected)
    assert nlp.meta["vectors"]["width"] == len(expected)
    assert np.array_equal(create_vectors(str(folder))(nlp.vocab)[COMPOSED], vectors[COMPOSED])


def test_a_pipeline_is_pickled_and_goes_to_other_processes(folder: Path) -> None:
    nlp = configured(folder)
    expected = nlp(COMPOSED)[0].vector
    again = pickle.loads(pickle.dumps(nlp.vocab))
    assert np.array_equal(again[COMPOSED].vector, expected)
    docs = list(nlp.pipe([COMPOSED, KNOWN], n_process=2, batch_size=1))
    assert np.array_equal(docs[0][0].vector, expected)


def test_they_feed_a_trained_component() -> None:
    """A text classifier whose static vectors are the model's."""
    nlp = composing(model_with())
    model: dict[str, Any] = {"@architectures": "spacy.TextCatReduce.v1", "exclusive_classes": True}
    model |= {f"use_reduce_{way}": way == "mean" for way in ("first", "last", "max", "mean")}
    model["tok2vec"] = {
        "@architectures": "spacy.HashEmbedCNN.v2", "pretrained_vectors": True, "width": 8, "depth": 1,
        "embed_size": 16, "window_size": 1, "maxout_pieces": 2, "subword_features": False,
    }  # fmt: skip
    classifier = nlp.add_pipe("textcat", config={"model": model})
    for label in ("YES", "NO"):
        classifier.add_label(label)
    examples = [
        spacy.training.Example.from_dict(nlp.make_doc(word), {"cats": {"YES": yes, "NO": 1 - yes}})
        for word, yes in ((KNOWN, 1.0), ("škola", 0.0))
    ]
    nlp.initialize(lambda: examples)
    losses = [nlp.update(examples)["textcat"] for _ in range(20)]
    assert losses[-1] < losses[0]


def test_they_cannot_be_changed() -> None:
    nlp = composing(model_with())
    with pytest.raises(ConfigError, match="take vectors_table, whose rows can"):
        nlp.vocab.set_vector(UNKNOWN, nlp.vocab[KNOWN].vector)
    with pytest.raises(ConfigError, match="take vectors_table, whose rows can"):
        nlp.vocab.set_vector(KNOWN, nlp.vocab[KNOWN].vector)
