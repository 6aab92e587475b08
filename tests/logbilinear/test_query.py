"""Queries by compiled code: against the reference, with caches of any size, from many threads, in batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from morphlm.arrays import Float64Array, Int32Array
from morphlm.errors import ConfigError, WordIdError
from morphlm.logbilinear import query as query_module
from morphlm.logbilinear.config import VARIANTS
from morphlm.logbilinear.context_tables import ContextTables
from morphlm.logbilinear.kernels import query_batch
from morphlm.logbilinear.kernels.query import WAYS, Cache, CompiledModel, log_probability
from morphlm.logbilinear.kernels.query_batch import log_probabilities
from morphlm.logbilinear.kernels.scores import TILE
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.query import (
    MEGABYTE,
    compile_model,
    new_cache,
    set_bytes,
)
from morphlm.threads import workers
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

from . import reference
from .cases import Case, make_case

all_models = pytest.mark.parametrize("kind", VARIANTS)
both_transforms = pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])


def compiled(case: Case, threads: int = 1) -> CompiledModel:
    with workers(threads) as pool:
        return compile_model(case.config, case.structure, case.parameters, pool)


class CacheCounts(NamedTuple):
    """Hits and misses of a cache, in the order of its counters."""

    word_hits: int  # the sum over the words of a class
    word_misses: int
    class_hits: int  # the sum over the classes, which is looked up only after a miss of the former
    class_misses: int


def cache_counts(cache: Cache) -> CacheCounts:
    return CacheCounts(*cache.counts.tolist())


def compiled_bytes(model: CompiledModel) -> int:
    return sum(part.nbytes for part in model if not isinstance(part, int))


def cache_of(model: CompiledModel, order: int, sets: int) -> Cache:
    cache = new_cache(model, sets * set_bytes(order) / MEGABYTE)
    assert len(cache.oldest) == sets
    return cache


def queries_of(case: Case) -> tuple[Int32Array, Int32Array]:
    """Contexts and words of the text."""
    problem = case.problem()
    return np.array(problem.contexts, np.int32), np.array(problem.targets, np.int32)


def ask(model: CompiledModel, cache: Cache, contexts: Int32Array, words: Int32Array) -> Float64Array:
    return np.array(
        [log_probability(model, cache, context, word) for context, word in zip(contexts, words, strict=True)]
    )


def expected(case: Case) -> Float64Array:
    return reference.log_probabilities(reference.tables_of(case.parameters), case.problem())


def random_queries(case: Case, count: int, seed: int = 3) -> tuple[Int32Array, Int32Array]:
    """Of few different words, so that contexts come again; some of the words to predict are BEGIN."""
    rng = np.random.default_rng(seed)
    words = len(case.structure.vocabulary)
    contexts = rng.integers(0, min(words, 5), (count, case.config.order - 1)).astype(np.int32)
    return contexts, rng.integers(0, words, count).astype(np.int32)


# ---------------------------------------------------------------- what a query answers


@all_models
@both_transforms
def test_queries_are_the_references(kind: str, diagonal: bool) -> None:
    case = make_case(kind, diagonal, words=25, classes=5, width=6, tokens=120)
    model, queries = compiled(case), queries_of(case)
    nothing, cache = new_cache(model, 0), new_cache(model, 1)
    without = ask(model, nothing, *queries)
    assert np.abs(without - expected(case)).max() < 1e-5
    assert without.std() > 0.5
    for _ in range(2):  # the second time all are hits
        np.testing.assert_array_equal(ask(model, cache, *queries), without)
    assert np.abs(log_probabilities(model, nothing, *queries) - expected(case)).max() < 1e-5
    assert np.abs(log_probabilities(model, new_cache(model, 1), *queries) - expected(case)).max() < 1e-5


@given(
    kind=st.sampled_from(VARIANTS),
    diagonal=st.booleans(),
    words=st.integers(4, 40),
    classes=st.integers(1, 8),
    order=st.integers(2, 6),
    sets=st.integers(0, 5),
    seed=st.integers(0, 1 << 20),
)
@settings(max_examples=60)
def test_a_cache_of_any_size_changes_nothing(
    kind: str, diagonal: bool, words: int, classes: int, order: int, sets: int, seed: int
) -> None:
    """With one set, all contexts and classes fall into the same set."""
    classes = min(classes, words - 1)
    case = make_case(kind, diagonal, words=words, classes=classes, order=order, tokens=60, seed=seed)
    model, queries = compiled(case), random_queries(case, 80, seed)
    exact = ask(model, new_cache(model, 0), *queries)
    cache = cache_of(model, order, sets)
    np.testing.assert_array_equal(ask(model, cache, *queries), exact)
    np.testing.assert_array_equal(log_probabilities(model, cache, *queries), exact)
    np.testing.assert_array_equal(ask(model, cache, *queries), exact)
    text = queries_of(case)
    np.testing.assert_allclose(ask(model, cache, *text), expected(case), atol=1e-5)


@given(
    kind=st.sampled_from(VARIANTS),
    diagonal=st.booleans(),
    words=st.sampled_from([9, 40, 2600]),  # the last has classes that are scored in two pieces
    width=st.sampled_from([1, 7, 16, 100]),
    megabytes=st.sampled_from([0.0, 0.01, 1.0]),
    cut=st.integers(1, 199),
    seed=st.integers(0, 1 << 20),
)
@settings(max_examples=40)
def test_a_query_of_a_batch_depends_on_no_other(
    kind: str, diagonal: bool, words: int, width: int, megabytes: float, cut: int, seed: int
) -> None:
    """Not in the last bit: a decoder keeps its caches from sentence to sentence, and sentences come as they do."""
    case = make_case(kind, diagonal, words=words, classes=3, width=width, tokens=60, seed=seed)
    model, (contexts, asked) = compiled(case), random_queries(case, 200, seed)
    together = log_probabilities(model, new_cache(model, 0), contexts, asked)
    cache, order = new_cache(model, megabytes), np.random.default_rng(seed).permutation(200)
    for part in (order[:cut], order[cut:], order[:1]):
        actual = log_probabilities(model, cache, contexts[part], asked[part])
        np.testing.assert_array_equal(actual, together[part])


@all_models
@both_transforms
def test_queries_are_what_the_engine_says(kind: str, diagonal: bool) -> None:
    case = make_case(kind, diagonal, words=300, classes=7, width=9, tokens=900)
    with workers(1) as one:
        scored = case.engine(one).log_probabilities(case.stream)
    model, queries = compiled(case), queries_of(case)
    cache = new_cache(model, 1)
    np.testing.assert_allclose(ask(model, cache, *queries), scored, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(log_probabilities(model, new_cache(model, 1), *queries), scored, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("kind", ["lbl", "clbl++"])
def test_classes_that_are_longer_than_what_is_scored_at_a_time(kind: str) -> None:
    case = make_case(kind, words=2 * TILE + 300, classes=2, width=8, tokens=100)
    model = compiled(case)
    words = np.arange(len(case.structure.vocabulary), dtype=np.int32)
    contexts = np.tile(np.array([5, 3, BEGIN_ID], np.int32), (len(words), 1))
    for logs in (
        ask(model, new_cache(model, 1), contexts, words),
        log_probabilities(model, new_cache(model, 0), contexts, words),
    ):
        assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-6)
    queries = queries_of(case)
    np.testing.assert_allclose(log_probabilities(model, new_cache(model, 1), *queries), expected(case), atol=1e-5)


@pytest.mark.parametrize("kind", ["lbl", "clbl"])
def test_scores_far_apart(kind: str) -> None:
    """Differences of hundreds overflow no exponential."""
    case = make_case(kind, words=12, classes=2)
    case.parameters.b[:] = np.linspace(-300, 300, 12, dtype=np.float32)
    case.parameters.t[:] = np.linspace(-150, 150, len(case.parameters.t), dtype=np.float32)
    model, exact = compiled(case), expected(case)
    assert exact.min() < -100
    for actual in (
        ask(model, new_cache(model, 1), *queries_of(case)),
        log_probabilities(model, new_cache(model, 1), *queries_of(case)),
    ):
        assert np.allclose(actual, exact, rtol=1e-5, atol=1e-4)


@all_models
def test_begin_has_no_probability(kind: str) -> None:
    case = make_case(kind, words=12)
    model = compiled(case)
    contexts, words = random_queries(case, 50)
    logs = log_probabilities(model, new_cache(model, 1), contexts, words)
    np.testing.assert_array_equal(np.isneginf(logs), words == BEGIN_ID)
    assert log_probability(model, new_cache(model, 1), contexts[0], BEGIN_ID) == -np.inf
    only = np.full(3, BEGIN_ID, np.int32)
    assert np.isneginf(log_probabilities(model, new_cache(model, 1), contexts[:3], only)).all()


def test_no_queries_have_no_answers() -> None:
    model = compiled(make_case("clbl"))
    actual = log_probabilities(model, new_cache(model, 1), np.zeros((0, 3), np.int32), np.zeros(0, np.int32))
    assert actual.shape == (0,)


def test_more_queries_than_are_sorted_together() -> None:
    case = make_case("clbl++", words=12, width=2)
    model, queries = compiled(case), random_queries(case, query_batch.QUERIES + 77)
    actual = log_probabilities(model, new_cache(model, 1), *queries)
    few = np.r_[0:50, query_batch.QUERIES - 20 : query_batch.QUERIES + 77]
    np.testing.assert_allclose(
        actual[few], ask(model, new_cache(model, 0), queries[0][few], queries[1][few]), atol=1e-5
    )


@njit(cache=True)
def best_word(model: Any, cache: Any, context: Any, words: int) -> int:
    """What a decoder may do."""
    best, highest = -1, -np.inf
    for word in range(words):
        logprob = log_probability(model, cache, context, word)
        if logprob > highest:
            best, highest = word, logprob
    return best


@both_transforms
def test_other_compiled_code_can_ask(diagonal: bool) -> None:
    case = make_case("clbl++", diagonal, words=20)
    model, asked = compiled(case), model_of(case)
    for context in queries_of(case)[0]:
        actual = best_word(model, new_cache(model, 1), context, len(case.structure.vocabulary))
        assert actual == asked.distribution(tuple(context.tolist())).argmax()


# ---------------------------------------------------------------- the cache


def test_what_is_found_and_what_is_not() -> None:
    case = make_case("clbl", words=30, classes=4)
    model = compiled(case)
    cache, context = cache_of(model, 4, 100), np.array([3, 4, 5], np.int32)
    first, last = model.starts[1:3]
    assert last - first >= 2
    inside, other = (int(word) for word in case.structure.layout.members[first : first + 2])
    elsewhere = int(case.structure.layout.members[model.starts[2]])
    seen = []
    for asked in (inside, inside, other, elsewhere):
        log_probability(model, cache, context, asked)
        seen.append(cache_counts(cache))
    assert seen == [CacheCounts(0, 1, 0, 1), CacheCounts(1, 1, 0, 1), CacheCounts(2, 1, 0, 1), CacheCounts(2, 2, 1, 1)]
    log_probability(model, cache, context[::-1].copy(), inside)  # the same words in another order
    assert cache_counts(cache) == CacheCounts(2, 3, 1, 2)


@pytest.mark.parametrize("kind", ["lbl", "clbl"])
def test_a_batch_counts_what_it_computes(kind: str) -> None:
    case = make_case(kind, words=30, classes=4)
    model = compiled(case)
    cache, queries = cache_of(model, 4, 1000), random_queries(case, 60)
    predicted = queries[1] != BEGIN_ID
    classes = case.structure.class_of[queries[1]]
    contexts = {tuple(context) for context in queries[0][predicted].tolist()}
    pairs = {
        (*context, c)
        for context, c in zip(queries[0][predicted].tolist(), classes[predicted], strict=True)
        for context in [tuple(context)]
    }
    log_probabilities(model, cache, *queries)
    computed = CacheCounts(predicted.sum() - len(pairs), len(pairs), 0, len(contexts) if kind == "clbl" else 0)
    assert cache_counts(cache) == computed
    log_probabilities(model, cache, *queries)
    ask(model, cache, *queries)
    assert cache_counts(cache).word_misses == len(pairs)


def test_the_oldest_entry_of_a_set_goes() -> None:
    """Without classes each context is one entry; in one set there is room for WAYS of them."""
    case = make_case("lbl", words=30)
    model = compiled(case)
    cache = cache_of(model, 4, 1)
    contexts = np.array([[word, 3, 4] for word in range(WAYS + 1)], np.int32)
    for context in contexts[:WAYS]:
        log_probability(model, cache, context, 5)
    for context in contexts[:WAYS]:
        log_probability(model, cache, context, 5)
    assert cache_counts(cache) == CacheCounts(WAYS, WAYS, 0, 0)
    log_probability(model, cache, contexts[WAYS], 5)  # replaces the first
    for context in contexts[1:]:
        log_probability(model, cache, context, 5)
    assert cache_counts(cache) == CacheCounts(2 * WAYS, WAYS + 1, 0, 0)
    log_probability(model, cache, contexts[0], 5)
    assert cache_counts(cache).word_misses == WAYS + 2


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("megabytes", [0, 0.001, 0.5, 3])
def test_a_cache_is_as_large_as_it_may_be(order: int, megabytes: float) -> None:
    """But for one set, and the space to work in."""
    model = compiled(make_case("clbl", order=order))
    cache = new_cache(model, megabytes)
    taken = cache.keys.nbytes + cache.values.nbytes + cache.oldest.nbytes
    assert megabytes * MEGABYTE - set_bytes(order) < taken <= megabytes * MEGABYTE


@pytest.mark.parametrize("megabytes", [-1.0, float("nan")])
def test_a_cache_of_no_size_is_refused(megabytes: float) -> None:
    with pytest.raises(ConfigError, match="a finite number from 0 on"):
        new_cache(compiled(make_case("clbl")), megabytes)


def test_contexts_are_spread_over_the_sets() -> None:
    """4000 contexts in 1000 sets of 4: at random, a set that is full has to drop some; 80 % stay."""
    case = make_case("lbl", words=30)
    model = compiled(case)
    cache = cache_of(model, 4, 1000)
    contexts = np.array(np.unravel_index(np.arange(4000), (20, 20, 10)), np.int32).T.copy()
    words = np.full(len(contexts), END_ID, np.int32)
    log_probabilities(model, cache, contexts, words)
    assert 0.75 < (cache.keys.reshape(-1, 4)[:, -1] > 0).mean() < 0.9  # 1 - E[4 - X]+ / 4 with X Poisson(4): 0.80


# ---------------------------------------------------------------- compiling


@all_models
@both_transforms
def test_threads_do_not_change_what_is_compiled(kind: str, diagonal: bool) -> None:
    case = make_case(kind, diagonal, words=900, classes=11, width=13)
    one, three = compiled(case, 1), compiled(case, 3)
    for name in CompiledModel._fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))


def test_all_variants_take_the_same_memory_and_machine_code() -> None:
    """Q itself where nothing is composed and nothing transformed; never more than that with diagonal C_j."""
    cases = {kind: make_case(kind, words=50, width=4) for kind in ("clbl", "clbl++")}
    models = {kind: compiled(case) for kind, case in cases.items()}
    assert np.shares_memory(models["clbl"].context, cases["clbl"].parameters.Q)
    assert compiled_bytes(models["clbl"]) == compiled_bytes(models["clbl++"])
    full = compiled(make_case("clbl", False, words=50, width=4))
    assert len(full.context) == 3 * len(models["clbl"].context)
    for model in (*models.values(), full):
        assert not any(part.flags.writeable for part in model if not isinstance(part, int))


# ---------------------------------------------------------------- from Python


def model_of(case: Case) -> LogBilinearModel:
    return LogBilinearModel(case.config, case.structure, case.parameters, {})


@all_models
@both_transforms
def test_distributions_are_the_queries(kind: str, diagonal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(make_case(kind, diagonal, words=40, classes=6, width=8))
    words = np.arange(40, dtype=np.int32)
    contexts = queries_of(make_case(kind, diagonal, words=40, classes=6, width=8))[0][:6]
    model.threads = 1
    together = model.distributions(list(map(tuple, contexts.tolist())))
    for context, row in zip(contexts, together, strict=True):
        alone = model.distribution(tuple(context.tolist()))
        np.testing.assert_array_equal(alone, row)
        logs = model.queries.log_probabilities(np.tile(context, (len(words), 1)), words)
        np.testing.assert_allclose(alone, np.exp(logs), rtol=1e-12)
        assert alone.sum() == pytest.approx(1.0, abs=1e-9)
    monkeypatch.setattr(query_module, "DISTRIBUTED", 1)
    model.threads = 3
    np.testing.assert_array_equal(model.distributions(list(map(tuple, contexts.tolist()))), together)


@both_transforms
def test_threads_that_share_a_model_do_not_disturb_each_other(diagonal: bool) -> None:
    """Their caches are so small that each query evicts another thread's, were they one cache."""
    case = make_case("clbl++", diagonal, words=200, classes=9, width=8, tokens=400)
    model = model_of(case)
    model.cache_megabytes = 3 * set_bytes(4) / MEGABYTE
    contexts, words = random_queries(case, 600)
    queries = list(zip(map(tuple, contexts.tolist()), words.tolist(), strict=True))
    right = [model_of(case).score_id(*query) for query in queries[:1]]
    right += [model.score_id(*query) for query in queries[1:]]

    def run(start: int) -> bool:
        order = [*range(start, len(queries)), *range(start)]
        return all(model.score_id(*queries[i]) == right[i] for i in order)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(0, 600, 50)))
        caches = {id(cache) for cache in pool.map(lambda _: model.queries.cache.keys, range(100))}
    assert id(model.queries.cache.keys) not in caches


