"""The next word: the model's distribution, cut to what was asked for."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.scoring.prediction import Predictor, next_words, predict_lines, predict_texts, split_query
from tests.scoring.models import KINDS, small_model, text_file, wide_model, with_preparation
from tests.training.small import ENDINGS, STEMS

WORDS = [stem + ending for stem in STEMS for ending in ENDINGS]
contexts = st.lists(st.sampled_from([*WORDS, "neviděno"]), max_size=6)


def everything(kind: str, tokens: list[str]) -> dict[str, float]:
    """The whole distribution after a sentence's words, by word."""
    model = small_model(kind)
    state = model.begin()
    for token in tokens:
        _, state = model.score(state, token)
    return dict(zip(model.vocabulary.words, model.distribution(state).tolist(), strict=True))


@pytest.mark.parametrize("kind", KINDS)
@given(contexts)
def test_all_words_in_the_order_of_their_probabilities(kind: str, tokens: list[str]) -> None:
    model, probabilities = small_model(kind), everything(kind, tokens)
    found = Predictor(model).next_words(tokens, k=len(model.vocabulary), unknown=True)
    assert {entry.word: entry.probability for entry in found} == {w: p for w, p in probabilities.items() if w != "<s>"}
    ranks = [(-entry.probability, model.vocabulary.ids[entry.word]) for entry in found]
    assert ranks == sorted(ranks)
    assert sum(entry.share for entry in found) == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
@given(contexts, st.sampled_from(["š", "ško", "školou", "d", "vzácn", "ř", "z", "\U0010ffff"]), st.integers(1, 6))
def test_completions_are_the_words_with_that_prefix(kind: str, tokens: list[str], prefix: str, k: int) -> None:
    model, probabilities = small_model(kind), everything(kind, tokens)
    expected = {w: p for w, p in probabilities.items() if w.startswith(prefix)}
    found = next_words(model, tokens, k, prefix)
    best = sorted(expected, key=lambda word: (-expected[word], model.vocabulary.ids[word]))[:k]
    assert [entry.word for entry in found] == best
    assert [entry.probability for entry in found] == [expected[word] for word in best]
    mass = sum(expected.values())
    assert [entry.share for entry in found] == pytest.approx([expected[word] / mass for word in best])


def test_what_is_shown_besides_words() -> None:
    model, all_ = small_model("mkn"), everything("mkn", ["domu"])
    k = len(all_)

    def shown(**choice: Any) -> dict[str, float]:
        return {entry.word: entry.share for entry in Predictor(model).next_words(["domu"], k, **choice)}

    assert set(all_) - set(shown()) == {"<s>", "<unk>"}
    assert set(all_) - set(shown(end=False)) == {"<s>", "<unk>", "</s>"}
    assert set(all_) - set(shown(unknown=True)) == {"<s>"}
    assert shown(end=False)["domu"] == pytest.approx(all_["domu"] / (1 - all_["<unk>"] - all_["</s>"]))
    assert "<unk>" not in {entry.word for entry in next_words(model, [], k, "<")}


@pytest.mark.parametrize("kind", KINDS)
@given(contexts)
def test_only_the_last_words_count(kind: str, tokens: list[str]) -> None:
    model = small_model(kind)
    state = model.begin()
    for token in tokens:
        _, state = model.score(state, token)
    assert Predictor(model).state_after(tokens) == state


@given(contexts)
def test_all_words_count_that_a_wide_context_reaches(tokens: list[str]) -> None:
    model, tokens = wide_model(), [*tokens, *WORDS[:3]]
    state = model.begin()
    for token in tokens:
        _, state = model.score(state, token)
    expected, found = model.distribution(state), Predictor(model).next_words(tokens, len(model.vocabulary))
    assert len(found) == len(model.vocabulary) - 2
    assert [entry.probability for entry in found] == [expected[model.vocabulary.id_of(e.word)] for e in found]


def test_a_distribution_is_computed_once_while_a_word_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    model, asked = copy(small_model("clbl++")), []

    def distribution(state: Any) -> Any:
        asked.append(state)
        return type(model).distribution(model, state)

    monkeypatch.setattr(model, "distribution", distribution)
    texts = ["domu ", "domu š", "domu šk", "domu ško", "domu škola ", "domu škola d"]
    results = predict_texts(Predictor(model), texts, complete=True)
    assert len(asked) == 2
    assert [result.prefix for result in results] == ["", "š", "šk", "ško", "", "d"]
    assert [result.words for result in results] == [
        tuple(next_words(model, list(result.tokens), 10, result.prefix)) for result in results
    ]


@pytest.mark.parametrize(
    ("text", "complete", "tokens", "prefix"),
    [
        ("pro no", False, ["pro", "no"], ""),
        ("pro no", True, ["pro"], "no"),
        ("pro no ", True, ["pro", "no"], ""),
        ("pro\tno\t", True, ["pro", "no"], ""),
        ("no", True, [], "no"),
        ("", True, [], ""),
        (" ", True, [], ""),
    ],
)
def test_what_is_a_prefix(text: str, complete: bool, tokens: list[str], prefix: str) -> None:
    assert split_query(Predictor(small_model("mkn")), text, complete) == (tokens, prefix)


def test_lines_are_answered_one_by_one(tmp_path: Path) -> None:
    model = small_model("mkn")
    batches = list(predict_lines(Predictor(model), text_file(tmp_path, "domu", "", "neviděno <unk> š"), complete=True))
    assert [[result.line for result in batch] for batch in batches] == [[1], [2], [3]]
    results = [batch[0] for batch in batches]
    assert [(result.tokens, result.prefix, result.unknown) for result in results] == [
        ((), "domu", 0),
        ((), "", 0),
        (("neviděno", "<unk>"), "š", 2),
    ]
    found = results[0].to_json()
    assert found["words"][0] == {"word": "domu", "probability": everything("mkn", [])["domu"], "share": 1.0}
    assert {name: found[name] for name in ("line", "text", "prefix", "unknown")} == {
        **{"line": 1, "text": "", "prefix": "domu", "unknown": 0}
    }


def test_words_and_prefixes_as_in_training() -> None:
    model = small_model("mkn")
    with pytest.raises(ConfigError, match="nothing is on record"):
        Predictor(model, prepared=False).tokens("domu")
    before = model.training
    try:
        predictor = Predictor(with_preparation(model, "lc"))
        (result,) = predict_texts(predictor, ["DOMU Ško"], complete=True)
    finally:
        model.training = before
    assert list(result.words) == next_words(model, ["domu"], 10, "ško")
    assert result.unknown == 0


def test_what_is_no_text() -> None:
    with pytest.raises(InputError, match=r"<texts>:2: <s> is a mark"):
        predict_texts(Predictor(small_model("mkn")), ["domu", "<s> domu"])
    with pytest.raises(InputError, match="not a proper string"):
        next_words(small_model("mkn"), ["\udcff"])
    with pytest.raises(InputError, match="not a proper string"):
        next_words(small_model("mkn"), ["domu"], prefix="\udcff")
    with pytest.raises(InputError, match="white space inside"):
        next_words(small_model("mkn"), ["domu"], prefix="ško la")
