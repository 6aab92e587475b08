"""Beginnings of words after a state: ln p of all words with a prefix, and the likeliest of them.

In the order of their spelling, words with a prefix are a range, so a prefix costs the sum over a range of the sorted
distribution. Differences of cumulative sums would be quicker for short prefixes, but wrong for improbable ones. Each
thread keeps the distributions of the last states, because decoders ask for many prefixes after each.
"""

from __future__ import annotations

import math
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from morphlm.arguments import check_word, check_words, finite_number, shown, whole_number
from morphlm.arrays import Float64Array, Int64Array
from morphlm.errors import ConfigError, InputError
from morphlm.language_model.guards import state_list
from morphlm.tables import counted
from morphlm.text.casing import lowercase
from morphlm.text.prepare import prepare_beginning
from morphlm.vectors.search import largest

if TYPE_CHECKING:
    from morphlm.language_model.base import LanguageModel

Range = tuple[int, int]  # of the entries in the order of their spelling

KEPT_RANGES = 1 << 16  # of prefixes
STATES_AT_ONCE = 16  # their distributions are computed together
WHITE_SPACE = frozenset(" \t\n\r\0")  # what no word holds


class PrefixCache(threading.local):
    """What each thread keeps for the prefixes of one model."""

    def __init__(self) -> None:
        self.record: Any = None  # of how the training text was prepared, when the ranges were looked up
        self.ranges: dict[str, Range] = {}
        self.distributions: OrderedDict[Any, Float64Array] = OrderedDict()  # sorted; the last used state last


class RankedWords(NamedTuple):
    """The likeliest of some words."""

    ids: Int64Array  # the likeliest first, of equal ones the lower id
    probabilities: Float64Array
    mass: float  # the probability of all the words, also of those that are not among the likeliest


# ---------------------------------------------------------------- what models answer


def prefix_logprob(model: LanguageModel, state: Any, prefix: str) -> float:
    """ln p of all words with a prefix after a state."""
    first, last = prefix_range(model, prefix)
    return _log_sum(_sorted_distribution(model, state)[first:last])


def prefix_logprobs(model: LanguageModel, states: Sequence[Any], prefixes: Sequence[str]) -> Float64Array:
    """The same for the k-th prefix after the k-th state, for every k; each state's distribution is computed once."""
    listed = state_list(states)
    check_words(prefixes)
    if len(listed) != len(prefixes):
        problem = f"{counted(len(listed), 'state')} and {counted(len(prefixes), 'prefix', 'prefixes')}"
        raise ConfigError(f"{problem}; give a prefix for each state")
    asked_of = _numbers_by_state(model, listed)
    ranges, logprobs = [prefix_range(model, prefix) for prefix in prefixes], np.empty(len(listed))
    for state, probabilities in _sorted_distributions(model, list(asked_of)):
        for number in asked_of[state]:
            first, last = ranges[number]
            logprobs[number] = _log_sum(probabilities[first:last])
    return logprobs


def _numbers_by_state(model: LanguageModel, states: Sequence[Any]) -> dict[Any, list[int]]:
    """The states that differ, each with its places in the list."""
    numbers: dict[Any, list[int]] = {}
    for number, state in enumerate(states):
        model.check_state(state)
        numbers.setdefault(state, []).append(number)
    return numbers


def completions(model: LanguageModel, state: Any, prefix: str, k: int) -> list[tuple[str, float]]:
    """The k likeliest words with a prefix after a state, with their ln p; words that cannot be are left out."""
    ranked = likeliest(model, state, slice(*prefix_range(model, prefix)), k)
    words, possible = model.vocabulary.words, ranked.probabilities > 0
    pairs = zip(ranked.ids[possible].tolist(), ranked.probabilities[possible].tolist(), strict=True)
    return [(words[word], math.log(probability)) for word, probability in pairs]


