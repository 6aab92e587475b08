"""`score` and `rescore`: lines are texts of their own, unless they are continuous."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm.language_model.base import LanguageModel
from morphlm.scoring.rescoring import Rescored, Rescorer, RescoringOptions, rescore
from morphlm.scoring.streaming import score_lines
from morphlm.text.reading import END
from morphlm.vocabulary.vocabulary import END_ID
from tests.scoring.models import text_file
from tests.training.small import sentences

from .small import encoded, mixture, small_cache, small_neural_cache, wide_model

MODELS: dict[str, Callable[[], LanguageModel]] = {
    "cache": small_cache,
    "neural": small_neural_cache,
    "wide": wide_model,
    "mixture": mixture,
}
models = pytest.mark.parametrize("name", MODELS)


def _logprob(model: LanguageModel, before: list[list[str]], sentence: list[str]) -> float:
    """Of a sentence after others."""
    history = encoded(before, model) if before else encoded([[]], model)[:0]
    return float(model.score_tokens(encoded([*before, sentence], model))[len(history) :].sum())


@models
def test_lines_are_independent_unless_they_are_continuous(name: str, tmp_path: Path) -> None:
    model, text = MODELS[name](), [*sentences(8, 5), [], *sentences(3, 6)]
    path = text_file(tmp_path, *map(" ".join, text))
    alone, together = (
        [line.logprob for block in score_lines(model, path, continuous=continuous) for line in block]
        for continuous in (False, True)
    )
    assert alone == pytest.approx([_logprob(model, [], sentence) for sentence in text], abs=1e-6)
    expected = [_logprob(model, text[:number], sentence) for number, sentence in enumerate(text)]
    assert together == pytest.approx(expected, abs=1e-6)
    assert sum(together) == pytest.approx(model.perplexity(text).logprob, abs=1e-5)


def _rescored(model: LanguageModel, path: Path, **options: object) -> list[Rescored]:
    rescorer = Rescorer([("lm", model)], RescoringOptions(**options))  # type: ignore[arg-type]
    return [item for items in rescore(rescorer, path) for item in items]


LIST = (
    "0 ||| škola domu ||| F= 1 ||| -1",
    "0 ||| řeky řeky ||| F= 1 ||| -0.5",
    "1 ||| škola ||| F= 1 ||| -1",
    "1 ||| řeky ||| F= 1 ||| -1",
    "2 ||| škola ||| F= 1 ||| -1",
)


@models
def test_hypotheses_come_after_the_first_ones_of_the_sentences_before(name: str, tmp_path: Path) -> None:
    model, path = MODELS[name](), text_file(tmp_path, *LIST)
    before = [[], [], [["škola", "domu"]], [["škola", "domu"]], [["škola", "domu"], ["škola"]]]
    hypotheses = [line.split(" ||| ")[1].split() for line in LIST]
    expected = [_logprob(model, text, words) for text, words in zip(before, hypotheses, strict=True)]
    added = [item.added["lm"] for item in _rescored(model, path, continuous=True)]
    assert added == pytest.approx(expected, abs=1e-6)
    alone = [item.added["lm"] for item in _rescored(model, path)]
    assert alone == pytest.approx([_logprob(model, [], words) for words in hypotheses], abs=1e-6)


def test_with_weights_hypotheses_come_after_the_best_ones(tmp_path: Path) -> None:
    """The model's weight is 0, so the given scores decide: `řeky řeky` is the best of the first sentence."""
    model, path = small_cache(), text_file(tmp_path, *LIST)
    items = {
        (item.hypothesis.id, item.hypothesis.text): item.added["lm"]
        for item in _rescored(model, path, continuous=True, lm_weights=(0.0,))
    }
    first = [["řeky", "řeky"]]
    assert items["1", "řeky"] == pytest.approx(_logprob(model, first, ["řeky"]), abs=1e-9)
    assert items["2", "škola"] == pytest.approx(_logprob(model, [*first, ["škola"]], ["škola"]), abs=1e-9)


def test_states_of_the_next_sentence_are_those_of_a_continuous_text() -> None:
    """As a program does that scores a document sentence by sentence, and begins anew with the next document."""
    model, document = mixture(), sentences(5, 9)
    for _ in range(2):  # the second document is not scored after the first
        state, total = model.begin(), 0.0
        for sentence in document:
            for word in (*sentence, END):
                logprob, state = model.score_id(state, END_ID) if word == END else model.score(state, word)
                total += logprob
            state = model.next_sentence(state)
        assert total == pytest.approx(model.perplexity(document).logprob, abs=1e-5)
