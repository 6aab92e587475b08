"""Scoring lines as they arrive: the model's own numbers, one result for each line, however the text is cut."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.scoring.streaming import (
    LineScore,
    TextScorer,
    normaliser_of,
    score_lines,
    sentence_sums,
)
from morphlm.text.preparation import PrepareOptions, model_record, paper_options
from morphlm.text.prepare import prepare_files, prepare_line
from tests.scoring.models import KINDS, small_model, text_file, with_preparation
from tests.strategies import texts
from tests.training.small import sentences

TRAIN = [["pro", "novou", "školu"], ["pro", "školu"], ["novou", "školu"]]


def flat(batches: Any) -> list[LineScore]:
    return [score for batch in batches for score in batch]


@pytest.mark.parametrize("kind", KINDS)
def test_each_line_has_the_model_s_score(kind: str, tmp_path: Path) -> None:
    model = small_model(kind)
    text = [*sentences(30, 5, rare=True), [], ["neviděno", "domu"], []]
    scores = flat(score_lines(model, text_file(tmp_path, *map(" ".join, text))))
    assert [score.line for score in scores] == list(range(1, len(text) + 1))
    for score, tokens in zip(scores, text, strict=True):
        assert score.logprob == pytest.approx(sum(model.sentence(tokens)), abs=1e-4)
        assert score.tokens == len(tokens) + 1
        assert score.unknown == sum(token not in model.vocabulary for token in tokens)
        assert score.scores is None


@given(texts)
def test_sums_are_those_of_the_sentences(text: list[list[str]]) -> None:
    model = train_ngram(TRAIN, 2)
    tokens = [token.encode() for sentence in text for token in (*sentence, "</s>")]
    sums, lengths, unknown = sentence_sums(TextScorer(model)(tokens))
    np.testing.assert_allclose(sums, [sum(model.sentence(sentence)) for sentence in text], rtol=1e-12)
    assert lengths == [len(sentence) + 1 for sentence in text]
    assert unknown == [sum(token not in model.vocabulary for token in sentence) for sentence in text]


def test_no_sentences_have_no_sums() -> None:
    assert sentence_sums(TextScorer(train_ngram(TRAIN, 2))([])) == ([], [], [])


def test_tokens_are_shown_as_they_stood(tmp_path: Path) -> None:
    model = train_ngram(TRAIN, 2)
    (first, second) = flat(score_lines(model, text_file(tmp_path, "pro\tstarou  školu", ""), per_token=True))
    assert first.scores is not None
    assert second.scores is not None
    assert [score.token for score in first.scores] == ["pro", "starou", "školu", "</s>"]
    assert [score.unknown for score in first.scores] == [False, True, False, False]
    assert [score.logprob for score in first.scores] == pytest.approx(model.sentence(["pro", "starou", "školu"]))
    assert [score.token for score in second.scores] == ["</s>"]
    assert sum(score.logprob for score in first.scores) == pytest.approx(first.logprob)


@pytest.mark.parametrize(("unit", "of_one_nat"), [("nats", 1.0), ("log10", 0.4342944819), ("bits", 1.4426950409)])
def test_units(unit: Any, of_one_nat: float, tmp_path: Path) -> None:
    model = train_ngram(TRAIN, 2)
    (score,) = flat(score_lines(model, text_file(tmp_path, "pro školu"), unit=unit, per_token=True))
    assert score.logprob == pytest.approx(of_one_nat * sum(model.sentence(["pro", "školu"])), rel=1e-9)
    assert score.scores is not None
    assert score.scores[0].logprob == pytest.approx(of_one_nat * model.sentence(["pro", "školu"])[0], rel=1e-9)


def test_the_result_does_not_depend_on_how_the_text_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, path = train_ngram(TRAIN, 2), text_file(tmp_path, *["pro školu", "", "novou pro školu"] * 20)
    whole = list(score_lines(model, path, per_token=True))
    monkeypatch.setattr("morphlm.text.reading.BLOCK_BYTES", 30)
    pieces = list(score_lines(model, path, per_token=True))
    assert (len(whole), len(pieces)) == (1, pytest.approx(30, abs=15))
    assert flat(pieces) == flat(whole)


def test_json_has_no_infinity(tmp_path: Path) -> None:
    closed = train_ngram(TRAIN, 2, open_vocabulary=False)
    (score,) = flat(score_lines(closed, text_file(tmp_path, "pro nic"), per_token=True))
    assert score.logprob == -math.inf
    found = score.to_json()
    assert (found["line"], found["logprob"], found["tokens"], found["unknown"]) == (1, None, 3, 1)
    assert [entry["logprob"] is None for entry in found["scores"]] == [False, True, False]


# ------------------------------------------------------------ marks, and unknown words


def test_marks_are_refused_unless_allowed_or_on_record(tmp_path: Path) -> None:
    model, path = train_ngram(TRAIN, 2), text_file(tmp_path, "pro", "pro <unk>")
    with pytest.raises(InputError, match=r"text.txt:2: the text contains <unk>"):
        flat(score_lines(model, path))
    assert [score.unknown for score in flat(score_lines(model, path, allow_unknown=True))] == [0, 1]
    raw = tmp_path / "raw"
    raw.write_text("да ok нет\n")
    prepare_files([raw], tmp_path / "ru.txt", PrepareOptions(tokeniser="none", cyrillic_share=0.8))
    assert (tmp_path / "ru.txt").read_text() == "да <unk> нет\n"
    assert [score.unknown for score in flat(score_lines(model, tmp_path / "ru.txt"))] == [3]


class _Composing(NgramModel):
    """Notes what it is to compose."""

    composes_contexts = True

    def score_composed(self, tokens: Any, forms: Any) -> Any:
        self.asked = tokens.tolist(), list(forms)
        return super().score_composed(tokens, forms)


def test_unknown_words_are_handed_on_to_be_composed() -> None:
    plain = train_ngram(TRAIN, 2)
    model = _Composing(plain.trie, plain.vocabulary, plain.training)
    tokens = [b"pro", b"starou", b"<unk>", b"malou", b"starou", b"</s>"]
    pro, size = plain.vocabulary.id_of("pro"), len(plain.vocabulary)
    scored = TextScorer(model, "composed")(tokens)
    assert model.asked == ([pro, size, 0, size + 1, size, 2], ["starou", "malou"])
    assert scored.corpus.tokens.tolist() == [pro, 0, 0, 0, 0, 2]
    del model.asked
    TextScorer(model)(tokens)
    assert not hasattr(model, "asked")


# ------------------------------------------------------------ normalisation as in training


def test_text_is_normalised_as_on_record(tmp_path: Path) -> None:
    model = with_preparation(train_ngram(TRAIN, 2), "lc+digits")
    path = text_file(tmp_path, "Pro NOVOU Školu", "pro 12 <unk>")
    plain = flat(score_lines(model, path, allow_unknown=True, prepared=True))
    found = flat(score_lines(model, path, allow_unknown=True, per_token=True))
    assert [score.unknown for score in plain] == [3, 2]
    assert [score.unknown for score in found] == [0, 2]
    assert found[0].logprob == pytest.approx(sum(model.sentence(["pro", "novou", "školu"])))
    assert [score.token for score in found[1].scores or ()] == ["pro", "00", "<unk>", "</s>"]


@pytest.mark.parametrize(
    ("recorded", "given", "normalised"),
    [
        ("lc+digits", ["Pro", "12"], ["pro", "00"]),
        ("digits", ["Pro", "12"], ["Pro", "00"]),
        ("none", ["Pro", "12", "s\u030c"], ["Pro", "12", "š"]),
        ("lc+nonfc", ["S\u030c"], ["s\u030c"]),
        ("lc+digits+cyrillic0.8", ["Дом", "ok", ","], ["дом", "<unk>", ","]),
        ("lc", ["a\u200bb", "\xad"], ["a", "b"]),
    ],
)
def test_steps_of_normalisation(recorded: str, given: list[str], normalised: list[str]) -> None:
    assert normaliser_of(with_preparation(train_ngram(TRAIN, 2), recorded))(given) == normalised


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n<"), min_size=1)))
def test_words_are_normalised_as_prepare_does_it_to_lines(tokens: list[str]) -> None:
    model = with_preparation(train_ngram([["a"]], 1), "lc+digits")
    expected = prepare_line(" ".join(tokens), PrepareOptions(tokeniser="none"))
    assert normaliser_of(model)(tokens) == expected


@pytest.mark.parametrize(
    "options",
    [
        PrepareOptions(language="cs", max_tokens=0),
        PrepareOptions(language="ru", case="keep", nfc=False, max_tokens=0),
        PrepareOptions(tokeniser="none", digits=False, cyrillic_share=0.5, max_tokens=0),
        paper_options("ru", max_tokens=0),
    ],
)
def test_options_come_back_from_the_record(options: PrepareOptions) -> None:
    model = train_ngram(TRAIN, 2)
    assert model.preparation is None
    model.training["preparation"] = model_record(options)
    assert model.preparation == replace(options, long_sentences=None)


def test_models_of_version_0_1_have_only_names_of_the_steps() -> None:
    model = train_ngram(TRAIN, 2)
    model.training["preparation"] = {"tokeniser": "moses.ru", "normalisation": "lc+digits+cyrillic0.8"}
    assert model.preparation == paper_options("ru", max_tokens=0)
    model.training["preparation"] = {"tokeniser": "none", "normalisation": "nonfc"}
    expected = PrepareOptions(tokeniser="none", case="keep", digits=False, nfc=False, max_tokens=0)
    assert model.preparation == expected


def test_a_record_of_another_normalisation_is_refused() -> None:
    model = train_ngram([["a"]], 2)
    model.training["preparation"] = {"tokeniser": "moses.cs", "normalisation": "lc+cyrillicx"}
    with pytest.raises(ConfigError, match="'cyrillicx', which is not known"):
        assert model.preparation


def test_what_cannot_be_normalised_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no record of how its training text was prepared"):
        normaliser_of(train_ngram(TRAIN, 2))
    model = with_preparation(train_ngram(TRAIN, 2), "lc")
    with pytest.raises(InputError, match=r"text.txt:2: the text would contain <s>"):
        flat(score_lines(model, text_file(tmp_path, "pro", "<S>")))
