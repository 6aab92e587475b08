"""`prefix` is ln of the sum over the words that begin with a string, whatever the model, the letters and the cache."""

from __future__ import annotations

import copy
import math
import pickle
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError, StateError
from morphlm.language_model import prefixes
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.loading import load
from morphlm.scoring.mixing import mix
from morphlm.scoring.prediction import next_words
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, Vocabulary
from tests.language_model.test_guards import MODELS, all_models
from tests.scoring.models import small_model, wide_model

STATES = 5


class Tables(LanguageModel):
    """A kind of one's own: a distribution for each of some states, drawn at random. It counts what it is asked."""

    kind, order = "tables", 2

    def __init__(self, words: list[str], training: dict[str, Any] | None = None) -> None:
        self.vocabulary = Vocabulary((*RESERVED, *words), np.ones(len(words) + 3, np.int64))
        self.training = training or {}
        # Of very different sizes, some 0: cumulative sums would lose the small ones.
        drawn = np.random.default_rng(1).normal(0, 15, (STATES, len(self.vocabulary)))
        tables = np.where(drawn > 20, 0.0, np.exp(drawn))
        tables[:, BEGIN_ID] = 0.0
        self.tables = tables / tables.sum(axis=1, keepdims=True)
        self.asked: Counter[int] = Counter()

    def begin(self, *, sentence: bool = True, unknown_contexts: Any = "unk") -> int:
        return 0 if sentence else 1

    def is_state(self, state: int) -> bool:
        return type(state) is int and 0 <= state < STATES

    def score_id(self, state: int, word: int) -> tuple[float, int]:
        return math.log(self.tables[state, word]), word % STATES

    def score_tokens(self, tokens: Any) -> Any:
        raise NotImplementedError

    def distribution(self, state: int) -> Any:
        self.asked[state] += 1
        return self.tables[state].copy()

    def save(self, directory: str | Path) -> None:
        raise NotImplementedError


def recorded(**steps: Any) -> dict[str, Any]:
    """A training record: how the text was prepared."""
    options = {"language": None, "nfc": True, "tokeniser": "words", "case": "lower", "digits": True} | steps
    return {"preparation": {"tokeniser": "words1", "normalisation": "lc", "options": {"cyrillic_share": 0.0} | options}}


def begins_with(word: str, prefix: str) -> bool:
    return unicodedata.normalize("NFC", word).startswith(unicodedata.normalize("NFC", prefix))


def expected(model: LanguageModel, state: Any, prefix: str) -> dict[str, float]:
    """The words with a prefix, which is prepared already, and their probabilities, one by one."""
    pairs = list(zip(model.vocabulary.words, model.distribution(state).tolist(), strict=True))
    return {word: probability for word, probability in pairs[len(RESERVED) :] if begins_with(word, prefix)}


def log_of_sum(probabilities: dict[str, float]) -> float:
    total = math.fsum(probabilities.values())
    return math.log(total) if total else -math.inf


# ---------------------------------------------------------------- any letters

# Letters that compose (é, й, ё), marks that compose with nothing before them, other scripts, and the last code point.
LETTERS = ["a", "b", "e", "\u0301", "é", "и", "\u0306", "й", "ж", "ё", "ß", "ǆ", "0", "<", "\U0001f600", "\U0010ffff"]
small_words = st.text(st.sampled_from(LETTERS), min_size=1, max_size=5)
vocabularies = st.lists(small_words.filter(lambda word: word not in RESERVED), max_size=30, unique=True)


@given(vocabularies, st.data())
def test_a_prefix_is_the_sum_over_the_words_that_begin_with_it(words: list[str], data: st.DataObject) -> None:
    model = Tables(words)
    beginnings = [word[:end] for word in words for end in range(len(word) + 1)] or [""]
    prefix = data.draw(st.one_of(st.sampled_from(beginnings), small_words))
    state = data.draw(st.integers(0, STATES - 1))
    allowed = expected(model, state, prefix)
    assert model.prefix(state, prefix) == pytest.approx(log_of_sum(allowed), rel=1e-12, abs=1e-12)
    for form in ("NFC", "NFD"):
        assert model.prefix(state, unicodedata.normalize(form, prefix)) == model.prefix(state, prefix)
    ids = model.vocabulary.ids
    ranked = sorted((word for word in allowed if allowed[word] > 0), key=lambda word: (-allowed[word], ids[word]))
    k = data.draw(st.integers(0, 4))
    assert model.completions(state, prefix, k) == [(word, math.log(allowed[word])) for word in ranked[:k]]