def likeliest(model: LanguageModel, state: Any, entries: slice | Int64Array, k: int) -> RankedWords:
    """The k likeliest of some entries of the vocabulary, which are named by their places in the order of spelling."""
    k = whole_number("k", k)
    probabilities = _sorted_distribution(model, state)[entries]
    ids = model.vocabulary.spelling_order.ids[entries]
    best = largest(probabilities, k, ties=ids)
    return RankedWords(ids[best], probabilities[best], float(probabilities.sum()))


# ---------------------------------------------------------------- prefixes


def prefix_range(model: LanguageModel, prefix: str, *, prepared: bool = False) -> Range:
    """Where the words with a prefix stand. It is prepared like the words of the training text, unless it is already."""
    check_word(prefix)
    if prepared:
        return _find_range(model, prefix, prepared=True)
    cache, record = model._prefix_cache, model.training.get("preparation")
    if cache.record is not record:
        cache.record, cache.ranges = record, {}
    found = cache.ranges.get(prefix)
    if found is None:
        if len(cache.ranges) >= KEPT_RANGES:
            cache.ranges.clear()
        found = cache.ranges[prefix] = _find_range(model, prefix, prepared=False)
    return found


def _find_range(model: LanguageModel, prefix: str, *, prepared: bool) -> Range:
    _check_prefix(prefix)
    form = prefix if prepared else _prepared(model, prefix)
    return model.vocabulary.spelling_order.range_of(unicodedata.normalize("NFC", form))


def _check_prefix(prefix: str) -> None:
    if not WHITE_SPACE.isdisjoint(prefix):
        raise InputError(f"{shown(prefix)} has white space inside; give the beginning of one word")
    try:
        prefix.encode()
    except UnicodeEncodeError:
        raise InputError(f"{shown(prefix)} is not a proper string; give the beginning of a word as str") from None


def _prepared(model: LanguageModel, prefix: str) -> str:
    """Without a record, only the case is adapted, and only where that cannot be wrong."""
    options = model.preparation
    if options is not None:
        return prepare_beginning(prefix, options)
    return prefix if model.vocabulary.spelling_order.has_capitals else lowercase(prefix, None)


# ---------------------------------------------------------------- distributions


def _sorted_distribution(model: LanguageModel, state: Any) -> Float64Array:
    """p of every entry after a state, in the order of their spelling."""
    model.check_state(state)  # also of states that are kept: True and 1.0 would be found as 1
    kept = model._prefix_cache.distributions
    if state not in kept:
        return _keep(model, state, model.distribution(state))
    kept.move_to_end(state)
    return kept[state]


def _sorted_distributions(model: LanguageModel, states: Sequence[Any]) -> Iterator[tuple[Any, Float64Array]]:
    """The same for states that are checked and differ, each with its state; some are computed at a time."""
    kept = model._prefix_cache.distributions
    for begin in range(0, len(states), STATES_AT_ONCE):
        batch = states[begin : begin + STATES_AT_ONCE]
        missing = [state for state in batch if state not in kept]
        for state in batch:
            if state in kept:
                kept.move_to_end(state)
                yield state, kept[state]
        for state, probabilities in zip(missing, model.distributions(missing) if missing else (), strict=True):
            yield state, _keep(model, state, probabilities)


def _keep(model: LanguageModel, state: Any, probabilities: Float64Array) -> Float64Array:
    """Sort a distribution, and forget those of the states that were used longest ago."""
    megabytes = finite_number("prefix_cache_megabytes", model.prefix_cache_megabytes, at_least=0)
    kept = model._prefix_cache.distributions
    kept[state] = found = np.asarray(probabilities, np.float64)[model.vocabulary.spelling_order.ids]
    while len(kept) > max(1, megabytes * (1 << 20) // found.nbytes):
        kept.popitem(last=False)
    return found


def _log_sum(probabilities: Float64Array) -> float:
    total = float(np.add.reduce(probabilities))
    return math.log(total) if total > 0 else -math.inf
