"""Whatever Python hands to a model that is no id or no state is refused: nothing crashes, hangs or gets a number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import morphlm
from morphlm.errors import ConfigError, InputError, MorphlmError, StateError, WordIdError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.batch_scorer import StateScorer, batch_scorer
from morphlm.logbilinear.config import VARIANTS
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.states import WideState
from morphlm.ngram.training import train_ngram
from morphlm.scoring.mixture import MixtureModel, as_components
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, Vocabulary
from tests.logbilinear.cases import make_case

WORDS, WIDE = 30, 6


# ---------------------------------------------------------------- all kinds of models


@cache
def logbilinear(kind: str, *, diagonal: bool = True, wide: int = 0) -> LogBilinearModel:
    case = make_case(kind, diagonal, order=3, words=WORDS, classes=4, tokens=60)
    config = replace(case.config, wide=wide)
    parameters = initial_parameters(config, case.structure, seed=2, init_std=0.3)
    return LogBilinearModel(config, case.structure, parameters, {})


@cache
def ngrams(order: int, *, closed: bool = False, shuffled: bool = False) -> LanguageModel:
    """Over the words of the log-bilinear models, in their order or another."""
    vocabulary = logbilinear("lbl").vocabulary
    words = vocabulary.words[3:]
    if shuffled:
        vocabulary = Vocabulary((*vocabulary.words[:3], *words[::-1]), vocabulary.counts)
    rng = np.random.default_rng(order)
    text = [[words[k] for k in rng.integers(0, len(words), 6)] for _ in range(60)]
    return train_ngram(text, order, vocabulary=vocabulary, open_vocabulary=not closed)


def mixture(*models: LanguageModel, by_context: bool = False) -> MixtureModel:
    components = as_components(models, [None] * len(models))
    if not by_context:
        return MixtureModel(components, np.full((1, len(models)), 1 / len(models)), "none", {})
    sorting = [getattr(model, "context_buckets", 1) for model in models]
    buckets = next((number for number in sorting if number > 1), 16)
    return MixtureModel(components, np.full((buckets, len(models)), 1 / len(models)), "context", {})


class Uniform(LanguageModel):
    """A kind of somebody else's, which checks nothing."""

    kind, order = "uniform", 2

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary, self.training = vocabulary, {}
        self._logprobs = np.full(len(vocabulary), -math.log(len(vocabulary) - 1))

    def begin(self, *, sentence: bool = True, unknown_contexts: Any = "unk") -> int:
        return BEGIN_ID

    def is_state(self, state: int) -> bool:
        return type(state) is int and 0 <= state < len(self.vocabulary)

    def score_id(self, state: int, word: int) -> tuple[float, int]:
        return float(self._logprobs[word]), word

    def score_tokens(self, tokens: Any) -> Any:
        return self._logprobs[tokens]

    def distribution(self, state: int) -> Any:
        probabilities = np.exp(self._logprobs)
        probabilities[BEGIN_ID] = 0.0
        return probabilities

    def save(self, directory: str | Path) -> None:
        raise NotImplementedError


MODELS: dict[str, Callable[[], LanguageModel]] = {
    **{f"mkn {order}": lambda order=order: ngrams(order) for order in (1, 2, 3, 4)},  # type: ignore[misc]
    "mkn closed": lambda: ngrams(2, closed=True),
    **{kind: lambda kind=kind: logbilinear(kind) for kind in VARIANTS},  # type: ignore[misc]
    "full C": lambda: logbilinear("clbl++", diagonal=False),
    "wide": lambda: logbilinear("clbl++", wide=WIDE),
    "wide lbl": lambda: logbilinear("lbl", diagonal=False, wide=WIDE),
    "mixture": lambda: mixture(ngrams(3), logbilinear("clbl++")),
    "other order of words": lambda: mixture(logbilinear("clbl"), ngrams(3, shuffled=True)),
    "by context": lambda: mixture(ngrams(3), logbilinear("clbl++"), by_context=True),
    "by the last word": lambda: mixture(logbilinear("lbl"), logbilinear("clbl++"), by_context=True),
    "nested": lambda: mixture(mixture(ngrams(2), logbilinear("lbl"), by_context=True), logbilinear("clbl", wide=WIDE)),
    "of another package": lambda: Uniform(logbilinear("lbl").vocabulary),
}
all_models = pytest.mark.parametrize("name", MODELS)