@given(vocabularies, st.lists(st.tuples(st.integers(0, STATES - 1), st.text(st.sampled_from(LETTERS), max_size=2))))
def test_many_prefixes_are_as_one_by_one(words: list[str], asked: list[tuple[int, str]]) -> None:
    model = Tables(words)
    found = model.prefixes([state for state, _ in asked], [prefix for _, prefix in asked])
    assert found.tolist() == [model.prefix(state, prefix) for state, prefix in asked]
    assert max(model.asked.values(), default=1) == 1


def test_improbable_words_are_not_lost_beside_probable_ones() -> None:
    """With cumulative sums they were: 1 + 1e-30 - 1."""
    model = Tables(["ab", "b", "bc", "c"])
    model.tables[0] = [0, 0, 0, 1.0 - 1e-9, 1e-30, 2e-30, 1e-9]
    assert model.prefix(0, "b") == pytest.approx(math.log(3e-30))


def test_no_words_at_all() -> None:
    model = Tables([])
    assert model.prefix(0, "") == model.prefix(0, "a") == -math.inf
    assert model.completions(0, "", 3) == []


# ---------------------------------------------------------------- every kind of model


@all_models
def test_prefixes_of_every_kind(name: str) -> None:
    model = MODELS[name]()
    words = model.vocabulary.words[len(RESERVED) :]
    states = [model.begin(), model.begin(sentence=False), model.score(model.begin(), words[3])[1]]
    for state in states:
        for prefix in ("", "w", "w1", words[-1], "x"):
            allowed = expected(model, state, prefix)
            assert model.prefix(state, prefix) == pytest.approx(log_of_sum(allowed), abs=1e-9)
            best = model.completions(state, prefix, 4)
            assert [math.exp(logprob) for _, logprob in best] == pytest.approx(sorted(allowed.values())[::-1][:4])
        letters = {word[0] for word in words}
        parts = [math.exp(model.prefix(state, letter)) for letter in letters]
        assert sum(parts) == pytest.approx(math.exp(model.prefix(state, "")))
        marks = model.distribution(state)[[UNK_ID, END_ID]].sum()
        assert math.exp(model.prefix(state, "")) == pytest.approx(1 - marks, abs=1e-6)
    listed = [state for state in states for _ in range(3)]
    asked = ["", "w1", "x"] * len(states)
    single = [model.prefix(state, prefix) for state, prefix in zip(listed, asked, strict=True)]
    assert copy.copy(model).prefixes(listed, asked) == pytest.approx(single, abs=1e-9)


def test_a_word_is_the_sum_of_its_continuations() -> None:
    """What a search of letters relies on: p of a prefix is that of the word and of the longer prefixes."""
    model = small_model("clbl++")
    state = model.score(model.begin(), "domu")[1]
    words = model.vocabulary.words[len(RESERVED) :]
    longer = {word[: len("škol") + 1] for word in words if word.startswith("škol") and word != "škol"}
    parts = [math.exp(model.prefix(state, prefix)) for prefix in longer]
    parts += [math.exp(model.score(state, "škol")[0])] if "škol" in model.vocabulary else []
    assert math.exp(model.prefix(state, "škol")) == pytest.approx(sum(parts))


def test_completions_are_what_predict_shows() -> None:
    model = small_model("mkn")
    state = model.score(model.begin(), "domu")[1]
    shown = next_words(model, ["domu"], 5, "š")
    assert [(one.word, math.log(one.probability)) for one in shown] == model.completions(state, "š", 5)
    assert sum(one.probability / one.share for one in shown) / 5 == pytest.approx(math.exp(model.prefix(state, "š")))


# ---------------------------------------------------------------- how a prefix is prepared


