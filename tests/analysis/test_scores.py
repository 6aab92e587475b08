"""What models give the sentences of a text, and the changes between them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.scores import (
    change_between,
    check_named_once,
    plain_change,
    read_once,
    score_folder,
    score_models,
    score_sentences,
    scores_from_json,
    shared_signature,
)
from morphlm.errors import ConfigError, InputError
from morphlm.language_model.base import LanguageModel
from tests.analysis.cases import TEXT, any_models, models


@pytest.mark.parametrize("name", ["mkn", "lbl++", "clbl++", "wide", "mixture"])
def test_sums_are_those_of_the_tokens(name: str) -> None:
    model = any_models()[name]
    scores = score_sentences(model, TEXT)
    assert scores.tokens.tolist() == [3, 4, 5]
    assert scores.perplexity == pytest.approx(model.perplexity(TEXT).including_unknown, rel=1e-12)
    if name != "wide":  # whose sentences depend on those before
        wanted = [sum(model.sentence(sentence)) for sentence in TEXT]
        np.testing.assert_allclose(scores.logprobs, wanted, rtol=1e-5)
    assert (scores.vocabulary, scores.signature) == (len(model.vocabulary), str(model.signature))


def test_a_change_is_that_of_the_perplexities_and_nothing_between_equals() -> None:
    one, two = (score_sentences(model, TEXT) for model in models())
    change = change_between(one, two, seed=3)
    assert change.value == pytest.approx(two.perplexity / one.perplexity - 1, rel=1e-12)
    assert change.low <= change.value <= change.high
    assert change_between(one, one) == PerplexityChange(0.0, 0.0, 0.0)
    assert change == change_between(one, two, seed=3)


def test_scores_can_be_kept_as_json() -> None:
    one = score_sentences(models()[1], TEXT)
    again = scores_from_json(json.loads(json.dumps(one.to_json())))
    assert np.array_equal(again.logprobs, one.logprobs)
    assert np.array_equal(again.tokens, one.tokens)
    assert again.to_json() == one.to_json()
    assert (again.training_tokens, again.kappa) == (14, 0.0)


def test_infinite_scores_neither_warn_nor_fail() -> None:
    one = score_sentences(models()[0], TEXT)
    content = {**one.to_json(), "logprobs": [None, -3.0, -4.0]}
    never = scores_from_json(content)
    assert never.perplexity == math.inf
    assert never.to_json() == content
    assert math.isnan(change_between(never, never).value)
    assert not math.isfinite(change_between(one, never).value)
    assert change_between(never, never).format() == "-"


def test_texts_must_be_the_same() -> None:
    one, two = models()
    with pytest.raises(ConfigError, match="not the same text; compare models on one text"):
        change_between(score_sentences(one, TEXT), score_sentences(two, TEXT[:2]))


def test_each_model_is_made_once_and_a_text_is_read_once() -> None:
    made: list[str] = []
    one, two = models()

    def make(name: str) -> LanguageModel:
        made.append(name)
        return {"one": one, "two": two}[name]

    scores = score_models({"two": lambda: make("two"), "one": lambda: make("one")}, (sentence for sentence in TEXT))
    assert made == ["two", "one"]
    assert [scores[name].perplexity for name in ("one", "two")] == [
        model.perplexity(TEXT).including_unknown for model in (one, two)
    ]


def test_what_can_be_read_again_stays_itself(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("pro školu\n\n", encoding="utf-8")
    assert read_once(tmp_path / "text.txt") == tmp_path / "text.txt"
    assert read_once(TEXT) is TEXT
    assert read_once(iter(TEXT)) == TEXT
    with pytest.raises(InputError, match=r"no such file"):
        read_once(tmp_path / "none.txt")


def test_models_of_a_folder(tmp_path: Path) -> None:
    one, two = models()
    one.save(tmp_path / "mkn")
    two.save(tmp_path / "clbl")
    scores = score_folder(tmp_path, ["mkn", "lbl", "clbl"], TEXT)
    assert list(scores) == ["mkn", "clbl"]
    assert scores["clbl"].perplexity == pytest.approx(two.perplexity(TEXT).including_unknown, rel=1e-5)
    with pytest.raises(ConfigError, match="there is no model lbl in it; name a folder that `train_kinds`"):
        score_folder(tmp_path, ["mkn", "lbl", "clbl"], TEXT, need_all=True)
    with pytest.raises(ConfigError, match="there is no model lbl, lbl\\+c in it"):
        score_folder(tmp_path, ["lbl", "lbl+c"], TEXT)


def test_changes_with_and_without_intervals() -> None:
    assert plain_change(200.0, 180.0).value == pytest.approx(-0.1)
    assert plain_change(200.0, 180.0).format() == "−10.0 %"
    assert PerplexityChange(-0.1, -0.2, 0.05).format() == "−10.0 % [−20.0, 5.0]"


def test_one_signature_for_many() -> None:
    signatures = ["ppl|model:mkn|n:4|V:9k", "ppl|model:clbl|n:4|d:8|V:9k", "ppl|model:clbl|n:4|d:8|V:9k"]
    assert shared_signature(signatures) == "ppl|model:*|n:4|d:*|V:9k"
    assert shared_signature(signatures[1:]) == signatures[1]


def test_a_language_has_one_name() -> None:
    check_named_once(["cs", "de"])
    with pytest.raises(ConfigError, match="the language cs is named twice"):
        check_named_once(["cs", "de", "cs"])
