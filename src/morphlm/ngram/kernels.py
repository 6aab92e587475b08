"""Compiled loops of the n-gram model: counting, Kneser-Ney probabilities, queries and ARPA lines.

The n-grams of all orders form one trie in breadth-first order: node w < V is the unigram of word w, then come all
bigrams, all trigrams and so on, each order sorted by its words. The children of node i, the n-grams that extend it by
one word to the right, are the nodes first_child[i] .. first_child[i + 1] - 1. suffix[i] is the node without its first
word, ROOT for a unigram. `first_child` and `backoff` end before the highest order, which has neither.

A unigram whose suffix is UNK is a *member of UNK*, a word by which a model was extended: after every context it has
exp(logprob) times the probability of UNK, and in contexts it is UNK.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import float32, int32, int64, types
from numba.extending import intrinsic

from morphlm.arrays import Array
from morphlm.compiling import njit
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

ROOT = -1
array_at: Any = getattr(numba, "carray")  # noqa: B009  which Numba's types do not have


# ---------------------------------------------------------------- counting


@njit(cache=True, nogil=True)
def add_begins(tokens: Array, distance: int, stream: Array, depth: Array) -> tuple[int, int]:
    """Put BEGIN before each sentence of a block of tokens; also each position's distance from it, at most 255.

    `distance` is that of the token before the block, 0 after an END. Gives the length of the stream and the distance
    of its last token.
    """
    at = 0
    for token in tokens:
        if distance == 0:
            stream[at] = BEGIN_ID
            depth[at] = 0
            at += 1
        distance += 1
        stream[at] = token
        depth[at] = min(distance, 255)
        at += 1
        if token == END_ID:
            distance = 0
    return at, distance


@njit(cache=True, nogil=True)
def with_begins(tokens: Array, sentences: int) -> tuple[Array, Array]:
    """Put BEGIN before each sentence; also each position's distance from it, at most 255."""
    stream = np.empty(len(tokens) + sentences, np.int32)
    depth = np.empty(len(stream), np.uint8)
    add_begins(tokens, 0, stream, depth)
    return stream, depth


@njit(cache=True, nogil=True)
def positions_by_word(stream: Array, depth: Array, vocabulary_size: int) -> Array:
    """All positions but BEGIN's, sorted by their word (a stable counting sort)."""
    starts = np.zeros(vocabulary_size + 1, np.int64)
    for i in range(len(stream)):
        if depth[i] > 0:
            starts[stream[i] + 1] += 1
    for word in range(vocabulary_size):
        starts[word + 1] += starts[word]
    positions = np.empty(starts[vocabulary_size], np.int32)
    for i in range(len(stream)):
        if depth[i] > 0:
            word = stream[i]
            positions[starts[word]] = i
            starts[word] += 1
    return positions


@njit(cache=True, nogil=True)
def positions_by_ngram(by_word: Array, depth: Array, shorter: Array, n: int, contexts: int) -> Array:
    """The end positions of all n-grams, sorted by context, then by last word.

    shorter[i] is the number of the (n-1)-gram that ends at i, out of `contexts`. Distributing positions that are in
    order of their word by the number of their context keeps that order within each context.
    """
    starts = np.zeros(contexts + 1, np.int64)
    for i in by_word:
        if depth[i] >= n - 1:
            starts[shorter[i - 1] + 1] += 1
    for context in range(contexts):
        starts[context + 1] += starts[context]
    positions = np.empty(starts[contexts], np.int32)
    for i in by_word:
        if depth[i] >= n - 1:
            context = shorter[i - 1]
            positions[starts[context]] = i
            starts[context] += 1
    return positions


@njit(cache=True, nogil=True)
def number_ngrams(positions: Array, stream: Array, shorter: Array, longer: Array) -> int:
    """Number the n-grams in sorted order: longer[i] becomes the number of the one that ends at i. Returns how many."""
    number, last_context, last_word = -1, -1, -1
    for i in positions:
        context, word = shorter[i - 1], stream[i]
        if context != last_context or word != last_word:
            number += 1
            last_context, last_word = context, word
        longer[i] = number
    return number + 1


@njit(cache=True, nogil=True)
def collect_ngrams(
    positions: Array, stream: Array, depth: Array, shorter: Array, longer: Array, n: int, ngrams: int, contexts: int
) -> tuple[Array, Array, Array, Array, Array]:
    """For each n-gram: last word, count, suffix, whether it starts a sentence; where each context's children begin."""
    words = np.empty(ngrams, np.int32)
    counts = np.zeros(ngrams, np.int64)
    suffixes = np.empty(ngrams, np.int32)
    at_begin = np.empty(ngrams, np.bool_)
    first_child = np.zeros(contexts + 1, np.int64)
    last = -1
    for i in positions:
        number = longer[i]
        counts[number] += 1
        if number != last:
            last = number
            words[number] = stream[i]
            suffixes[number] = shorter[i]
            at_begin[number] = depth[i] == n - 1
            first_child[shorter[i - 1] + 1] += 1
    for context in range(contexts):
        first_child[context + 1] += first_child[context]
    return words, counts, suffixes, at_begin, first_child