def test_a_prefix_is_prepared_like_the_training_text() -> None:
    words = ["école", "ёлка", "000", "0x", "l'amico", "straße", "i̇x", "ix"]
    model = Tables(words, recorded())
    for prefix, form in (
        ("É", "é"), ("E\u0301C", "éc"), ("е\u0308".upper(), "ё"), ("12", "00"), ("L'A", "l'a"), ("İX", "ix"),
        ("e\u00adc", "ec"), ("STRASSE", "strasse"), ("\N{ARABIC-INDIC DIGIT SIX}", "0"),
    ):  # fmt: skip
        assert model.prefix(0, prefix) == pytest.approx(log_of_sum(expected(model, 0, form))), prefix
    turkish = Tables(["ışık", "işik"], recorded(language="tr"))
    assert turkish.prefix(0, "I") == pytest.approx(math.log(turkish.tables[0, 3]))
    kept = Tables(["Dům", "dům", "12"], recorded(case="keep", digits=False))
    assert kept.completions(0, "D", 5) == [("Dům", math.log(kept.tables[0, 3]))]
    assert kept.completions(0, "1", 5) == [("12", math.log(kept.tables[0, 5]))]
    decomposed = Tables(["e\u0301a", "éb", "ea"], recorded(nfc=False))
    assert {word for word, _ in decomposed.completions(0, "é", 5)} <= {"e\u0301a", "éb"}
    assert decomposed.prefix(0, "E\u0301") == pytest.approx(math.log(decomposed.tables[0, 3:5].sum()))


def test_a_text_in_one_script_does_not_hide_words_of_another() -> None:
    """The paper's filter of Russian text turns tokens into UNK; a prefix is none."""
    model = Tables(["дом", "dom"], recorded(language="ru", tokeniser="moses", cyrillic_share=0.8))
    assert model.prefix(0, "do") == pytest.approx(math.log(model.tables[0, 4]))


def test_without_a_record_the_case_is_adapted_only_if_no_word_has_capitals() -> None:
    lower, mixed = Tables(["dům", "12"]), Tables(["dům", "Dům", "12"])
    assert lower.prefix(0, "DŮ") == lower.prefix(0, "dů") > -math.inf
    assert mixed.prefix(0, "DŮ") == -math.inf
    assert mixed.prefix(0, "Dů") == pytest.approx(math.log(mixed.tables[0, 4]))
    assert lower.prefix(0, "00") == -math.inf


def test_a_changed_record_counts() -> None:
    model = Tables(["dům", "Dům"])
    assert model.prefix(0, "D") == pytest.approx(math.log(model.tables[0, 4]))
    model.training = recorded()
    assert model.prefix(0, "D") == pytest.approx(math.log(model.tables[0, 3]))


def test_reserved_marks_are_no_words() -> None:
    model = Tables(["<b>", "b"], recorded())
    assert model.prefix(0, "<") == pytest.approx(math.log(model.tables[0, 3]))
    for mark in (*RESERVED, "<S>"):
        assert model.prefix(0, mark) == -math.inf


def test_what_is_no_prefix_is_refused() -> None:
    model: Any = Tables(["dům"])
    for prefix in (None, 5, b"d", ["d"], 1.5, object()):
        for ask in (model.prefix, model.completions):
            with pytest.raises(InputError, match="is no word; give a str"):
                ask(0, prefix)
        with pytest.raises(InputError):
            model.prefixes([0], [prefix])
    for prefix, problem in (
        ("d ů", "white space inside"),
        (" ", "white space inside"),
        ("\udcff", "no.* proper string"),
    ):
        with pytest.raises(InputError, match=problem):
            model.prefix(0, prefix)
    for listed in (None, 5, "d", b"d"):
        with pytest.raises(InputError, match="is no sequence of words"):
            model.prefixes([0], listed)
    with pytest.raises(ConfigError, match="2 states and 1 prefix; give a prefix for each state"):
        model.prefixes([0, 0], ["d"])


# ---------------------------------------------------------------- what is kept


def test_states_that_equal_a_kept_one_are_checked() -> None:
    model: Any = Tables(["dům"])
    model.prefix(1, "d")
    for state in (True, 1.0, np.int64(1)):
        with pytest.raises(StateError):
            model.prefix(state, "d")


def test_a_distribution_is_computed_once_for_many_prefixes() -> None:
    model = Tables(["dům", "les"])
    for prefix in ("", "d", "dů", "l", "x"):
        model.prefix(0, prefix)
        model.completions(0, prefix, 2)
    model.prefixes([1, 0, 1], ["d", "l", ""])
    assert model.asked == {0: 1, 1: 1}