def test_threads_that_ask_at_once_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(make_case("clbl++", words=200, classes=9))
    made, compose = [], ContextTables.of_vocabulary

    def counted(tables: ContextTables, pool: Any) -> Any:
        made.append(1)
        return compose(tables, pool)

    monkeypatch.setattr(ContextTables, "of_vocabulary", counted)
    with ThreadPoolExecutor(4) as pool:
        logs = set(pool.map(lambda _: model.score_id((3, 4, 5), 6)[0], range(8)))
    assert (len(logs), len(made)) == (1, 1)


BAD: list[tuple[tuple[int, ...], int]] = [
    ((3, 4), 5),
    ((3, 4, 5, 6), 5),
    ((3, 4, 40), 5),
    ((3, -1, 4), 5),
    ((3, 4, 5), 40),
    ((3, 4, 5), -1),
]


@pytest.mark.parametrize(("state", "word"), BAD)
def test_ids_that_are_no_words_are_refused(state: tuple[int, ...], word: int) -> None:
    """Compiled code would read outside of its tables."""
    model = model_of(make_case("clbl", words=40))
    with pytest.raises(IndexError, match=r"is no (state|id)"):
        model.score_id(state, word)
    with pytest.raises((WordIdError, ConfigError), match=r"is no id|contexts of shape"):
        model.queries.log_probabilities(np.array([state]), np.array([word]))
    if word == 5:
        with pytest.raises(IndexError, match="is no state"):
            model.distribution(state)
