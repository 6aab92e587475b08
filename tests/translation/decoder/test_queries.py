"""What is asked of language models: the heuristic by way of a memo, the others each query once a sentence."""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.compiling import owning
from morphlm.ngram.kernels import ROOT, find_child, score_word, shortest_equivalent
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.kernels.heuristic import MEMO_BITS, memo_slot, new_memo
from morphlm.translation.decoder.kernels.queries import (
    new_queries,
    queries_grown_to,
    query_number,
    shift_in,
)
from morphlm.translation.decoder.kernels.records import CONTEXT, MODEL, NONE, WORD, Heuristic
from morphlm.translation.decoder.models import prepare_models
from morphlm.vocabulary.vocabulary import NOTHING

from . import cases

WEIGHTS = {"f": 1.0, "LM0": 0.5, "LM1": 0.25, "Glue": -0.25, "PassThrough": -2.0}


@owning
def ask_all(heuristic: Heuristic, states: Int64Array, words: Int32Array) -> tuple[Float64Array, ...]:
    logprobs, after, longer = np.empty(len(words)), np.empty(len(words)), np.empty(len(words))
    for i in range(len(words)):
        entry = heuristic.memo[memo_slot(heuristic, states[i], words[i])]
        logprobs[i], after[i], longer[i] = entry.logprob, entry.state, entry.longer
    return logprobs, after, longer


def test_the_memo_says_what_the_model_says_also_when_answers_were_replaced() -> None:
    rng = np.random.default_rng(7)
    text = [[f"w{word}" for word in rng.integers(0, 60, 9)] for _ in range(400)]
    model = train_ngram(text, 3)
    assert isinstance(model, NgramModel)
    gram = prepare_models([model]).heuristic
    states, words = rng.integers(ROOT, gram.bounds[1], 40_000), rng.integers(1, gram.bounds[0], 40_000).astype(np.int32)
    assert len(set(zip(states.tolist(), words.tolist(), strict=True))) > 2 << MEMO_BITS  # not all have a place
    again = rng.permutation(np.concatenate([np.arange(40_000)] * 2))
    found = np.stack(ask_all(Heuristic(gram, words, new_memo()), states[again], words[again]))
    arrays = gram.first_child, gram.words, gram.logprob, gram.backoff, gram.suffix
    for state, word, (logprob, after, longer) in zip(states[again[:5000]], words[again[:5000]], found.T, strict=False):
        assert (logprob, after) == score_word(state, word, *arrays)
        child = find_child(state, word, gram.first_child, gram.words)
        assert longer == (child if child >= 0 and gram.extends[child] else NONE)
        if child >= 0:
            assert after == shortest_equivalent(child, gram.first_child, gram.backoff, gram.suffix)


def test_scorers_are_asked_each_question_once() -> None:
    queries: list[tuple[int, ...]] = []
    decoder = Decoder([cases.ngram(), cases.logbilinear()], WEIGHTS)
    [scorer] = decoder.models.scorers

    class Spy(type(scorer)):  # type: ignore[misc]
        def log_probabilities(self, contexts, words, cache):  # type: ignore[no-untyped-def]
            queries.extend(map(tuple, np.column_stack([words, contexts]).tolist()))
            return super().log_probabilities(contexts, words, cache)

        def estimate(self, contexts, words, cache):  # type: ignore[no-untyped-def]
            queries.extend(map(tuple, np.column_stack([words, contexts]).tolist()))
            return super().estimate(contexts, words, cache)

    table = cases.table(("a", "w0", -1.0), ("a", "w1", -1.25), ("b", "w2", -0.5), ("a 1", "1 w0", -0.75))
    rules = decoder.prepare(table)
    scorer.__class__ = Spy
    translation = decoder.decode(list("ababab"), rules)
    assert {query[1:].count(NOTHING) for query in queries} == {0, 1, 2}  # of two words before: estimates know 0 or 1
    assert len(set(queries)) == len(queries) < len(translation.chart.edges.rule)


def test_questions_keep_their_numbers_when_there_is_more_room() -> None:
    rng = np.random.default_rng(3)
    orders, used = np.array([2, 4]), 0
    queries = new_queries(4, 3)
    numbers: dict[tuple[int, int, tuple[int, ...]], int] = {}
    for _ in range(5000):
        model, word, context = int(rng.integers(2)), int(rng.integers(6)), rng.integers(0, 5, 3).astype(np.int32)
        queries = queries_grown_to(queries, used, used + 1)
        known = int(rng.integers(orders[model]))  # other words of the context do not matter
        number = query_number(queries, used, model, word, context, known)
        key = model, word, tuple(context[:known].tolist())
        assert number == numbers.setdefault(key, used)
        used = len(numbers)
        assert queries.keys[number, [MODEL, WORD]].tolist() == [model, word]
        assert tuple(queries.keys[number, CONTEXT:].tolist()) == key[2] + (NONE,) * (3 - known)
    assert used > 500


def test_without_context_no_word_is_written_beyond_its_end() -> None:
    space = np.full(4, 9, np.int32)
    assert shift_in(space[:0], 5, 0) == 0
    assert space.tolist() == [9, 9, 9, 9]
