"""The heuristic's scores of hypotheses: an n-gram model on a rule and the partial translations in its gaps.

It gives a word its final score as soon as no word further left can matter: when it knows no n-gram of the words since
the left end with one more before them. Until then the word is *pending*, and its score so far is a rest cost. The first
word after the pending ones has its score, but for the back-off weights of longer contexts; they are added when the left
is known. This is the state of Li and Khudanpur (2008) and Heafield (2011).
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, inlined, owning
from morphlm.ngram.kernels import ROOT, find_child, score_word, shortest_equivalent
from morphlm.translation.decoder.kernels.records import (
    FIRST_GAP,
    MEMO_ENTRY,
    NONE,
    CubeCandidates,
    Heuristic,
    Int,
    NgramArrays,
    Nodes,
    Records,
    SearchArrays,
)

MEMO_BITS = 13  # 2^13 slots of 24 bytes are near at hand; more are slower, though less is looked up again
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@owning
def new_memo() -> Records:
    """An empty memo."""
    memo = np.empty(1 << MEMO_BITS, MEMO_ENTRY)
    for slot in range(len(memo)):
        memo[slot].key = NONE
    return memo


@borrowing
def fill_slot(ngrams: NgramArrays, memo: Records, slot: Int, state: Int, word: Int) -> None:
    """Ask the model and keep the result."""
    share = 0.0
    if ngrams.suffix[word] != ROOT:  # a member of UNK has its share of that
        share, word = np.float64(ngrams.logprob[word]), np.int64(ngrams.suffix[word])
    child = find_child(state, word, ngrams.first_child, ngrams.words)
    memo[slot].longer = child if child >= 0 and ngrams.extends[child] else NONE
    if child >= 0:
        memo[slot].logprob = ngrams.logprob[child] + share
        memo[slot].state = shortest_equivalent(child, ngrams.first_child, ngrams.backoff, ngrams.suffix)
        return
    logprob, after = score_word(
        state, word, ngrams.first_child, ngrams.words, ngrams.logprob, ngrams.backoff, ngrams.suffix
    )
    memo[slot].logprob, memo[slot].state = logprob + share, after


@inlined
def memo_slot(heuristic: Heuristic, state: Int, word: Int) -> Int:
    """Where the memo has the score of a word after a state. The same is asked for 20 times in a sentence."""
    key = (np.int64(state + 1) << 32) | np.int64(word)
    slot = np.int64((np.uint64(key) * MULTIPLIER) >> np.uint64(64 - MEMO_BITS))
    if heuristic.memo[slot].key != key:
        fill_slot(heuristic.ngrams, heuristic.memo, slot, state, word)
        heuristic.memo[slot].key = key
    return slot


@inlined
def score_next(
    heuristic: Heuristic, state: Int, pending: Int, full: bool, word: Int
) -> tuple[Int, Int, bool, float, bool]:
    """The next word: state, pending words, whether full, ln p as far as is known, whether this is final."""
    entry, most = heuristic.memo[memo_slot(heuristic, state, word)], len(heuristic.ngrams.bounds) - 1
    logprob, after = np.float64(entry.logprob), np.int64(entry.state)
    if full or pending == most or entry.longer == NONE:
        return after, pending, True, logprob, True
    if pending + 1 < most:
        return np.int64(entry.longer), pending + 1, False, logprob, False
    return after, pending + 1, True, logprob, False


@inlined
def backoffs(ngrams: NgramArrays, state: Int, length: Int) -> float:
    """ln of the back-off weights of contexts of more than `length` words."""
    total = 0.0
    while state != ROOT and (length == 0 or state >= ngrams.bounds[length - 1]):
        total += float(ngrams.backoff[state])
        state = np.int64(ngrams.suffix[state])
    return total


class PrefixScore(NamedTuple):
    """The scores of the first words of a hypothesis."""

    state: Int
    pending: Int  # as in Nodes
    full: bool
    final: float  # ln p of the words that have their final score
    rest_cost: float  # and of the pending ones
    recorded: Int  # words whose ln p is in first_logprobs


@inlined
def append_word(heuristic: Heuristic, word: Int, prefix: PrefixScore, logprobs: Array, row: Int) -> PrefixScore:
    """The next word; its ln p is recorded, if it is among the first words of which that is wanted."""
    state, pending, full, logprob, is_final = score_next(heuristic, prefix.state, prefix.pending, prefix.full, word)
    recorded = prefix.recorded
    if recorded < logprobs.shape[1]:
        logprobs[row, recorded] = logprob
        recorded += 1
    if is_final:
        return PrefixScore(state, pending, full, prefix.final + logprob, prefix.rest_cost, recorded)
    return PrefixScore(state, pending, full, prefix.final, prefix.rest_cost + logprob, recorded)


@inlined
def append_node(
    heuristic: Heuristic, nodes: Nodes, t: Int, prefix: PrefixScore, logprobs: Array, row: Int
) -> PrefixScore:
    """The next words are those of a node."""
    charge, known = 0.0, np.int64(nodes.pending[t])
    if prefix.pending == 0 and not prefix.full:  # nothing stands before it
        rest_cost = np.float64(nodes.rest_cost[t])
        prefix = PrefixScore(
            np.int64(nodes.state[t]), known, bool(nodes.full[t]), prefix.final, rest_cost, prefix.recorded
        )
        known = np.int64(0)
    else:
        for k in range(known):
            prefix = append_word(heuristic, heuristic.ids[nodes.left[t, k]], prefix, logprobs, row)
        if nodes.full[t]:
            charge = backoffs(heuristic.ngrams, prefix.state, known)
            state = np.int64(nodes.state[t])
            prefix = PrefixScore(state, prefix.pending, True, prefix.final + charge, prefix.rest_cost, prefix.recorded)
    recorded = prefix.recorded
    for k in range(known, min(nodes.batch_pending[t], known + logprobs.shape[1] - recorded)):
        logprobs[row, recorded] = nodes.first_logprobs[t, k] + (charge if k == known else 0.0)
        recorded += 1
    return PrefixScore(prefix.state, prefix.pending, prefix.full, prefix.final, prefix.rest_cost, recorded)


@inlined
def score_words(
    search: SearchArrays, rule: Int, tail: Int, second_tail: Int, candidates: CubeCandidates, row: Int
) -> None:
    """Fill in the heuristic's scores of a rule with its gaps filled."""
    rules, heuristic = search.rules, search.heuristic
    prefix = PrefixScore(np.int64(ROOT), np.int64(0), False, 0.0, 0.0, np.int64(0))
    for position in range(rules.starts[rule], rules.starts[rule + 1]):
        symbol = rules.symbols[position]
        if symbol >= 0:
            prefix = append_word(heuristic, heuristic.ids[symbol], prefix, candidates.first_logprobs, row)
        else:
            t = tail if symbol == FIRST_GAP else second_tail
            prefix = append_node(heuristic, search.nodes, t, prefix, candidates.first_logprobs, row)
    candidates.state[row], candidates.pending[row], candidates.full[row] = prefix.state, prefix.pending, prefix.full
    candidates.rest_cost[row], candidates.logprob[row] = prefix.rest_cost, prefix.final


@owning
def estimate_rules(ngrams: NgramArrays, ids: Array, starts: Array, symbols: Array) -> Array:
    """ln p of the words of a rule, each after those that stand next to it."""
    result = np.empty(len(starts) - 1)
    for rule in range(len(starts) - 1):
        state, total = ROOT, 0.0
        for position in range(starts[rule], starts[rule + 1]):
            if symbols[position] >= 0:
                word = ids[symbols[position]]
                logprob, state = score_word(
                    state, word, ngrams.first_child, ngrams.words, ngrams.logprob, ngrams.backoff, ngrams.suffix
                )
                total += logprob
            else:
                state = ROOT
        result[rule] = total
    return result
