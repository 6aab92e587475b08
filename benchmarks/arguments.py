"""What the checks of ids and states cost in single queries from Python, against the same steps without them.

    python benchmarks/arguments.py [--words 16000] [--repeats 200]

Checked is `score_id` as it is. Unchecked is the same code with its checks taken out, written down here: the same calls
of compiled code, the same conversions. Both take turns, query by query; the least time of each query counts, and of
their differences the median. A mixture's components check what they are asked themselves, so that its line shows only
its own check.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from logbilinear import make_workload
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.kernels.query import log_probability
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.query import CachedQueries
from morphlm.logbilinear.state_queries import StateQueries
from morphlm.logbilinear.states import ContextArrays, StateSpace
from morphlm.logbilinear.structure import build_structure
from morphlm.ngram.kernels import score_word_at
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.ngram.trie import NgramTrie
from morphlm.scoring.mixture import MixtureModel, _log_sum, as_components
from morphlm.vocabulary.vocabulary import END_ID, Vocabulary

QUERIES = 200
LIMIT = 0.1  # us a call
Query = tuple[Any, int]
Ask = Callable[[Any, int], Any]


# ---------------------------------------------------------------- the same without checks


class UncheckedTrie(NgramTrie):
    """N-grams."""

    def score(self, state: int, word: int) -> tuple[float, int]:
        scored: tuple[float, int] = score_word_at(self.address, state, word)
        return scored


class UncheckedQueries(CachedQueries):
    """Log-bilinear models."""

    def log_probability(self, state: tuple[int, ...], word: int) -> float:
        cache = self.cache
        context = self._context(state)
        logprob: float = log_probability(self.model, cache, context, word)
        return logprob

    def _context(self, state: tuple[int, ...]) -> Any:
        context = self._own.context
        self._pack(context, 0, *state)
        return context


class UncheckedStates(StateSpace):
    """Those with wide contexts."""

    def arrays(self, states: Sequence[Any]) -> ContextArrays:
        return self._general_arrays(list(states))


class UncheckedLogBilinear(LogBilinearModel, checks_itself=True):
    """Either of them."""

    def score_id(self, state: Any, word: int) -> Any:
        if self.config.wide:
            return self._score_other(state, word, word)
        return self.queries.log_probability(state, word), (word, *state[:-1])


class UncheckedMixture(MixtureModel, checks_itself=True):
    """Mixtures."""

    def score_id(self, state: Any, word: int) -> Any:
        bucket, *states = state
        scored = [component.score_id(own, word) for component, own in zip(self.components, states, strict=True)]
        joint = [weight + logprob for weight, (logprob, _) in zip(self._log_rows[bucket], scored, strict=True)]
        return _log_sum(joint), self._state(word, [after for _, after in scored])


def unchecked_ngram(model: NgramModel) -> NgramModel:
    trie = model.trie
    plain = UncheckedTrie(trie.sizes, trie.words, trie.logprob, trie.suffix, trie.backoff, trie.first_child)
    return NgramModel(plain, model.vocabulary, model.training)


def unchecked_logbilinear(model: LogBilinearModel) -> LogBilinearModel:
    plain = UncheckedLogBilinear(model.config, model.structure, model.parameters, model.training)
    if model.config.wide:
        space = UncheckedStates(**vars(model._space))
        given = model.queries, model._context_side, model._context_tables
        plain.__dict__["states"] = StateQueries(space, *given)
    else:
        compiled = model.queries
        plain.__dict__["queries"] = UncheckedQueries(compiled.model, compiled._members, compiled.megabytes)
    return plain


def unchecked_mixture(model: MixtureModel) -> MixtureModel:
    return UncheckedMixture(model.components, model.weights, model.weights_by, model.training)


# ---------------------------------------------------------------- timing


def queries_of(model: LanguageModel, text: np.ndarray) -> list[Query]:
    """States and words of a text."""
    queries, state = [], model.begin()
    for word in text[:QUERIES].tolist():
        queries.append((state, word))
        _, state = model.score_id(state, word)
        if word == END_ID:
            state = model.next_sentence(state)
    return queries


def least_times(asks: Sequence[Ask], query: Query, repeats: int) -> list[int]:
    """The least nanoseconds of each way to ask one query; they take turns."""
    state, word = query
    best = [1 << 62] * len(asks)
    for _ in range(repeats):
        for which, ask in enumerate(asks):
            started = time.perf_counter_ns()
            ask(state, word)
            best[which] = min(best[which], time.perf_counter_ns() - started)
    return best


def compare(name: str, checked: LanguageModel, unchecked: LanguageModel, text: np.ndarray, repeats: int) -> None:
    queries = queries_of(checked, text)
    asks = checked.score_id, unchecked.score_id
    assert all(asks[0](*query) == asks[1](*query) for query in queries)
    times = np.array([least_times(asks, query, repeats) for query in queries]) / 1000
    with_checks, without = times.mean(axis=0)
    cost = float(np.median(times[:, 0] - times[:, 1]))
    outcome = "ok" if cost <= LIMIT else "above the limit"
    print(f"{name:24s} {with_checks:10.3f} {without:10.3f} {cost:8.3f}   {outcome}", flush=True)


def sentences_of(text: np.ndarray, vocabulary: Vocabulary) -> list[list[str]]:
    pieces = np.split(text, np.flatnonzero(text == END_ID) + 1)
    return [[vocabulary.words[word] for word in piece.tolist() if word > END_ID] for piece in pieces]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=16_000)
    parser.add_argument("--repeats", type=int, default=200)
    arguments = parser.parse_args()
    vocabulary, partition, factors, text = make_workload(arguments.words, 127, 100_000)
    ngrams = train_ngram(sentences_of(text, vocabulary), 4, vocabulary=vocabulary)
    config = variant("clbl++", width=100)
    models = []
    for chosen in (config, replace(config, wide=60)):
        structure = build_structure(chosen, vocabulary, partition, factors)
        parameters = initial_parameters(chosen, structure, seed=1, init_std=0.1)
        models.append(LogBilinearModel(chosen, structure, parameters, {}))
    plain, wide = models
    components = as_components([ngrams, plain], [None, None])
    mixture = MixtureModel(components, np.array([[0.5, 0.5]]), "none", {})
    by_context = MixtureModel(components, np.full((ngrams.context_buckets, 2), 0.5), "context", {})
    print(f"{'us a call':24s} {'checked':>10s} {'unchecked':>10s} {'checks':>8s}   limit {LIMIT}")
    repeats = arguments.repeats
    compare("mkn", ngrams, unchecked_ngram(ngrams), text, repeats)
    compare("clbl++", plain, unchecked_logbilinear(plain), text, repeats)
    compare("clbl++, wide 60", wide, unchecked_logbilinear(wide), text, repeats)
    compare("mixture", mixture, unchecked_mixture(mixture), text, repeats)
    compare("mixture by context", by_context, unchecked_mixture(by_context), text, repeats)


if __name__ == "__main__":
    main()