def test_the_cache_is_bounded_and_keeps_what_was_used_last() -> None:
    model = Tables(["dům", "les"])
    model.prefix_cache_megabytes = 2.5 * 8 * len(model.vocabulary) / (1 << 20)  # two states
    for state in (0, 1, 0, 2):
        model.prefix(state, "d")
    assert list(model._prefix_cache.distributions) == [0, 2]
    model.prefixes([0, 3, 4, 1, 0], ["d"] * 5)
    assert list(model._prefix_cache.distributions) == [4, 1]
    assert model.asked == {0: 1, 1: 2, 2: 1, 3: 1, 4: 1}
    model.prefix_cache_megabytes = 0
    before = model.asked[2]
    for prefix in ("d", "l"):
        model.prefix(2, prefix)
    assert (list(model._prefix_cache.distributions), model.asked[2]) == ([2], before + 1)
    model.prefix_cache_megabytes = "much"  # type: ignore[assignment]
    with pytest.raises(ConfigError, match="prefix_cache_megabytes is 'much'"):
        model.prefix(3, "d")


def test_many_states_are_computed_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefixes, "STATES_AT_ONCE", 2)
    model, sizes = Tables(["dům", "les"]), []

    def distributions(states: list[int]) -> Any:
        sizes.append(len(states))
        return np.stack([model.tables[state] for state in states])

    monkeypatch.setattr(model, "distributions", distributions)
    model.prefix(1, "d")
    states = [0, 1, 2, 3, 4, 0]
    found = model.prefixes(states, list("dldldl"))
    assert sizes == [1, 2, 1]
    assert found.tolist() == [model.prefix(state, prefix) for state, prefix in zip(states, "dldldl", strict=True)]


def test_the_ranges_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefixes, "KEPT_RANGES", 3)
    model = Tables(["a", "b", "c", "d"])
    for letter in "abcdabcd":
        assert model.prefix(0, letter) == pytest.approx(math.log(model.tables[0, model.vocabulary.ids[letter]]))
        assert len(model._prefix_cache.ranges) <= 3


def test_each_thread_has_its_own() -> None:
    model, barrier = Tables([f"w{number}" for number in range(50)]), Barrier(4)
    single = {
        (state, prefix): Tables(list(model.vocabulary.words[3:])).prefix(state, prefix)
        for state in range(STATES)
        for prefix in ("", "w1", "w")
    }
    model.prefix_cache_megabytes = 2 * 8 * len(model.vocabulary) / (1 << 20)

    def ask(seed: int) -> tuple[bool, int]:
        barrier.wait()
        rng = np.random.default_rng(seed)
        asked = [(int(rng.integers(STATES)), ("", "w1", "w")[int(rng.integers(3))]) for _ in range(300)]
        same = all(model.prefix(*one) == single[one] for one in asked)
        return same, len(model._prefix_cache.distributions)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [(True, 2)] * 4
    assert not model._prefix_cache.distributions  # of this thread, which has asked nothing


def test_copies_and_pickles_begin_with_nothing() -> None:
    model = Tables(["dům", "les"])
    size = len(pickle.dumps(model))
    model.prefix_cache_megabytes = 4.0
    before = model.prefix(0, "d")
    others: list[Tables] = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    assert len(pickle.dumps(model)) < size + 200
    for other in others:
        assert not other._prefix_cache.distributions
        assert other.prefix(0, "d") == before
        assert other.prefix_cache_megabytes == 4.0


@pytest.mark.parametrize("in_directory", [False, True])
def test_the_size_of_the_cache_travels_with_mixtures_and_their_parts(in_directory: bool, tmp_path: Path) -> None:
    model: Any = mix([small_model("clbl++"), small_model("lbl")], weights=[0.5, 0.5])
    if in_directory:
        model.save(tmp_path / "mixture")
        model = load(tmp_path / "mixture")
    model.prefix_cache_megabytes = 7.0
    model.components[0].model.prefix_cache_megabytes = 8.0
    other = pickle.loads(pickle.dumps(model))
    assert (other.prefix_cache_megabytes, other.components[0].model.prefix_cache_megabytes) == (7.0, 8.0)
    del model.components[0].model.prefix_cache_megabytes


def test_a_vocabulary_is_sorted_once_for_all_models_that_share_it() -> None:
    model = wide_model()
    order = model.vocabulary.spelling_order
    for text in ([["domu"]], [["škola", "polem"]]):
        fixed = model.after_text(text)
        assert fixed.prefix(fixed.begin(), "š") == pytest.approx(log_of_sum(expected(fixed, fixed.begin(), "š")))
        assert fixed.vocabulary.spelling_order is order
