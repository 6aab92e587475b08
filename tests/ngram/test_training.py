from __future__ import annotations

import lzma
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.ngram.discounts import estimate_discounts
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.vocabulary.vocabulary import UNK_ID
from tests.conftest import GOLDEN
from tests.ngram.reference import ReferenceKneserNey
from tests.strategies import WORDS, texts

KENLM = GOLDEN / "kneser-ney"


def parse_arpa(text: str) -> dict[str, tuple[float, float]]:
    entries = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) > 1:
            entries[fields[1]] = (float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0)
    return entries


def assert_same_arpa(model: NgramModel, expected: str, tmp_path: Path) -> None:
    model.write_arpa(tmp_path / "model.arpa")
    ours, theirs = parse_arpa((tmp_path / "model.arpa").read_text()), parse_arpa(expected)
    assert ours.keys() == theirs.keys()
    difference = max(abs(a - b) for key in ours for a, b in zip(ours[key], theirs[key], strict=True))
    assert difference < 2e-6


def test_every_probability_and_backoff_is_lmplz_s(tmp_path: Path) -> None:
    expected = lzma.decompress((KENLM / "order4.arpa.xz").read_bytes()).decode()
    assert_same_arpa(train_ngram(KENLM / "train.txt", order=4), expected, tmp_path)


def test_the_last_ngram_enters_the_discounts_as_in_lmplz(tmp_path: Path) -> None:
    assert_same_arpa(train_ngram(KENLM / "small.txt", order=3), (KENLM / "small.order3.arpa").read_text(), tmp_path)


LMPLZ_DISCOUNTS = {  # what lmplz printed for train.txt
    3: [(0.526494, 1.14758, 1.72403), (0.841228, 1.28754, 1.59067), (0.946982, 1.17163, 1.42614)],
    4: [
        (0.526494, 1.14758, 1.72403),
        (0.841228, 1.28754, 1.59067),
        (0.946722, 1.19432, 1.47435),
        (0.983653, 1.34875, 0.663825),
    ],
}
QUERY_PERPLEXITIES = {3: (207.01070762598462, 156.27041512080294), 4: (207.15549147815432, 156.43914799945293)}


@pytest.mark.parametrize("order", [3, 4])
def test_discounts_and_perplexities_are_kenlm_s(order: int) -> None:
    model = train_ngram(KENLM / "train.txt", order)
    found = [(entry["D1"], entry["D2"], entry["D3+"]) for entry in model.training["discounts"]]
    np.testing.assert_allclose(found, LMPLZ_DISCOUNTS[order], rtol=4e-6)
    result = model.perplexity(KENLM / "test.txt")
    assert (result.tokens, result.unknown) == (2366, 131)
    assert result.including_unknown == pytest.approx(QUERY_PERPLEXITIES[order][0], rel=1e-6)
    assert result.excluding_unknown == pytest.approx(QUERY_PERPLEXITIES[order][1], rel=1e-6)


@given(texts, st.integers(1, 5))
def test_probabilities_are_those_of_the_definition(text: list[list[str]], order: int) -> None:
    model = train_ngram(text, order)
    discounts = [(entry["D1"], entry["D2"], entry["D3+"]) for entry in model.training["discounts"]]
    reference = ReferenceKneserNey(text, order, discounts)
    for sentence in [text[0], text[-1][::-1], ["never", "a", "seen"], WORDS]:
        context: tuple[str, ...] = ("<s>",)
        for word, logprob in zip([*sentence, "</s>"], model.sentence(sentence), strict=True):
            known = word if word in reference.vocabulary else "<unk>"
            assert math.exp(logprob) == pytest.approx(reference.probability(context, known), rel=1e-5)
            context = (*context, known)


@given(texts, st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]), st.booleans())
def test_distributions_sum_to_one_and_hold_the_scores(
    text: list[list[str]], order: int, kappa: float, is_open: bool
) -> None:
    model = train_ngram(text, order, kappa=kappa, open_vocabulary=is_open or kappa > 0)
    state = model.begin()
    for word in [*text[0], "never", *text[-1]]:
        distribution = model.distribution(state)
        assert distribution.sum() == pytest.approx(1, abs=1e-6)
        assert distribution[1] == 0  # <s> is never predicted
        logprob, state = model.score(state, word)
        with np.errstate(divide="ignore"):
            assert logprob == pytest.approx(np.log(distribution[model.vocabulary.id_of(word)]), rel=1e-5)


@given(texts, st.integers(1, 5))
def test_states_score_like_sentences_and_forget_what_cannot_matter(text: list[list[str]], order: int) -> None:
    model = train_ngram(text, order)
    words = [*text[0], "never", *text[-1]]
    state, logprobs = model.begin(), []
    for word in words:
        logprob, state = model.score(state, word)
        logprobs.append(logprob)
    logprobs.append(model.score(state, "</s>")[0])
    assert logprobs == pytest.approx(model.sentence(words))
    # Two histories that share their last n - 1 words have the same state.
    shared = ["a"] * order
    states = []
    for history in (["b", *shared], ["pro", "novou", *shared]):
        state = model.begin()
        for word in history:
            _, state = model.score(state, word)
        states.append(state)
    assert states[0] == states[1]
    assert model.score(state, "never")[1] == -1  # nothing follows an unknown word


