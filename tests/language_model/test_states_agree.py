"""One suite for all kinds: single calls, calls for many states, and whole texts give the same numbers, to 1e-9."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
import pytest

from morphlm.arrays import Float64Array
from morphlm.errors import ConfigError, InputError, MorphlmError, StateError, WordIdError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.logbilinear.states import ComposedState
from morphlm.scoring.spelled import with_spelling
from morphlm.scoring.spelling import train_spelling
from morphlm.text.reading import END
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, NOTHING, UNK_ID

from .state_models import MODELS, TEXT, WIDE, logbilinear, mixture, ngrams

TOLERANCE = 1e-9
BOTH: tuple[UnknownContexts, ...] = ("unk", "composed")
all_models = pytest.mark.parametrize("name", MODELS)
unknown = pytest.mark.parametrize("unknown_contexts", BOTH)


def one_by_one(model: LanguageModel, unknown_contexts: UnknownContexts) -> Iterator[tuple[Any, str, float, Any]]:
    """The states, tokens, ln p and next states of TEXT, by single calls; sentences follow each other."""
    state = model.begin(unknown_contexts=unknown_contexts)
    for sentence in TEXT:
        for token in (*sentence, END):
            logprob, after = model.score(state, token)
            yield state, token, logprob, after
            state = after
        state = model.next_sentence(state)


def close(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE)


# ---------------------------------------------------------------- numbers


@all_models
@unknown
def test_states_score_a_text_as_the_text_is_scored(name: str, unknown_contexts: UnknownContexts) -> None:
    """Over the ends of sentences too, which wide contexts see."""
    model = MODELS[name]()
    text = model.score_text(TEXT, allow_unknown=True, unknown_contexts=unknown_contexts).logprobs
    logprobs = [logprob for _, _, logprob, _ in one_by_one(model, unknown_contexts)]
    close(logprobs, text)
    if unknown_contexts == "composed":
        plain = model.score_text(TEXT, allow_unknown=True).logprobs
        assert model.composes_contexts == (np.abs(logprobs - plain).max() > 1e-4)


@all_models
@unknown
def test_many_are_scored_as_one_by_one(name: str, unknown_contexts: UnknownContexts) -> None:
    model = MODELS[name]()
    states, tokens, single, after = map(list, zip(*one_by_one(model, unknown_contexts), strict=True))
    logprobs, next_states = model.score_many(states, tokens)
    close(logprobs, single)
    assert next_states == after
    assert list(map(hash, next_states)) == list(map(hash, after))
    ids = model.vocabulary.encode(tokens)
    for asked in (ids, ids.tolist(), ids.astype(np.uint16), ids[::1].astype(">i8")):
        logprobs, next_states = model.score_many(states, asked)
        close(logprobs, single)
        if unknown_contexts == "unk":
            assert next_states == after
    assert model.score_many([], [])[1] == []


@all_models
@unknown
def test_grids_distributions_and_single_words_agree(name: str, unknown_contexts: UnknownContexts) -> None:
    model = MODELS[name]()
    states = [state for state, *_ in one_by_one(model, unknown_contexts)]
    states += [model.begin(sentence=False, unknown_contexts=unknown_contexts), states[3]]
    asked = ["domu", "nikde", END, "domu", "<s>", "poly"]
    ids = model.vocabulary.encode(asked)
    single = [[model.score(state, word)[0] for word in asked] for state in states]
    distributions = model.distributions(states)
    with np.errstate(divide="ignore"):
        logs = np.log(distributions[:, ids])
    for grid in (model.score_grid(states, asked), model.score_grid(states, ids), logs):
        assert grid.shape == (len(states), len(asked))
        close(grid, single)
    assert distributions.sum(axis=1) == pytest.approx(np.ones(len(states)), abs=1e-6)  # n-grams are in 32 bits
    close(np.stack([model.distribution(state) for state in states]), distributions)
    every = np.arange(len(model.vocabulary))
    with np.errstate(divide="ignore"):
        close(model.score_grid(states, every), np.log(distributions))
    assert model.distributions([]).shape == (0, len(model.vocabulary))
    assert model.score_grid([], asked).shape == (0, len(asked))
    assert model.score_grid(states, []).shape == (len(states), 0)


@all_models
def test_top_words_are_the_largest_of_the_distributions(name: str) -> None:
    model = MODELS[name]()
    states = [state for state, *_ in one_by_one(model, "composed")]
    for k in (0, 1, 5, 10**6):
        for row, ranked in zip(model.distributions(states), model.top_words(states, k), strict=True):
            best = sorted(np.flatnonzero(row > 0).tolist(), key=lambda word: (-row[word], word))[:k]
            assert [word for word, _ in ranked] == [model.vocabulary.words[word] for word in best]
            close([logprob for _, logprob in ranked], np.log(row[best]))


@all_models
@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 11, 12, 30])
def test_sentences_of_any_length_are_scored_as_word_by_word(name: str, length: int) -> None:
    model = MODELS[name]()
    tokens = (TEXT[0] + TEXT[2]) * 3
    tokens = [token for token in tokens if token != "<unk>"][:length]
    for bos in (True, False):
        state, single = model.begin(sentence=bos), []
        for token in (*tokens, END):
            logprob, state = model.score(state, token)
            single.append(logprob)
        close(model.sentence(tokens, bos=bos), single)
        close(model.sentence(tokens, bos=bos, eos=False), single[:-1])
    alone = model.score_text([tokens]).logprobs
    close(model.sentence(tokens), alone)
    close(model.sentence(tokens), model.score_tokens(model.vocabulary.encode([*tokens, END])))


@all_models
@pytest.mark.parametrize("token", [5, None, "", "two words", "a\tb", "<s>", END, ["domu"], b"domu"])
@pytest.mark.parametrize("before", [[], ["domu"], ["domu"] * 40])
def test_what_is_no_token_is_refused_wherever_it_stands(name: str, token: Any, before: list[str]) -> None:
    """The fast ways for words of the vocabulary let nothing else pass."""
    model = MODELS[name]()
    for tokens in ([*before, token], [*before, token, "domu"], (*before, token)):
        for bos in (True, False):
            with pytest.raises(InputError):
                model.sentence(tokens, bos=bos)


@all_models
def test_tokens_may_be_strings_of_other_classes_and_unk(name: str) -> None:
    """A str of another class, as NumPy's, is a word like any other; <unk> is UNK."""
    model = MODELS[name]()
    expected = model.sentence(["domu", "nikde"])
    close(model.sentence(np.array(["domu", "nikde"]).tolist()), expected)
    close(model.sentence([np.str_("domu"), np.str_("nikde")]), expected)
    close(model.sentence(["<unk>"]), [model.score(model.begin(), "zzzz")[0], model.sentence(["<unk>"])[1]])