@njit(cache=True, nogil=True)
def adjust_counts(counts: Array, at_begin: Array, longer_suffixes: Array) -> None:
    """Kneser-Ney's counts of a lower order, in place: how many different words stand before the n-gram.

    An n-gram that starts a sentence has nothing before it and keeps its count.
    """
    for i in range(len(counts)):
        if not at_begin[i]:
            counts[i] = 0
    for suffix in longer_suffixes:
        if not at_begin[suffix]:
            counts[suffix] += 1


# ---------------------------------------------------------------- probabilities


@njit(cache=True, nogil=True)
def interpolate(
    first_child: Array, counts: Array, suffixes: Array, discounts: Array, lower: Array
) -> tuple[Array, Array]:
    """Probabilities of an order's n-grams from those of the order below, and the weight gamma of each context.

    p(w|h) = (a(hw) - D(a(hw))) / sum_x a(hx) + gamma(h) p(w|h'),   gamma(h) = sum_x D(a(hx)) / sum_x a(hx)

    Pruned n-grams have negative counts; they give all of their count to gamma and have no probability.
    """
    probabilities = np.empty(len(counts), np.float64)
    gammas = np.ones(len(first_child) - 1, np.float64)
    for context in range(len(gammas)):
        begin, end = first_child[context], first_child[context + 1]
        if begin == end:
            continue
        total, discounted = 0.0, 0.0
        for i in range(begin, end):
            total += abs(counts[i])
            discounted += discounts[min(counts[i], 3)] if counts[i] >= 0 else -counts[i]
        gamma = discounted / total
        gammas[context] = gamma
        for i in range(begin, end):
            if counts[i] < 0:
                probabilities[i] = 0.0
            else:
                probabilities[i] = (counts[i] - discounts[min(counts[i], 3)]) / total + gamma * lower[suffixes[i]]
    return probabilities, gammas


@njit(cache=True, nogil=True)
def link_suffixes(words: Array, first_child: Array, suffix: Array) -> bool:
    """Fill in the suffixes of all nodes but unigrams, from the shorter to the longer; False if one is missing."""
    for parent in range(len(first_child) - 1):
        shorter = suffix[parent]
        low, end = (0, first_child[0]) if shorter == ROOT else (first_child[shorter], first_child[shorter + 1])
        for child in range(first_child[parent], first_child[parent + 1]):
            low = words[child] if shorter == ROOT else first_from(low, end, words[child], words)
            if low >= end or words[low] != words[child]:
                return False
            suffix[child] = low
    return True


# ---------------------------------------------------------------- queries


