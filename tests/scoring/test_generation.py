"""Drawing sentences: equal seeds, the right frequencies, and nothing that was not asked for."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.ngram.training import train_ngram
from morphlm.scoring.generation import Generated, GenerationOptions, draw, generate
from tests.scoring.models import KINDS, small_model


def drawn(kind: str, seed: int, count: int = 20, begin: tuple[str, ...] = (), **options: Any) -> list[Generated]:
    sentences = generate(
        small_model(kind), np.random.default_rng(seed), begin=begin, options=GenerationOptions(**options)
    )
    return list(islice(sentences, count))


@pytest.mark.parametrize("kind", KINDS)
def test_equal_seeds_give_equal_text(kind: str) -> None:
    assert drawn(kind, 1) == drawn(kind, 1)
    assert drawn(kind, 1) != drawn(kind, 2)
    assert drawn(kind, 1)[:5] == drawn(kind, 1, count=5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_score_is_that_of_the_model(kind: str) -> None:
    model = small_model(kind)
    for sentence in drawn(kind, 3, temperature=1.5):
        logprobs = model.sentence(sentence.words)
        expected = sum(logprobs if sentence.complete else logprobs[:-1])
        assert sentence.logprob == pytest.approx(expected, abs=1e-4)
    (sentence,) = drawn(kind, 3, count=1, begin=("domu", "poly"))
    assert sentence.words[:2] == ("domu", "poly")
    assert sentence.logprob == pytest.approx(sum(model.sentence(sentence.words)[2:]), abs=1e-4)


def test_marks_are_not_drawn_unless_admitted() -> None:
    words = {word for sentence in drawn("mkn", 1, 300) for word in sentence.words}
    assert not words & {"<s>", "</s>", "<unk>"}
    assert len(words) > 20
    assert "<unk>" in {word for sentence in drawn("mkn", 1, 300, unknown=True) for word in sentence.words}


def test_sentences_are_cut() -> None:
    sentences = drawn("mkn", 1, 100, max_words=3)
    assert {len(sentence.words) for sentence in sentences if not sentence.complete} == {3}
    assert {len(sentence.words) for sentence in sentences if sentence.complete} <= {0, 1, 2}
    assert any(sentence.complete for sentence in sentences)
    cut = next(sentence for sentence in sentences if not sentence.complete)
    assert cut.text == " ".join(cut.words), "without a record"
    assert cut.to_json() == {**{"text": cut.text, "words": list(cut.words), "logprob": cut.logprob, "complete": False}}
    (after,) = drawn("mkn", 1, 1, begin=("domu",) * 9, max_words=1)
    assert len(after.words) in (9, 10)


P = np.array([0.0, 0.0, 0.1, 0.4, 0.0, 0.3, 0.2, 0.0])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, P),
        ({"temperature": 0.5}, P**2),
        ({"temperature": 2.0}, P**0.5),
        ({"top_k": 2}, P * (P >= 0.3)),
        ({"top_k": 3, "temperature": 0.5}, (P * (P >= 0.2)) ** 2),
        ({"top_k": 99}, P),
    ],
)
def test_frequencies(options: Any, expected: Any) -> None:
    """A share of 10,000 draws has a standard deviation of at most 0.005; five of them are allowed."""
    rng, chosen = np.random.default_rng(5), GenerationOptions(**options)
    counts = np.bincount([draw(P / 7, rng, chosen) for _ in range(10_000)], minlength=len(P))
    np.testing.assert_allclose(counts / counts.sum(), expected / expected.sum(), atol=0.025)
    assert not counts[expected == 0].any()


def test_the_ends_of_the_range_of_random_numbers() -> None:
    class Fixed:
        def __init__(self, value: float) -> None:
            self.value = value

        def random(self) -> float:
            return self.value

    assert draw(P, Fixed(0.0), GenerationOptions()) == 2  # type: ignore[arg-type]
    assert draw(P, Fixed(1.0), GenerationOptions()) == 6  # type: ignore[arg-type]


def test_temperature_0_is_the_likeliest() -> None:
    model = small_model("clbl++")
    one, two = drawn("clbl++", 1, 2, temperature=0.0, max_words=5)
    assert one == two == drawn("clbl++", 9, 1, temperature=0.0, max_words=5)[0]
    state = model.begin()
    for word in one.words:
        probabilities = model.distribution(state)
        probabilities[0] = 0
        assert model.vocabulary.words[int(np.argmax(probabilities))] == word
        _, state = model.score(state, word)
    assert draw(P, np.random.default_rng(1), GenerationOptions(temperature=0.0, top_k=3)) == 3


def test_very_low_temperatures_are_nearly_that() -> None:
    assert drawn("mkn", 1, 3, temperature=1e-5) == drawn("mkn", 1, 3, temperature=0.0)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"max_words": 0}, "max-words is 0"),
        ({"temperature": -1.0}, "temperature is -1.0"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"temperature": float("inf")}, "temperature is inf"),
        ({"top_k": -1}, "top-k is -1"),
    ],
)
def test_options_that_cannot_be_meant(options: Any, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        GenerationOptions(**options)


def test_what_it_cannot_begin_with() -> None:
    with pytest.raises(InputError, match="<s> is a mark"):
        next(generate(train_ngram([["a"]], 1), np.random.default_rng(1), begin=["<s>"]))
    with pytest.raises(ConfigError, match="nothing but unknown words; admit them by unknown=True"):
        draw(np.zeros(5), np.random.default_rng(1), GenerationOptions())