@pytest.mark.parametrize("name", ["clbl++", "lbl full", "wide", "wide full", "mixture", "mkn 3"])
def test_long_texts_are_scored_as_their_sentences(name: str) -> None:
    """By several threads and in several blocks, over whose bounds contexts reach."""
    model = MODELS[name]()
    words = np.array(model.vocabulary.words[3:])
    drawn = np.random.default_rng(1).choice(words, (700, 9)).tolist()
    text = model.score_text(drawn).logprobs
    assert len(text) == 7000
    state, single = model.begin(), []
    for sentence in drawn[:70]:
        for token in (*sentence, END):
            logprob, state = model.score(state, token)
            single.append(logprob)
        state = model.next_sentence(state)
    close(text[:700], single)


def test_blocks_of_a_text_are_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("clbl++ 5", "wide", "wide full", "lbl+c full 10"):
        model = MODELS[name]()
        tokens = model.vocabulary.encode([token for sentence in TEXT * 4 for token in (*sentence, END)])
        whole = logbilinear_text(model, tokens)
        monkeypatch.setattr("morphlm.logbilinear.text_scoring.SCORED_TOKENS", 7)
        assert logbilinear_text(model, tokens).tolist() == whole.tolist()
        monkeypatch.undo()


def logbilinear_text(model: Any, tokens: Any) -> Float64Array:
    scored: Float64Array = model._score_text(tokens, tokens, model.structure)
    return scored


# ---------------------------------------------------------------- spelling