# ---------------------------------------------------------------- what is wrong


class Unprintable:
    """Its repr fails, as that of an integer of thousands of digits does."""

    def __repr__(self) -> str:
        raise ValueError


BAD_IDS: list[Any] = [
    *(-1, -(2**31), -(2**70), WORDS, 10**7, 2**31, 2**32 + 5, 2**63, 2**64, 10**5000),
    *(1.5, 3.0, math.nan, math.inf, 3j, None, "3", b"3", True, [3], (3,), {3}, {}, Unprintable(), object()),
    *(np.float32(3), np.bool_(True), np.array([3]), np.array([3, 4]), np.int64(-1), np.uint64(2**63), np.int64(WORDS)),
]
BAD_ARRAYS: list[Any] = [
    *([-1], [WORDS], [3, 10**7], [2**31], [2**32 + 5], [2**63], [2**70], [1.0], [1.5], [math.nan], [None], [3, "3"]),
    *([True], [[3]], [[1], [1, 2]], 3, None, "345", b"345", {3: 4}, object(), [object()], [Unprintable()]),
    *(np.array([3.0]), np.array([[3]]), np.array(3), np.array([2**40]), np.array([-1], np.int8), np.array([True])),
    *(np.array([3, -1]).astype(">i4"), np.array([3], object), np.array([2**63], np.uint64)),
]
STRINGS: list[Any] = [["3"], np.array(["3"])]  # words for some methods, for none of them ids
BY_WORDS = ("score_many", "score_grid")
NO_STATES: list[Any] = [
    *(None, 1.5, math.nan, math.inf, "x", b"xy", True, 10**9, -2, 2**70, 10**5000, 3j, Unprintable(), object()),
    *([], [1, 2], {}, {1, 2}, (), (-1,), (None, None), np.array([1, 2]), np.float64(1), ((), ()), (0, (1, 1), 10**9)),
    *(iter([1, 2]), range(2), WideState((1, 1), (10**6,)), WideState([1, 1], []), WideState("ab", "")),  # type: ignore[arg-type]
]
PARTS: list[Any] = [-2, WORDS + 10**6, 2**40, 2**70, 1.5, math.nan, None, "1", [1], ()]


def bad_states(model: LanguageModel) -> Iterator[Any]:
    """What is no state of any model, what the states of another are, and states of this one with something wrong."""
    yield from NO_STATES
    good = model.begin()
    if not isinstance(good, tuple):
        return
    yield list(good)
    yield good[:-1]
    yield (*good, good[-1])
    for position in range(len(good)):
        for part in PARTS:
            changed = (*good[:position], part, *good[position + 1 :])
            if changed == good:  # an empty wide context
                continue
            yield type(good)(*changed) if isinstance(good, WideState) else changed
    if isinstance(good, WideState):
        yield tuple(good)
        yield from (good._replace(words=words) for words in ((1,), (1, 1, 1), (-1, 1), (1, WORDS), [1, 1], (1, 1.0)))  # type: ignore[arg-type]
        for before in ((-1,), (WORDS,), (5, 2**40), (1.5,), (None,), [5], (5,) * (WIDE + 1), "5", b"5555"):
            yield good._replace(before=before)  # type: ignore[arg-type]
    if isinstance(model, MixtureModel):
        yield from ((bucket, *good[1:]) for bucket in (-1, model.context_buckets, 0.0, False, np.int64(0), "0"))
        if type(good[1]) is not type(good[-1]):
            yield (good[0], *good[:0:-1])


