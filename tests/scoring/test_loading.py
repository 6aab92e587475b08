"""Loading: every kind of model by one call, and what is no model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import morphlm
from morphlm.errors import FormatError
from morphlm.kinds import kind_names
from morphlm.logbilinear.config import VARIANTS
from morphlm.logbilinear.parameters import filled_like
from morphlm.modelfile import read_model, write_model
from morphlm.ngram.training import train_ngram
from morphlm.scoring.loading import load
from morphlm.segmentation.segmenter import train_segmenter
from morphlm.training.checkpoint import Progress, checkpoint_path, write_checkpoint
from morphlm.training.loop import train_model
from tests.training.small import sentences, task

CACHES = ("cache", "class-cache", "morpheme-cache", "frozen-cache", "neural-cache")


def test_these_kinds_are_known() -> None:
    known = [kind for kind in kind_names(trainable=False) if not kind.startswith("test-")]  # those of other tests
    assert sorted(known) == sorted(["mkn", "arpa", "mixture", *CACHES, *VARIANTS])


@pytest.mark.parametrize("kind", VARIANTS)
def test_a_log_bilinear_model(tmp_path: Path, kind: str) -> None:
    trained = train_model(task(kind, epochs=1), tmp_path / "model")
    loaded = morphlm.load(tmp_path / "model")
    assert (loaded.kind, loaded.order) == (kind, 3)
    assert loaded.sentence(["domu", "neviděno"]) == trained.sentence(["domu", "neviděno"])


def test_an_ngram_model_and_its_arpa_file(tmp_path: Path) -> None:
    trained = train_ngram(sentences(40, 1), 2)
    trained.save(tmp_path / "model")
    trained.write_arpa(tmp_path / "model.arpa")
    loaded, read = load(str(tmp_path / "model")), load(tmp_path / "model.arpa")
    assert (loaded.kind, read.kind) == ("mkn", "arpa")
    assert loaded.sentence(["domu"]) == trained.sentence(["domu"])
    np.testing.assert_allclose(read.sentence(["domu"]), trained.sentence(["domu"]), atol=1e-5)
    read.save(tmp_path / "again")
    assert load(tmp_path / "again").kind == "arpa"


@pytest.mark.parametrize("with_arrays", [True, False])
def test_a_checkpoint_is_no_model_and_the_message_tells_what_to_do(tmp_path: Path, with_arrays: bool) -> None:
    place = checkpoint_path(tmp_path / "model")
    arrays = train_model(task(epochs=1)).parameters if with_arrays else None
    squares = None if arrays is None else filled_like(arrays, 1.0)
    write_checkpoint(place, "identity", Progress(), arrays, squares)
    with pytest.raises(FormatError) as refused:
        load(place)
    message = str(refused.value)
    assert message.startswith(f"{place}: this is a training that has not ended, not a model")
    assert "`train(..., resume=True)`" in message
    assert "without .checkpoint" in message


def test_a_segmenter_is_no_model_and_the_message_tells_what_it_is(tmp_path: Path) -> None:
    train_segmenter({"domu": 2, "domy": 1, "školu": 1}).save(tmp_path / "segmenter")
    with pytest.raises(
        FormatError, match=r"this segments words and is no language model; use it by `MorphemeSegmenter.load"
    ):
        load(tmp_path / "segmenter")


def test_a_kind_that_is_not_known_is_refused(tmp_path: Path) -> None:
    train_ngram(sentences(40, 1), 2).save(tmp_path / "model")
    write_model(tmp_path / "model", replace(read_model(tmp_path / "model"), kind="rnn"))
    with pytest.raises(
        FormatError, match=r"a model of the kind 'rnn'; this morphlm knows arpa, cache, .*use a newer one"
    ):
        load(tmp_path / "model")


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="there is no such model; check the name"):
        load(tmp_path / "nothing")