@all_models
@unknown
def test_spelled_words_have_their_shares_in_states_as_in_texts(name: str, unknown_contexts: UnknownContexts) -> None:
    model = MODELS[name]()
    spelled = with_spelling(model)
    scored = model.score_text(
        TEXT, allow_unknown=True, unknown_contexts=unknown_contexts, spelling=train_spelling(model.vocabulary)
    )
    assert scored.spelled is not None
    states, tokens, single, after = map(list, zip(*one_by_one(spelled, unknown_contexts), strict=True))
    close(single, scored.spelled)
    assert np.abs(scored.spelled - scored.logprobs).max() > 1.0
    again = spelled.score_text(TEXT, allow_unknown=True, unknown_contexts=unknown_contexts)
    assert again.spelled is not None
    close(again.spelled, scored.spelled)
    logprobs, next_states = spelled.score_many(states, tokens)
    close(logprobs, single)
    assert next_states == after
    grid = spelled.score_grid(states, tokens)
    close(np.diagonal(grid), single)
    close(spelled.score_grid(states, model.vocabulary.encode(tokens)), model.score_grid(states, tokens))
    close(spelled.distributions(states), model.distributions(states))


@pytest.mark.parametrize("name", ["mkn 3", "clbl++", "wide", "by context"])
def test_spelled_sentences_copies_and_pickles(name: str) -> None:
    model = MODELS[name]()
    spelled = with_spelling(model)
    tokens = ["domu", "poleň", "xyz", "školou"]
    for bos in (True, False):
        state, single = spelled.begin(sentence=bos), []
        for token in (*tokens, END):
            logprob, state = spelled.score(state, token)
            single.append(logprob)
        close(spelled.sentence(tokens, bos=bos), single)
        close(spelled.sentence(tokens, bos=bos, eos=False), single[:-1])
    assert spelled.sentence(tokens)[0] == model.sentence(tokens)[0]
    assert "|unk:spelled|" in str(spelled.signature)
    assert spelled.log_share("domu") == spelled.log_share("<unk>") == 0.0
    figures = spelled.perplexity([tokens])
    assert figures.open_vocabulary is not None
    assert figures.open_vocabulary.logprob == pytest.approx(sum(spelled.sentence(tokens)), abs=1e-9)
    for other in (copy.copy(spelled), copy.deepcopy(spelled), pickle.loads(pickle.dumps(spelled))):
        assert other.sentence(tokens) == spelled.sentence(tokens)
    assert with_spelling(spelled).model is model
    assert spelled.after_text([["domu"]]).log_share("xyz") == spelled.log_share("xyz")
    assert (spelled.reach, spelled.composes_contexts) == (model.reach, model.composes_contexts)
    with pytest.raises(ConfigError, match="no files of its own"):
        spelled.save("somewhere")


# ---------------------------------------------------------------- null contexts


@all_models
def test_the_null_context_is_a_state_of_its_own(name: str) -> None:
    model = MODELS[name]()
    nothing = model.begin(sentence=False)
    assert model.is_state(nothing)
    assert nothing == model.begin(sentence=False)
    if name != "mkn 1":
        assert nothing != model.begin()
        assert np.abs(model.distribution(nothing) - model.distribution(model.begin())).max() > 1e-6


def test_a_null_context_has_the_null_vector_in_log_bilinear_models() -> None:
    """So the first words are predicted from the biases alone, and later ones from the words that are there."""
    for diagonal in (True, False):
        model = logbilinear("clbl++", 3, diagonal=diagonal)
        nothing, parameters, layout = model.begin(sentence=False), model.parameters, model.structure.layout
        assert nothing == (NOTHING, NOTHING)
        class_of = model.structure.class_of
        shares = np.exp(parameters.t.astype(float)) / np.exp(parameters.t.astype(float)).sum()
        weights = np.exp(parameters.b.astype(float))
        weights[BEGIN_ID] = 0.0
        sums = np.bincount(class_of[layout.members], weights[layout.members], len(shares))
        expected = np.zeros(len(weights))
        expected[layout.members] = (weights * (shares / sums)[class_of])[layout.members]
        close(model.distribution(nothing), expected)
        _, state = model.score(nothing, "domu")
        assert state == (model.vocabulary.id_of("domu"), NOTHING)


def test_the_null_context_of_ngrams_is_that_of_unigrams() -> None:
    model: Any = ngrams(3)
    close(
        model.distribution(model.begin(sentence=False)),
        np.exp(model.trie.logprob[: len(model.vocabulary)].astype(float)),
    )


# ---------------------------------------------------------------- what is refused