def asked_with_state(model: LanguageModel) -> dict[str, Callable[[Any], Any]]:
    """Every method that takes a state."""
    good, word = model.begin(), model.vocabulary.words[5]
    asked: dict[str, Callable[[Any], Any]] = {
        "score": lambda state: model.score(state, word),
        "score_id": lambda state: model.score_id(state, 5),
        "score_id of <s>": lambda state: model.score_id(state, BEGIN_ID),
        "score_many": lambda state: model.score_many([good, state], [5, 6]),
        "score_grid": lambda state: model.score_grid([good, state], [5, 6, 7]),
        "distribution": model.distribution,
        "distributions": lambda state: model.distributions([state]),
        "top_words": lambda state: model.top_words([state], 3),
        "prefix": lambda state: model.prefix(state, "w"),
        "prefix of nothing": lambda state: model.prefix(state, "\N{SNOWMAN}"),
        "prefixes": lambda state: model.prefixes([good, state], ["w", ""]),
        "completions": lambda state: model.completions(state, "w", 3),
        "next_sentence": model.next_sentence,
        "check_state": model.check_state,
    }
    if not isinstance(model, LogBilinearModel | Uniform):
        asked["bucket_of_state"] = model.bucket_of_state  # type: ignore[attr-defined]
    return asked


@all_models
def test_what_is_no_state_is_refused_by_every_method(name: str) -> None:
    model = MODELS[name]()
    for method, ask in asked_with_state(model).items():
        for state in bad_states(model):
            with pytest.raises(StateError, match="is no "):
                ask(state)
                pytest.fail(f"{method} takes {type(state)} as a state")
        ask(model.begin())
        ask(model.score_id(model.begin(), 5)[1])


@all_models
def test_what_is_no_id_is_refused_by_every_method(name: str) -> None:
    model = MODELS[name]()
    state = model.begin()
    for word in BAD_IDS:
        with pytest.raises(WordIdError, match="is no id of a word"):
            model.score_id(state, word)
            pytest.fail(f"{type(word)} is taken as an id")
        for ask in (model.score_many, model.score_grid):
            with pytest.raises(MorphlmError):
                ask([state], [word] if not isinstance(word, str) else word)
                pytest.fail(f"{type(word)} is taken as an id")


def asked_with_ids(model: LanguageModel) -> dict[str, Callable[[Any], Any]]:
    """Every method that takes an array of ids, and the scorers of decoders."""
    state, scorer, by_states = model.begin(), batch_scorer(model.after_text([])), StateScorer(model)
    contexts, store = np.full((1, scorer.order - 1), UNK_ID, np.int32), scorer.new_cache(1.0)
    few, few_store = np.full((1, by_states.order - 1), UNK_ID, np.int32), by_states.new_cache(1.0)
    asked: dict[str, Callable[[Any], Any]] = {
        "score_tokens": model.score_tokens,
        "score_grid": lambda ids: model.score_grid([state], ids),
        "score_many": lambda ids: model.score_many([state], ids),
        "scorer": lambda ids: scorer.log_probabilities(contexts, ids, store),
        "scorer by states": lambda ids: by_states.log_probabilities(few, ids, few_store),
        "score_composed": lambda ids: model.score_composed(ids, []),
    }
    if hasattr(model, "buckets_before"):
        asked["buckets_before"] = model.buckets_before
    return asked


@all_models
def test_arrays_that_are_no_ids_are_refused_by_every_method(name: str) -> None:
    model = MODELS[name]()
    for method, ask in asked_with_ids(model).items():
        for ids in BAD_ARRAYS if method in BY_WORDS else [*BAD_ARRAYS, *STRINGS]:
            with pytest.raises(WordIdError, match="is no id of a word"):
                ask(ids)
                pytest.fail(f"{method} takes {ids!r} as ids")
        ask([5])


@all_models
def test_ids_beyond_the_vocabulary_stand_for_the_words_that_are_given(name: str) -> None:
    model: Any = MODELS[name]()
    assert len(model.score_composed([3, WORDS], ["x"])) == 2
    with pytest.raises(WordIdError):
        model.score_composed([3, WORDS + 1], ["x"])
    for forms in ("x", None, [None], [b"x"], 5):
        with pytest.raises(InputError, match="is no"):
            model.score_composed([3], forms)


