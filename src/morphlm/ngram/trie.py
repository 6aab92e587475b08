"""The compiled n-gram model: one trie of all orders in flat arrays, as `kernels` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from morphlm.arguments import as_integer, integers, word_id, word_ids
from morphlm.arrays import Array, Float32Array, Float64Array, Int32Array, Int64Array, blocks_of, read_only
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.language_model.guards import no_state
from morphlm.lazy import cached_property
from morphlm.ngram import kernels
from morphlm.ngram.kernels import ROOT
from morphlm.vocabulary.vocabulary import BEGIN_ID, UNK_ID

NgramState = int  # the node of the longest context that can still matter; ROOT for none


def check_number_of_nodes(nodes: int) -> None:
    """Nodes are numbered in 32 bits."""
    if nodes >= 2**31:
        raise ConfigError(f"{nodes:,} n-grams are too many for one model; take less text or a lower order")


def siblings_are_sorted(words: Int32Array, first_child: Int64Array, begin: int) -> bool:
    """Whether, from a node on, each has a larger word than the one before it, or is the first child of its parent."""
    node, last = begin, 0
    for block in blocks_of(words[begin:]):
        bounds = np.searchsorted(first_child, [node, node + len(block)])
        is_first = np.zeros(len(block), bool)
        is_first[first_child[bounds[0] : bounds[1]] - node] = True
        if not (is_first | (np.diff(block, prepend=np.int32(last)) > 0)).all():
            return False
        node, last = node + len(block), int(block[-1])
    return True


@dataclass(frozen=True, eq=False)
class NgramTrie:
    """n-grams with natural-log probabilities and back-offs. Nodes 0 .. V-1 are the unigrams in order of word ids."""

    sizes: tuple[int, ...]  # number of n-grams of order 1, 2, ...
    words: Int32Array  # (nodes) last word
    logprob: Float32Array  # (nodes) ln p(last word | the words before)
    suffix: Int32Array  # (nodes) the node without its first word; UNK for members of UNK, see `kernels`
    backoff: Float32Array  # (nodes below the highest order) ln of the back-off weight
    first_child: Int64Array  # (nodes below the highest order, + 1)
    arrays: tuple[Array, ...] = field(init=False, repr=False)  # what the query kernels take, in their order
    contexts: int = field(init=False, repr=False)  # states are ROOT and the nodes below this number
    vocabulary_size: int = field(init=False, repr=False)  # word ids are below it
    _addresses: Int64Array = field(init=False, repr=False)  # of the arrays, for single queries, and two sizes
    address: int = field(init=False, repr=False)  # of these

    __repr__ = dataclass_repr

    @property
    def order(self) -> int:
        return len(self.sizes)

    def __post_init__(self) -> None:
        """What every query needs is at hand."""
        arrays: tuple[Array, ...] = self.first_child, self.words, self.logprob, self.backoff, self.suffix
        arrays = tuple(map(read_only, arrays))
        sizes = len(self.words), len(self.backoff)
        addresses = np.array([*(array.ctypes.data for array in arrays), *sizes], np.int64)
        ready = {"arrays": arrays, "contexts": len(self.backoff), "vocabulary_size": self.sizes[0]}
        for name, value in (ready | {"_addresses": addresses, "address": addresses.ctypes.data}).items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Without addresses, which are other ones in a copy."""
        return type(self), (self.sizes, self.words, self.logprob, self.suffix, self.backoff, self.first_child)

    @property
    def has_members(self) -> bool:
        """Whether some words are members of UNK: the model was extended by them."""
        return bool((self.suffix[: self.vocabulary_size] != ROOT).any())

    def begin(self) -> NgramState:
        """The state at the start of a sentence."""
        return self._begin

    @cached_property
    def _begin(self) -> NgramState:
        first_child, _, _, backoff, suffix = self.arrays
        return int(kernels.shortest_equivalent(BEGIN_ID, first_child, backoff, suffix))

    def score(self, state: NgramState, word: int) -> tuple[float, NgramState]:
        """ln p(word | state) and the state after it."""
        if type(word) is not int or not 0 <= word < self.vocabulary_size:
            word = word_id(word, self.vocabulary_size)
        if type(state) is not int or not ROOT <= state < self.contexts:
            state = self.check_state(state)
        scored: tuple[float, NgramState] = kernels.score_word_at(self.address, state, word)
        return scored

    def is_state(self, state: NgramState) -> bool:
        """Whether it is one; that of another model would lead the kernels astray."""
        node = as_integer(state)
        return node is not None and ROOT <= node < self.contexts

    def check_state(self, state: NgramState) -> NgramState:
        """The state as an int; what is none is refused."""
        if not self.is_state(state):
            raise no_state(state)
        return int(state)

    def check_states(self, states: Sequence[NgramState] | Int64Array) -> Int64Array:
        """Many states at once; NumPy would make numbers of truth values."""
        if isinstance(states, list) and bool in map(type, states):
            raise no_state(next(state for state in states if type(state) is bool))
        nodes: Int64Array = integers(
            states, self.contexts, first=ROOT, dtype=np.int64, error=lambda state, _: no_state(state)
        )
        return nodes

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        """ln p of every token of sentences that each end with END."""
        ids = word_ids(tokens, self.vocabulary_size)
        scores: Float64Array = kernels.score_tokens(ids, self.begin(), *self.arrays)
        return scores

    def states_before(self, tokens: Int32Array) -> Int64Array:
        """The state before every token of sentences that each end with END."""
        ids = word_ids(tokens, self.vocabulary_size)
        states: Int64Array = kernels.states_before(ids, self.begin(), *self.arrays)
        return states

    def match_length(self, state: NgramState, word: int) -> int:
        """How many words the longest n-gram has that ends with this word after a state, the word included."""
        node, word = self.check_state(state), word_id(word, self.vocabulary_size)
        word = UNK_ID if self.suffix[word] != ROOT else word
        while node != ROOT:
            begin, end = self.first_child[node], self.first_child[node + 1]
            child = begin + np.searchsorted(self.words[begin:end], word)
            if child < end and self.words[child] == word:
                return 2 + int(np.searchsorted(np.cumsum(self.sizes), node, side="right"))
            node = int(self.suffix[node])
        return 1

    def score_pairs(self, states: Sequence[NgramState], words: Int32Array) -> tuple[Float64Array, Int64Array]:
        """ln p(words[k] | states[k]) for every k, and the states after."""
        scores: tuple[Float64Array, Int64Array] = kernels.score_pairs(
            self.check_states(states), word_ids(words, self.vocabulary_size), *self.arrays
        )
        return scores

    def score_grid(self, states: Sequence[NgramState], words: Int32Array) -> Float64Array:
        """ln p of every word after every state, (states, words)."""
        sorted_words, column_of = np.unique(word_ids(words, self.vocabulary_size), return_inverse=True)
        scores: Float64Array = kernels.score_grid(self.check_states(states), sorted_words, *self.arrays)
        return scores.take(column_of, axis=1)

    def distributions(self, states: Sequence[NgramState]) -> Float64Array:
        """p(word | state) of every word after every state, (states, V)."""
        rows: Float64Array = kernels.distributions(self.check_states(states), self._unigrams, *self.arrays)
        return rows

    @cached_property
    def _unigrams(self) -> Float64Array:
        return np.exp(self.logprob[: self.sizes[0]].astype(np.float64))