NO_WORDS: list[Any] = [None, 5, 5.0, b"domu", ["domu"], "", "two words", "a\tb", "a\n", "\ud800", ("domu",), {}]


@all_models
def test_what_is_no_word_is_refused(name: str) -> None:
    model = MODELS[name]()
    state = model.begin()
    for word in NO_WORDS:
        with pytest.raises(InputError, match="is no"):
            model.score(state, word)
            pytest.fail(f"{word!r} is taken as a word")
        for ask in (model.score_many, model.score_grid):
            for words in (word, ["domu", word], [word, "domu"]):
                if words in (["domu"], ("domu",)):  # a list of words
                    continue
                with pytest.raises((InputError, WordIdError, ConfigError)):
                    ask([state, state], words)
                    pytest.fail(f"{words!r} are taken as words")
    for ask in (model.score_many, model.score_grid):
        with pytest.raises(MorphlmError):
            ask([state, state, state, state], "domu")  # four letters
        with pytest.raises(MorphlmError):
            ask(state, ["domu"])
    with pytest.raises(ConfigError, match="give a word for each state"):
        model.score_many([state], ["domu", "poly"])
    with pytest.raises(ConfigError):
        model.top_words([state], -1)


@all_models
def test_unknown_contexts_have_two_values(name: str) -> None:
    model = MODELS[name]()
    if name != "own kind":
        for wrong in ("UNK", None, 1, b"unk", ["unk"]):
            with pytest.raises(ConfigError, match="`unk` or `composed`"):
                model.begin(unknown_contexts=wrong)  # type: ignore[arg-type]


# ---------------------------------------------------------------- composed words in states


def composed_state(model: LanguageModel, *words: str) -> Any:
    state = model.begin(unknown_contexts="composed")
    for word in words:
        _, state = model.score(state, word)
    return state


def test_composed_words_have_the_same_future_if_their_known_factors_are_the_same() -> None:
    model = logbilinear("clbl++")
    factors = model.structure.factors
    assert factors is not None
    one, other = "domxx", "domqq"  # nothing is known of their ends
    assert sorted(factors.of_new_word(one)) == sorted(factors.of_new_word(other))
    assert composed_state(model, one) == composed_state(model, other)
    assert hash(composed_state(model, one)) == hash(composed_state(model, other))
    assert composed_state(model, "xyz") == composed_state(model, "žžž") == composed_state(model, "<unk>")
    assert composed_state(model, "domouška") != composed_state(model, one)
    assert composed_state(model, "domu") != model.score(model.begin(), "domu")[1]  # its future is another
    assert composed_state(model, "domouška", "domu", "domu") == composed_state(model, "xyz", "domu", "domu")


def test_states_that_compose_are_made_only_by_models_that_can() -> None:
    for model in (ngrams(3), logbilinear("clbl"), logbilinear("clbl+o"), logbilinear("clbl++", analyser=False)):
        assert model.begin(unknown_contexts="composed") == model.begin()
    state = logbilinear("clbl++").begin(unknown_contexts="composed")
    assert isinstance(state, ComposedState)
    for model in (ngrams(3), logbilinear("clbl"), logbilinear("clbl+o"), logbilinear("clbl++", analyser=False)):
        with pytest.raises(StateError):
            model.score(state, "domu")
        with pytest.raises(StateError):
            model.score_many([state], ["domu"])


def forged_states(state: ComposedState, factors: int, words: int, wide: int) -> Iterator[Any]:
    good = next(word for word in state.words if isinstance(word, tuple))
    bad: Any
    for bad in (
        *((), (-1,), (factors,), (good[0], factors), good[::-1], (2**40,), (2**70,), (1.5,), (None,), ("a",), (good,)),
        *((0,) * 20_000, list(good), None, 1.0, "a", -2, words, 2**40, NOTHING),
    ):
        yield state._replace(words=(bad, *state.words[1:-1], 3))
        yield state._replace(before=(3, bad))
    yield from (state._replace(words=state.words[1:]), state._replace(words=(*state.words, 3)), tuple(state))
    yield from (state._replace(unknown_contexts=wrong) for wrong in ("unk", None, 1))  # type: ignore[arg-type]
    yield from (state._replace(words=list(state.words)), state._replace(before=None))  # type: ignore[arg-type]
    yield state._replace(before=(3,) * (wide + 1))
    yield state[:2]


