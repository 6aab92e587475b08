"""pyctcdecode's beam search with our models, and that it finds what it finds with KenLM's reading of our ARPA file."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError, InputError, StateError
from morphlm.integrations.pyctcdecode import CTCLanguageModel, build_ctcdecoder
from morphlm.scoring.spelled import with_spelling
from tests.integrations.ctc import BLANK, LETTERS, emissions
from tests.integrations.models import HELD_OUT, KINDS, KNOWN, arpa_file, composing, directory, model_of, ngrams
from tests.integrations.models import UNSEEN as UNSEEN_WORD

LABELS = [BLANK, *LETTERS, " "]
UNSEEN = ["neviděn domu", "škola neviděn", "neviděn"]


def summary(beams: list[Any]) -> list[tuple[str, float, float]]:
    """Texts, scores of the logits and of all, without states."""
    return [(beam[0], float(beam[-2]), float(beam[-1])) for beam in beams]


@pytest.fixture(scope="module")
def kenlm_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("pyctcdecode")
    pytest.importorskip("kenlm")
    return arpa_file(tmp_path_factory.mktemp("arpa"))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"alpha": 1.5, "beta": 0.2},
        {"unk_score_offset": -1.0, "lm_score_boundary": False},
        {"unigrams": ["domu", "škola", "neviděn", "řeku"], "unk_score_offset": -3.0},
    ],
    ids=str,
)
def test_the_beams_are_those_with_kenlm(kenlm_file: str, settings: dict[str, Any]) -> None:
    package = pytest.importorskip("pyctcdecode")
    theirs = package.build_ctcdecoder(LABELS, kenlm_file, **settings)
    ours = build_ctcdecoder(LABELS, ngrams(), **settings)
    different = 0
    for seed, text in enumerate([*HELD_OUT[:12], *UNSEEN]):
        logits = emissions(text, LABELS, seed)
        expected = summary(theirs.decode_beams(logits, beam_width=30))
        found = summary(ours.decode_beams(logits, beam_width=30))
        assert [beam[0] for beam in found] == [beam[0] for beam in expected]
        assert np.array([beam[1:] for beam in found]) == pytest.approx(
            np.array([beam[1:] for beam in expected]), abs=1e-3
        )
        different += package.build_ctcdecoder(LABELS).decode(logits) != found[0][0]
    assert different > 3  # else the language model would decide nothing


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_decides_by_its_own_probabilities(kind: str) -> None:
    pytest.importorskip("pyctcdecode")
    model = model_of(kind)
    decoder = build_ctcdecoder(LABELS, model, alpha=0.7, beta=0.5)
    for seed, text in enumerate(HELD_OUT[:3]):
        # Little noise, so that nothing ends with a space: pyctcdecode would score an empty word after it, as unknown.
        (best, *_) = decoder.decode_beams(emissions(text, LABELS, seed, noise=0.4), beam_width=20)
        words = best[0].split()
        state, logprob = model.begin(), 0.0
        for word in words:
            added, state = model.score(state, word)
            logprob += added - (0 if word in model.vocabulary else 10 * np.log(10))
        logprob += model.score_id(state, 2)[0]
        assert best[-1] - best[-2] == pytest.approx(0.7 * logprob + 0.5 * len(words), abs=1e-6)


def test_a_model_makes_fewer_mistakes_than_none() -> None:
    package = pytest.importorskip("pyctcdecode")
    with_model, without = build_ctcdecoder(LABELS, ngrams()), package.build_ctcdecoder(LABELS)
    heard = [(text, emissions(text, LABELS, seed, noise=1.6)) for seed, text in enumerate(HELD_OUT[:20])]
    right = [sum(decoder.decode(logits) == text for text, logits in heard) for decoder in (with_model, without)]
    assert right[0] > right[1] + 3


def test_a_directory_and_later_settings(tmp_path: Path) -> None:
    package = pytest.importorskip("pyctcdecode")
    decoder, logits = build_ctcdecoder(LABELS, directory(tmp_path)), emissions(HELD_OUT[0], LABELS, 1)
    before = summary(decoder.decode_beams(logits))[0][2]
    decoder.reset_params(alpha=2.0, beta=0.0, unk_score_offset=-2.0, lm_score_boundary=False)
    assert summary(decoder.decode_beams(logits))[0][2] != before
    same = build_ctcdecoder(LABELS, ngrams(), alpha=2, beta=0, unk_score_offset=-2, lm_score_boundary=False)
    assert summary(decoder.decode_beams(logits)) == summary(same.decode_beams(logits))
    assert isinstance(
        decoder.model_container[decoder._model_key], package.language_model.AbstractLanguageModel
    )  # pyctcdecode's own class
    with pytest.raises(ConfigError, match=r"save the model by itself, with model\.save"):
        decoder.save_to_dir(str(tmp_path))


def test_a_text_goes_on_from_a_state() -> None:
    pytest.importorskip("pyctcdecode")
    decoder, model = build_ctcdecoder(LABELS, ngrams(), alpha=1.0, beta=0.0, lm_score_boundary=False), ngrams()
    first = decoder.decode_beams(emissions("domu", LABELS, 3, noise=0.1))[0]
    second = decoder.decode_beams(emissions("řeku", LABELS, 4, noise=0.1), lm_start_state=first[1])[0]
    after = model.score(model.begin(sentence=False), first[0])[1]
    assert second[-1] - second[-2] == pytest.approx(model.score(after, second[0])[0], abs=1e-6)
    assert after not in (model.begin(), model.begin(sentence=False))


# ---------------------------------------------------------------- the model alone, without pyctcdecode


def test_beginnings_of_words() -> None:
    adapter = CTCLanguageModel(ngrams(), ["domu", "škola", "☃"], unk_score_offset=-3)
    assert adapter.unigrams == {"domu", "škola"}
    assert [adapter.score_partial_token(part) for part in ("d", "domu", "šk")] == [0, 0, 0]
    assert adapter.score_partial_token("domux") == -3
    assert adapter.score_partial_token("x" * 12) == -6
    with pytest.raises(InputError, match="is no word"):
        adapter.score_partial_token(5)  # type: ignore[arg-type]


def test_it_is_pickled_without_its_caches() -> None:
    adapter = CTCLanguageModel(model_of("mixture"), beta=0.3)
    score, after = adapter.score(adapter.get_start_state(), "domu", is_last_word=True)
    adapter.score_partial_token("do")
    again = pickle.loads(pickle.dumps(adapter))
    assert "_scores" not in vars(again)
    assert again.score(again.get_start_state(), "domu", is_last_word=True) == (score, after)
    assert (again.order, again.beta) == (adapter.order, 0.3)


def test_wrong_arguments_are_refused() -> None:
    adapter = CTCLanguageModel(ngrams())
    with pytest.raises(ConfigError, match="alpha is 'much'"):
        adapter.reset_params(alpha="much")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the model knows none of the unigrams"):
        CTCLanguageModel(ngrams(), ["DOMU"])
    states: list[Any] = ["no state", None, [1], {}]
    for wrong in states:
        with pytest.raises(StateError):
            adapter.score(wrong, "domu")


def test_what_is_kept_of_scores_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.integrations.cached_scores.ENTRIES", 3)
    model, adapter = ngrams(), CTCLanguageModel(ngrams(), alpha=1, beta=0)
    for words in HELD_OUT:
        state, expected = adapter.get_start_state(), model.begin()
        for word in words.split():
            score, state = adapter.score(state, word)
            assert (score, state) == model.score(expected, word)
            expected = state
    assert len(adapter._scores._kept) <= 3


@pytest.mark.parametrize("open_vocabulary", [False, True])
def test_unknown_words_are_composed_and_spelled_if_asked_for(open_vocabulary: bool) -> None:
    model = composing("clbl++")
    asked = with_spelling(model) if open_vocabulary else model
    ours = CTCLanguageModel(
        model, [KNOWN, UNSEEN_WORD], alpha=1, beta=0, unknown_contexts="composed", open_vocabulary=open_vocabulary
    )
    assert ours.unigrams == ({KNOWN, UNSEEN_WORD} if open_vocabulary else {KNOWN})
    offset = 0 if open_vocabulary else -10 * np.log(10)
    state, expected = ours.get_start_state(), asked.begin(unknown_contexts="composed")
    for word in (UNSEEN_WORD, KNOWN, UNSEEN_WORD, KNOWN):
        score, state = ours.score(state, word)
        logprob, expected = asked.score(expected, word)
        assert score == pytest.approx(logprob + (offset if word == UNSEEN_WORD else 0), abs=1e-9)
    assert state == expected
