"""flashlight's lexicon decoder with our models, and that it finds what it finds with its KenLM and our ARPA file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError, InputError, StateError
from morphlm.integrations import flashlight
from morphlm.integrations.flashlight import build_lexicon_decoder, language_model
from morphlm.scoring.spelled import with_spelling
from tests.integrations.ctc import LETTERS, emissions
from tests.integrations.models import HELD_OUT, KINDS, KNOWN, UNSEEN, arpa_file, composing, directory, model_of, ngrams

pytest.importorskip("flashlight.lib.text")
from flashlight.lib.text.decoder.kenlm import KenLM
from flashlight.lib.text.dictionary import Dictionary

TOKENS = ["-", "|", *LETTERS]
LEXICON = {word: [[*word, "|"]] for word in ("domu", "škola", "školou", "řeku", "řeka", "neviděn")}
OPTIONS: dict[str, Any] = {"beam_size": 30, "lm_weight": 1.5, "word_score": 0.5}


def heard(text: str, seed: int, **settings: Any) -> Any:
    return emissions(text.replace(" ", "|") + "|", TOKENS, seed, **settings)


def dictionary(words: list[str]) -> Any:
    made = Dictionary()
    for word in words:
        made.add_entry(word)
    return made


@pytest.mark.parametrize(
    "settings",
    [{}, {"unk_score": -4.0}, {"log_add": True}, {"sil_score": -0.5, "lm_weight": 3.0}, {"lexicon": LEXICON}],
    ids=lambda settings: ",".join(settings) or "default",
)
def test_the_hypotheses_are_those_with_kenlm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    settings = OPTIONS | settings
    ours = build_lexicon_decoder(TOKENS, ngrams(), **settings)
    path = arpa_file(tmp_path)
    monkeypatch.setattr(flashlight, "language_model", lambda _, words, **__: KenLM(path, words))
    theirs = build_lexicon_decoder(TOKENS, ngrams(), **settings)
    for seed, text in enumerate([*HELD_OUT[:10], "neviděn domu", "domu neviděn"]):
        frames = heard(text, seed)
        expected, found = theirs.decode(frames), ours.decode(frames)
        assert [row.words for row in found] == [row.words for row in expected]
        assert [row.tokens for row in found] == [row.tokens for row in expected]
        scores = [[(row.score, row.emission_score, row.lm_score) for row in rows] for rows in (found, expected)]
        assert np.array(scores[0]) == pytest.approx(np.array(scores[1]), abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_decides_by_its_own_probabilities(kind: str) -> None:
    model = model_of(kind)
    decoder = build_lexicon_decoder(TOKENS, model, **OPTIONS)
    for seed, text in enumerate(HELD_OUT[:3]):
        best = decoder.decode(heard(text, seed))[0]
        state, logprob = model.begin(), 0.0
        for word in best.words:
            added, state = model.score(state, word)
            logprob += added
        logprob += model.score_id(state, 2)[0]
        assert best.lm_score == pytest.approx(logprob / math.log(10), abs=1e-4)


def test_a_model_makes_fewer_mistakes_than_none(tmp_path: Path) -> None:
    path = directory(tmp_path)
    decoder, deaf = (build_lexicon_decoder(TOKENS, path, lm_weight=weight) for weight in (2.0, 0.0))
    spoken = [(tuple(text.split()), heard(text, seed, noise=1.8)) for seed, text in enumerate(HELD_OUT[:20])]
    right = [sum(one.decode(frames)[0].words == words for words, frames in spoken) for one in (decoder, deaf)]
    assert right[0] > right[1]


def test_the_language_model_alone_scores_as_kenlm(tmp_path: Path) -> None:
    words = ["domu", "škola", "neviděno", "řeku", "<unk>"]
    ours, theirs = language_model(ngrams(), dictionary(words)), KenLM(arpa_file(tmp_path), dictionary(words))
    for nothing in (False, True):
        states = ours.start(nothing), theirs.start(nothing)
        for index in (0, 3, 2, 1, 4, 0):
            (after, score), (following, expected) = ours.score(states[0], index), theirs.score(states[1], index)
            assert score == pytest.approx(expected, abs=1e-4)
            assert ours.score(states[0], index)[0].compare(after) == 0
            states = after, following
        assert ours.finish(states[0])[1] == pytest.approx(theirs.finish(states[1])[1], abs=1e-4)


def test_wrong_arguments_are_refused() -> None:
    lm = language_model(ngrams(), dictionary(["domu"]))
    state = lm.start(False)
    with pytest.raises(StateError, match="is no index of a word"):
        lm.score(state, 1)
    lm.start(False)
    with pytest.raises(StateError, match="use one language model for each decoder"):
        lm.score(state, 0)
    with pytest.raises(ConfigError, match="'_' is not among the tokens"):
        build_lexicon_decoder(TOKENS, ngrams(), blank="_")
    with pytest.raises(ConfigError, match="can spell no word"):
        build_lexicon_decoder(["-", "|", "X"], ngrams())
    with pytest.raises(InputError, match="has more than the tokens"):
        build_lexicon_decoder(TOKENS, ngrams(), {"domu": [["D"]]})
    decoder = build_lexicon_decoder(TOKENS, ngrams(), LEXICON)
    with pytest.raises(InputError, match="do not fit"):
        decoder.decode(np.zeros((3, 4)))
    with pytest.raises(InputError, match="not a number"):
        decoder.decode(np.full((3, len(TOKENS)), np.nan))


@pytest.mark.parametrize("open_vocabulary", [False, True])
def test_unknown_words_are_composed_and_spelled_if_asked_for(open_vocabulary: bool) -> None:
    model = composing("clbl++")
    words = [KNOWN, UNSEEN]
    asked = with_spelling(model) if open_vocabulary else model
    lm = language_model(model, dictionary(words), unknown_contexts="composed", open_vocabulary=open_vocabulary)
    state, expected = lm.start(False), asked.begin(unknown_contexts="composed")
    for index in (1, 0, 1, 0):
        state, score = lm.score(state, index)
        logprob, expected = asked.score(expected, words[index])
        assert score == pytest.approx(logprob / math.log(10), abs=1e-6)


def test_words_of_the_lexicon_that_the_model_does_not_know_are_found() -> None:
    model = composing("clbl++")
    lexicon = {**LEXICON, "neviděn": [[*"neviděn", "|"]]}
    decoder = build_lexicon_decoder(TOKENS, model, lexicon, unknown_contexts="composed", open_vocabulary=True)
    (best, *_) = decoder.decode(heard("neviděn domu", 1, noise=0.1))
    assert best.words == ("neviděn", "domu")