@pytest.mark.parametrize("name", ["clbl++", "clbl++ 4", "lbl+c full", "wide", "wide full"])
def test_forged_states_are_refused(name: str) -> None:
    model: Any = MODELS[name]()
    state = composed_state(model, "domouška")
    factors, words = model.structure.context.factors, len(model.vocabulary)
    assert model.is_state(state)
    for forged in forged_states(state, factors, words, model.config.wide):
        assert not model.is_state(forged), forged
        for ask in (
            lambda forged: model.score(forged, "domu"),
            lambda forged: model.score(forged, "poleň"),
            lambda forged: model.score_id(forged, 5),
            lambda forged: model.score_many([state, forged], [3, 4]),
            lambda forged: model.score_grid([state, forged], ["domu"]),
            lambda forged: model.distributions([forged]),
            model.distribution,
            model.next_sentence,
        ):
            with pytest.raises(StateError):
                ask(forged)
                pytest.fail(f"{forged!r:.200} is taken as a state")


# ---------------------------------------------------------------- threads, copies, pickles


@all_models
@unknown
def test_states_can_be_pickled_and_copied(name: str, unknown_contexts: UnknownContexts) -> None:
    model = MODELS[name]()
    for state, token, logprob, after in one_by_one(model, unknown_contexts):
        for other in (pickle.loads(pickle.dumps(state)), copy.copy(state), copy.deepcopy(state)):
            assert type(other) is type(state)
            assert (other, hash(other)) == (state, hash(state))
            assert model.score(other, token) == (logprob, after)


@pytest.mark.parametrize("name", ["mkn 3", "clbl++", "lbl+c full", "wide", "fixed", "by context", "other ids"])
def test_copies_and_pickles_of_models_take_the_same_states(name: str) -> None:
    model = MODELS[name]()
    states, tokens, single, after = map(list, zip(*one_by_one(model, "composed"), strict=True))
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        logprobs, next_states = other.score_many(states, tokens)
        assert (logprobs.tolist(), next_states) == (model.score_many(states, tokens)[0].tolist(), after)
        close(logprobs, single)
        assert other.score_grid(states, tokens).tolist() == model.score_grid(states, tokens).tolist()


@pytest.mark.parametrize("name", ["mkn 3", "clbl++", "lbl+c full", "wide", "by context"])
def test_threads_that_share_a_model_get_the_same_answers(name: str) -> None:
    model = copy.copy(MODELS[name]())  # nothing is composed yet
    states, tokens, _, after = map(list, zip(*one_by_one(MODELS[name](), "composed"), strict=True))

    def ask(_: int) -> Any:
        logprobs, next_states = model.score_many(states, tokens)
        return logprobs.tolist(), next_states == after, model.score_grid(states, tokens[:4]).tolist()

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(ask, range(12))
    assert first[1]
    assert all(other == first for other in others)


Method = Literal["score", "score_many"]


@pytest.mark.parametrize("method", ["score", "score_many"])
def test_wide_contexts_forget_what_is_too_far(method: Method) -> None:
    """Equal futures are equal states, whatever came before."""
    for unknown_contexts in BOTH:
        model = logbilinear("clbl++", wide=WIDE)
        ends = []
        for first in ("poly", "domouška"):
            state = model.begin(unknown_contexts=unknown_contexts)
            for word in [first, *["domu"] * WIDE]:
                if method == "score":
                    _, state = model.score(state, word)
                else:
                    _, (state,) = model.score_many([state], [word])
            ends.append(state)
        assert ends[0] == ends[1]


def test_ids_of_marks_are_what_they_were() -> None:
    """<s> has no probability and begins a sentence anew, in the kind of state that is asked."""
    for model in (logbilinear("clbl++"), logbilinear("clbl++", wide=WIDE), mixture(ngrams(3), logbilinear("clbl++"))):
        for unknown_contexts in BOTH:
            state = model.begin(unknown_contexts=unknown_contexts)
            for after in (model.score_id(state, BEGIN_ID), model.score(state, "<s>")):
                assert after[0] == -np.inf
                assert model.is_state(after[1])
            assert model.score_id(state, UNK_ID)[0] == model.score(state, "nikde")[0]
            assert model.score_id(state, END_ID) == model.score(state, END)