@all_models
def test_ids_of_any_type_and_layout_give_the_same(name: str) -> None:
    model: Any = MODELS[name]()
    tokens = np.array([3, 9, 4, END_ID, 5, END_ID], np.int32)
    expected = model.score_tokens(tokens)
    unaligned = np.frombuffer(b"x" + tokens.tobytes(), np.int32, offset=1)
    frozen = tokens.copy()
    frozen.flags.writeable = False
    for same in (
        *(
            tokens.tolist(),
            tuple(tokens.tolist()),
            frozen,
            unaligned,
            np.repeat(tokens, 2)[::2],
            tokens[::-1].copy()[::-1],
        ),
        *(tokens.astype(dtype) for dtype in ("i1", "u2", "i8", "u8", ">i4", ">i8")),
    ):
        np.testing.assert_array_equal(model.score_tokens(same), expected)
    assert len(model.score_tokens([])) == len(model.score_tokens(np.zeros(0))) == 0
    state = model.begin()
    for word in (np.int8(9), np.int32(9), np.uint64(9), np.array(9)):
        assert model.score_id(state, word) == model.score_id(state, 9)
    again = model.score_id(model.score_id(state, np.int64(9))[1], np.int32(4))
    assert again == model.score_id(model.score_id(state, 9)[1], 4)


@all_models
def test_other_arguments_are_checked(name: str) -> None:
    model: Any = MODELS[name]()
    state = model.begin()
    for k in (-1, 1.5, None, "3", True, math.nan):
        with pytest.raises(ConfigError, match=r"k is .*; it must be a whole number from 0 on"):
            model.top_words([state], k)
        with pytest.raises(ConfigError, match=r"k is .*; it must be a whole number from 0 on"):
            model.completions(state, "w", k)
    assert model.top_words([state], np.int64(2)) == [model.top_words([state], 5)[0][:2]]
    for states in (None, 5, "x", object()):
        with pytest.raises(StateError, match="is no list of states"):
            model.distributions(states)
        with pytest.raises(StateError, match="is no list of states"):
            model.prefixes(states, ["w"])
    with pytest.raises(ConfigError, match="2 states and 1 word"):
        model.score_many([state, state], [5])
    for word in (None, 5, b"w1", ["w1"], 1.5):
        with pytest.raises(InputError, match="is no word; give a str"):
            model.score(state, word)
    for tokens in (b"w1", None, 5, [5], [None], [b"w1"], ["\ud800"], [["w1"]], iter(["w1"])):
        with pytest.raises(InputError):
            model.sentence(tokens)
    for sentences in (None, 5, "w1 w2"):
        with pytest.raises(InputError):
            model.after_text(sentences)
    for unknown_contexts in (None, "x", 5, np.array(["unk", "unk"])):
        if not isinstance(model, Uniform):
            with pytest.raises(ConfigError):
                model.begin(unknown_contexts=unknown_contexts)
    with pytest.raises(InputError, match="is no text"):
        model.perplexity(None)


# ---------------------------------------------------------------- anything at all

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, WORDS + 3),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=3),
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.tuples(inner, inner),
        st.builds(WideState, inner, inner),
        st.dictionaries(st.integers(), inner, max_size=2),
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(list(MODELS)), state=anything, word=anything)
def test_anything_as_state_and_id_is_scored_or_refused(name: str, state: Any, word: Any) -> None:
    model = MODELS[name]()
    try:
        logprob, after = model.score_id(state, word)
    except (StateError, WordIdError):
        return
    assert isinstance(logprob, float)
    assert logprob < 1e-6
    assert type(word) is int
    assert 0 <= word < WORDS
    model.check_state(state)
    model.check_state(after)


@settings(max_examples=200, deadline=None)
@given(name=st.sampled_from(list(MODELS)), tokens=anything)
def test_anything_as_text_is_scored_or_refused(name: str, tokens: Any) -> None:
    model = MODELS[name]()
    try:
        scores = model.score_tokens(tokens)
    except WordIdError:
        return
    assert len(scores) == len(tokens)
    assert all(isinstance(word, int) and 0 <= word < WORDS for word in tokens)  # NumPy makes ints of [False, 0]