def test_closed_vocabulary_gives_nothing_to_unknown_words() -> None:
    text = [["a", "b"], ["a", "c", "a"]]
    closed, opened = train_ngram(text, 2, open_vocabulary=False), train_ngram(text, 2)
    assert closed.score(closed.begin(), "never")[0] == -math.inf
    assert opened.score(opened.begin(), "never")[0] > -math.inf
    assert closed.perplexity([["a", "never"]]).including_unknown == math.inf
    assert not closed.scores_unknown
    assert closed.signature.value("unk") == "none"
    with pytest.raises(ConfigError, match="cannot be closed"):  # UNK occurs in the training text
        train_ngram(text, 2, kappa=1.0, open_vocabulary=False)


def test_pruned_singletons_are_counted_as_unk() -> None:
    model = train_ngram([["a", "once", "a"], ["a", "twice"], ["twice"]], 2, kappa=1.0)
    assert model.vocabulary.words[3:] == ("a", "twice")
    assert model.vocabulary.counts[UNK_ID] == 1
    assert model.score(model.begin(), "once") == model.score(model.begin(), "never")


def test_words_outside_a_given_vocabulary_become_unk() -> None:
    vocabulary = train_ngram([["a", "b"]], 2).vocabulary
    model = train_ngram([["a", "c", "b", "c"]], 2, vocabulary=vocabulary)
    assert model.vocabulary is vocabulary
    assert model.distribution(model.begin()).shape == (5,)
    assert model.signature.value("kappa") == "given"
    with pytest.raises(ConfigError, match="kappa"):
        train_ngram([["a"]], 2, vocabulary=vocabulary, kappa=0.5)


@pytest.mark.parametrize("state", [-2, 99, 10**12])
def test_a_state_of_another_model_is_refused(state: int) -> None:
    model = train_ngram([["a", "b"]], 2)
    with pytest.raises(ConfigError, match="is no state"):
        model.score(state, "a")
    with pytest.raises(ConfigError, match="is no state"):
        model.distribution(state)


@pytest.mark.parametrize("sentence", [b"pro", [1, 2], ["\ud800"]])
def test_what_is_no_list_of_words_is_refused(sentence: object) -> None:
    with pytest.raises(InputError):
        train_ngram([["a"]], 1).sentence(sentence)  # type: ignore[arg-type]


def test_where_discounts_cannot_be_estimated_the_fallback_stands_with_a_warning(tmp_path: Path) -> None:
    model = train_ngram([["a", "b"]], 3)
    assert [(d["D1"], d["D2"], d["D3+"]) for d in model.training["discounts"]] == [(0.5, 1.0, 1.5)] * 3
    assert len(model.warnings) == 3
    assert model.warnings[0].startswith("no 1-gram has adjusted count 2; the text is small")
    model.save(tmp_path / "model")
    from morphlm import load

    loaded = load(tmp_path / "model")
    assert isinstance(loaded, NgramModel)
    assert loaded.warnings == model.warnings


def test_discounts_follow_chen_and_goodman() -> None:
    discounts = estimate_discounts(2, np.array([0, 100, 40, 20, 10]))
    y = 100 / 180
    expected = (1 - 2 * y * 40 / 100, 2 - 3 * y * 20 / 40, 3 - 4 * y * 10 / 20)
    assert (discounts.d1, discounts.d2, discounts.d3) == pytest.approx(expected)
    assert discounts.warning is None


def test_discounts_out_of_range_fall_back() -> None:
    discounts = estimate_discounts(2, np.array([0, 100, 10, 80, 10]))  # D2 would be negative
    assert (discounts.d1, discounts.d2, discounts.d3) == (0.5, 1.0, 1.5)
    assert "outside [0, 2]" in str(discounts.warning)


@pytest.mark.parametrize("order", [0, -1, 101])
def test_an_order_outside_its_range_is_refused(order: int) -> None:
    with pytest.raises(ConfigError, match="order"):
        train_ngram([["a"]], order)


def test_an_order_beyond_every_sentence_is_no_harm() -> None:
    model = train_ngram([["a", "b"], ["b"]], 9)
    assert model.trie.sizes[4:] == (0, 0, 0, 0, 0)
    assert np.exp(model.sentence(["a", "b"])).prod() > 0.05


def test_a_generator_is_read_once() -> None:
    model = train_ngram((["a", "b"] for _ in range(3)), 2)
    assert model.training["sentences"] == 3


@pytest.mark.parametrize(("n4", "d3"), [(2, 2.0), (0, 3.0), (6, 0.0)])
def test_discounts_at_the_ends_of_their_range_are_taken(n4: int, d3: float) -> None:
    """Y = 6 / (6 + 2 x 3) = 1/2, so D1 = 1 - 2/2 x 3/6, D2 = 2 - 3/2 x 4/3 = 0 and D3 = 3 - 4/2 x n4/4."""
    discounts = estimate_discounts(2, np.array([0, 6, 3, 4, n4]))
    assert (discounts.d1, discounts.d2, discounts.d3, discounts.warning) == (0.5, 0.0, d3, None)