@njit(cache=True, nogil=True)
def find_child(node: int, word: int, first_child: Array, words: Array) -> int:
    """The child of `node` for a word, or -1: a binary search among its children."""
    if node == ROOT:
        return int(word)
    low, high = first_child[node], first_child[node + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    return int(low) if low < end and words[low] == word else -1


@njit(cache=True, nogil=True)
def shortest_equivalent(node: int, first_child: Array, backoff: Array, suffix: Array) -> int:
    """Drop what cannot matter for the future: contexts that nothing extends and that back off for free."""
    while node != ROOT and (
        node >= len(backoff) or (first_child[node] == first_child[node + 1] and backoff[node] == 0.0)
    ):
        node = int(suffix[node])
    return node


@njit(cache=True, nogil=True)
def back_off(
    state: int, word: int, first_child: Array, words: Array, backoff: Array, suffix: Array
) -> tuple[float, int, int]:
    """ln of the back-off weights down to the longest context that the word follows, that context, and the n-gram."""
    total = 0.0
    node = int(state)
    child = find_child(node, word, first_child, words)
    while child < 0:
        total += backoff[node]
        node = int(suffix[node])
        child = find_child(node, word, first_child, words)
    return total, node, child


@njit(cache=True, nogil=True)
def score_word(
    state: int, word: int, first_child: Array, words: Array, logprob: Array, backoff: Array, suffix: Array
) -> tuple[float, int]:
    """The log-probability of a word after a state (the node of the longest known context) and the next state."""
    total, node, child = back_off(state, word, first_child, words, backoff, suffix)
    if node == ROOT and suffix[child] != ROOT:  # a member of UNK
        share = np.float64(logprob[child])
        total, node, child = back_off(state, int(suffix[child]), first_child, words, backoff, suffix)
        total += share
    return total + logprob[child], shortest_equivalent(child, first_child, backoff, suffix)


def _pointer_to(typing_context: Any, address: Any, kind: Any) -> Any:
    """What lies at an address, as numbers of a type."""
    pointer = types.CPointer(kind.dtype)  # type: ignore[no-untyped-call]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return pointer(types.int64, kind), generate


pointer_to: Any = intrinsic(_pointer_to)


@njit(cache=True)  # giving up the interpreter's lock would take a third of the time
def score_word_at(address: int, state: int, word: int) -> tuple[float, int]:
    """`score_word` for Python: to take the five arrays one by one takes it three times as long as all the rest.

    At the address are their addresses, the number of nodes, and that of nodes below the highest order.
    """
    given = array_at(pointer_to(address, int64), 7)
    nodes, contexts = given[5], given[6]
    first_child = array_at(pointer_to(given[0], int64), contexts + 1)
    words = array_at(pointer_to(given[1], int32), nodes)
    logprob = array_at(pointer_to(given[2], float32), nodes)
    backoff = array_at(pointer_to(given[3], float32), contexts)
    suffix = array_at(pointer_to(given[4], int32), nodes)
    return score_word(state, word, first_child, words, logprob, backoff, suffix)


@njit(cache=True, nogil=True)
def score_pairs(
    states: Array, scored: Array, first_child: Array, words: Array, logprob: Array, backoff: Array, suffix: Array
) -> tuple[Array, Array]:
    """ln p of each scored word, (m,), after its state, and the next states."""
    scores, after = np.empty(len(states), np.float64), np.empty(len(states), np.int64)
    for i in range(len(states)):
        scores[i], after[i] = score_word(states[i], scored[i], first_child, words, logprob, backoff, suffix)
    return scores, after


@njit(cache=True, nogil=True)
def score_grid(
    states: Array, scored: Array, first_child: Array, words: Array, logprob: Array, backoff: Array, suffix: Array
) -> Array:
    """ln p of every scored word after every state, (states, words); the words are in rising order.

    Children are in rising order too, so that the search for one begins where that for the last one ended.
    """
    scores, left = np.empty((len(states), len(scored)), np.float64), np.empty(len(scored), np.int64)
    for i in range(len(states)):
        total, node, missing = 0.0, int(states[i]), len(scored)
        for k in range(missing):
            left[k] = k
        while node != ROOT and missing:
            low, end, still = first_child[node], first_child[node + 1], 0
            for k in left[:missing]:
                low = first_from(low, end, scored[k], words)
                if low < end and words[low] == scored[k]:
                    scores[i, k] = total + logprob[low]
                else:
                    left[still] = k
                    still += 1
            missing = still
            total += backoff[node]
            node = int(suffix[node])
        for k in left[:missing]:
            scores[i, k] = total + logprob[scored[k]]
            if suffix[scored[k]] != ROOT:  # a member of UNK
                scores[i, k], _ = score_word(states[i], scored[k], first_child, words, logprob, backoff, suffix)
    return scores


@njit(cache=True, nogil=True)
def first_from(low: int, end: int, word: int, words: Array) -> int:
    """The first node from `low` on whose word is not below a word: steps that double, then a binary search."""
    step = 1
    while low + step < end and words[low + step] < word:
        low += step
        step *= 2
    high = min(low + step, end)
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def distributions(
    states: Array, unigrams: Array, first_child: Array, words: Array, logprob: Array, backoff: Array, suffix: Array
) -> Array:
    """p(word | state) of every word, (states, V): the unigrams, overlaid from the shortest context to the longest."""
    result = np.empty((len(states), len(unigrams)), np.float64)
    for i in range(len(states)):
        weight, node = 1.0, int(states[i])  # of what has not been seen after the contexts so far
        result[i] = -1.0
        while node != ROOT:
            for child in range(first_child[node], first_child[node + 1]):
                if result[i, words[child]] < 0:
                    result[i, words[child]] = weight * np.exp(np.float64(logprob[child]))
            weight *= np.exp(np.float64(backoff[node]))
            node = int(suffix[node])
        for word in range(len(unigrams)):
            if suffix[word] != ROOT:  # a member of UNK, which stands before it
                result[i, word] = unigrams[word] * result[i, suffix[word]]
            elif result[i, word] < 0:
                result[i, word] = weight * unigrams[word]
    return result


@njit(cache=True, nogil=True)
def score_tokens(
    tokens: Array, begin_state: int, first_child: Array, words: Array, logprob: Array, backoff: Array, suffix: Array
) -> Array:
    """The log-probability of every token of sentences that each end with END."""
    scores = np.empty(len(tokens), np.float64)
    state = int(begin_state)
    for i in range(len(tokens)):
        scores[i], state = score_word(state, tokens[i], first_child, words, logprob, backoff, suffix)
        if tokens[i] == END_ID:
            state = int(begin_state)
    return scores


@njit(cache=True, nogil=True)
def states_before(
    tokens: Array, begin_state: int, first_child: Array, words: Array, logprob: Array, backoff: Array, suffix: Array
) -> Array:
    """The state before every token of sentences that each end with END."""
    states = np.empty(len(tokens), np.int64)
    state = int(begin_state)
    for i in range(len(tokens)):
        states[i] = state
        _, state = score_word(state, tokens[i], first_child, words, logprob, backoff, suffix)
        if tokens[i] == END_ID:
            state = int(begin_state)
    return states


@njit(cache=True, nogil=True)
def states_after_contexts(
    contexts: Array, first_child: Array, words: Array, logprob: Array, backoff: Array, suffix: Array
) -> Array:
    """The state after each context, (m, n - 1), the nearest word first."""
    states = np.empty(len(contexts), np.int64)
    for i in range(len(contexts)):
        state = ROOT
        for k in range(contexts.shape[1] - 1, -1, -1):
            _, state = score_word(state, contexts[i, k], first_child, words, logprob, backoff, suffix)
        states[i] = state
    return states


@njit(cache=True, nogil=True)
def score_after_contexts(
    contexts: Array, scored: Array, first_child: Array, words: Array, logprob: Array, backoff: Array, suffix: Array
) -> Array:
    """ln p of each scored word, (m,), after its context."""
    states = states_after_contexts(contexts, first_child, words, logprob, backoff, suffix)
    scores = np.empty(len(scored), np.float64)
    for i in range(len(scored)):
        scores[i], _ = score_word(states[i], scored[i], first_child, words, logprob, backoff, suffix)
    return scores


# ---------------------------------------------------------------- ARPA


class ArpaSource(NamedTuple):
    """What the lines of an ARPA file are made from: the arrays of a trie, and the words as bytes."""

    first_child: Array
    words: Array
    logprob: Array
    backoff: Array
    forms: Array  # uint8, all words one after the other
    form_starts: Array  # int64 (V + 1)
    longest_form: int  # bytes


@njit(cache=True, nogil=True)
def write_number(buffer: Array, at: int, value: float) -> int:
    """Write a number with seven decimals, 0 as '0' and minus infinity as '-99'; returns the offset after it."""
    if value == 0.0:
        buffer[at] = 48
        return at + 1
    if value == -np.inf:
        value = -99.0
    if value < 0:
        buffer[at] = 45
        at += 1
        value = -value
    scaled = int(np.rint(value * 1e7))
    whole, rest = scaled // 10_000_000, scaled % 10_000_000
    size, power = 1, 10
    while whole >= power:
        size += 1
        power *= 10
    for k in range(size - 1, -1, -1):
        buffer[at + k] = 48 + whole % 10
        whole //= 10
    at += size
    buffer[at] = 46
    for k in range(7, 0, -1):
        buffer[at + k] = 48 + rest % 10
        rest //= 10
    return at + 8


@njit(cache=True, nogil=True)
def write_arpa_lines(buffer: Array, node: int, end: int, path: Array, source: ArpaSource) -> tuple[int, int]:
    """Fill a buffer with ARPA lines of the nodes from `node` on; returns the bytes used and the next node.

    `path` holds the current node's ancestors, path[0] its unigram; the caller keeps it between calls of one order.
    Nodes come in order, so each ancestor only moves forward.
    """
    first_child, words, backoff = source.first_child, source.words, source.backoff
    forms, form_starts = source.forms, source.form_starts
    log10 = np.log(10.0)
    order = len(path)
    longest_line = order * (source.longest_form + 1) + 64
    at = 0
    while node < end and at + longest_line < len(buffer):
        path[order - 1] = node
        for level in range(order - 2, -1, -1):
            while first_child[path[level] + 1] <= path[level + 1]:
                path[level] += 1
        # <s> is never predicted; by convention the file shows 0.
        value = 0.0 if order == 1 and words[node] == BEGIN_ID else source.logprob[node] / log10
        at = write_number(buffer, at, value)
        for level in range(order):
            buffer[at] = 9 if level == 0 else 32
            at += 1
            word = words[path[level]]
            for k in range(form_starts[word], form_starts[word + 1]):
                buffer[at] = forms[k]
                at += 1
        if node < len(backoff):
            buffer[at] = 9
            at = write_number(buffer, at + 1, backoff[node] / log10)
        buffer[at] = 10
        at += 1
        node += 1
    return at, node