# ---------------------------------------------------------------- each of these was seen


@pytest.mark.parametrize("word", [-1, WORDS + 5, 10**7])
def test_ngrams_neither_hang_nor_crash_nor_score_words_that_do_not_exist(word: int) -> None:
    """-1 never returned, 10**7 crashed the interpreter, an id a little too large gave a number."""
    model = ngrams(3)
    for state in (model.begin(), model.begin(sentence=False)):
        for ask in (
            lambda state=state: model.score_id(state, word),
            lambda state=state: model.score_many([state], [word]),
            lambda state=state: model.score_grid([state], [word]),
            lambda: model.score_tokens(np.array([3, word, END_ID], np.int32)),
        ):
            with pytest.raises(IndexError, match="is no id of a word"):
                ask()


def test_the_grid_does_not_take_minus_one_as_the_last_word() -> None:
    model = logbilinear("clbl++")
    with pytest.raises(WordIdError):
        model.score_grid([model.begin()], [-1])


def test_tries_check_as_their_models_do() -> None:
    trie = ngrams(3).trie  # type: ignore[attr-defined]
    for word in BAD_IDS:
        with pytest.raises(WordIdError):
            trie.score(trie.begin(), word)
    for state in NO_STATES:
        for ask in (lambda state: trie.distributions([state]), lambda state: trie.score(state, 5), trie.check_state):
            with pytest.raises(StateError):
                ask(state)
        with pytest.raises(StateError):
            trie.check_states([10**9, state])
    for tokens in BAD_ARRAYS:
        for ask in (trie.score_tokens, trie.states_before):
            with pytest.raises(WordIdError):
                ask(tokens)


def test_buckets_and_their_states_are_checked() -> None:
    model: Any = ngrams(3)
    for bucket in (-1, model.context_buckets, 1.5, None, "1"):
        with pytest.raises(ConfigError):
            model.describe_bucket(bucket)
    for states in ([-2], [10**9], [1.5], None, "x", [[1]]):
        with pytest.raises(StateError):
            model.bucket_of(states)


def test_scorers_of_decoders_check_contexts() -> None:
    for name in ("mkn 3", "clbl++", "mixture", "by context", "other order of words", "of another package"):
        model = MODELS[name]()
        for scorer in (batch_scorer(model), StateScorer(model)):
            store, width = scorer.new_cache(1.0), scorer.order - 1
            words = np.array([5], np.int32)
            for wrong in (-1, WORDS, 2**40):
                with pytest.raises(WordIdError):
                    scorer.log_probabilities(np.full((1, width), wrong), words, store)
            for shape in ((1, width + 1), (2, width)):
                with pytest.raises(ConfigError, match="give"):
                    scorer.log_probabilities(np.full(shape, 5, np.int32), words, store)
            for size in (-1.0, math.nan, math.inf, None, "1"):
                if not name.startswith("mkn") or isinstance(scorer, StateScorer):  # n-grams have no cache
                    with pytest.raises((ConfigError, TypeError)):
                        scorer.new_cache(size)  # type: ignore[arg-type]


def test_a_state_of_another_package_s_kind_must_be_hashable_at_least() -> None:
    class Careless(Uniform):
        def is_state(self, state: Any) -> bool:
            return LanguageModel.is_state(self, state)

    model = Careless(logbilinear("lbl").vocabulary)
    with pytest.raises(StateError, match="is no state"):
        model.distribution([1, 2])  # type: ignore[arg-type]
    with pytest.raises(WordIdError):
        model.score_id(BEGIN_ID, -1)
    assert model.score_id(state=BEGIN_ID, word=5)[1] == 5
    assert Careless.score_id.__name__ == "score_id"


def test_both_errors_are_caught_as_before() -> None:
    """By MorphlmError and IndexError; StateError also by ConfigError, which n-grams raised in earlier versions."""
    assert issubclass(morphlm.WordIdError, (MorphlmError)) and issubclass(morphlm.WordIdError, IndexError)
    assert issubclass(morphlm.StateError, ConfigError) and issubclass(morphlm.StateError, IndexError)
