"""The compiled n-gram model: one trie of all orders in flat arrays, as `kernels` describes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Array, Float32Array, Float64Array, Int32Array, Int64Array
from morphlm.errors import ConfigError
from morphlm.ngram import kernels
from morphlm.vocabulary.vocabulary import BEGIN_ID

NgramState = int  # the node of the longest context that can still matter; ROOT for none


def check_number_of_nodes(nodes: int) -> None:
    """Nodes are numbered in 32 bits."""
    if nodes >= 2**31:
        raise ConfigError(f"{nodes:,} n-grams are too many for one model; take less text or a lower order")


@dataclass(frozen=True, eq=False)
class NgramTrie:
    """n-grams with natural-log probabilities and back-offs. Nodes 0 .. V-1 are the unigrams in order of word ids."""

    sizes: tuple[int, ...]  # number of n-grams of order 1, 2, ...
    words: Int32Array  # (nodes) last word
    logprob: Float32Array  # (nodes) ln p(last word | the words before)
    suffix: Int32Array  # (nodes) the node without its first word
    backoff: Float32Array  # (nodes below the highest order) ln of the back-off weight
    first_child: Int64Array  # (nodes below the highest order, + 1)

    @property
    def order(self) -> int:
        return len(self.sizes)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What the query kernels take, in their order."""
        return self.first_child, self.words, self.logprob, self.backoff, self.suffix

    def begin(self) -> NgramState:
        """The state at the start of a sentence."""
        return int(kernels.shortest_equivalent(BEGIN_ID, self.first_child, self.backoff, self.suffix))

    def score(self, state: NgramState, word: int) -> tuple[float, NgramState]:
        """ln p(word | state) and the state after it."""
        self._check_state(state)
        logprob, next_state = kernels.score_word(state, word, *self.arrays)
        return float(logprob), int(next_state)

    def _check_state(self, state: NgramState) -> None:
        """A state of another model would lead the kernels astray."""
        if not kernels.ROOT <= state < len(self.backoff):
            raise ConfigError(f"{state} is not a state of this model; begin with its begin()")

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        """ln p of every token of sentences that each end with END."""
        scores: Float64Array = kernels.score_tokens(tokens, self.begin(), *self.arrays)
        return scores

    def states_before(self, tokens: Int32Array) -> Int64Array:
        """The state before every token of sentences that each end with END."""
        states: Int64Array = kernels.states_before(tokens, self.begin(), *self.arrays)
        return states

    def distribution(self, state: NgramState) -> Float64Array:
        """p(word | state) of every word: the unigrams, overlaid context by context from the shortest to the longest."""
        self._check_state(state)
        contexts = []
        while state != kernels.ROOT:
            contexts.append(state)
            state = int(self.suffix[state])
        probabilities = np.exp(self.logprob[: self.sizes[0]].astype(np.float64))
        for node in reversed(contexts):
            children = slice(self.first_child[node], self.first_child[node + 1])
            probabilities *= np.exp(np.float64(self.backoff[node]))
            probabilities[self.words[children]] = np.exp(self.logprob[children].astype(np.float64))
        return probabilities
