"""What the guide, an n-gram model, says to a combination of a rule and partial translations.

It gives a word its final score as soon as no word further left can matter: when it knows no n-gram of the words since
the left end with one more before them. Until then the word is *pending*. The first word after the pending ones has its
score, but for the back-off weights of longer contexts; they are added when the left is known. This is the state of Li
and Khudanpur (2008) and Heafield (2011).
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.ngram.kernels import ROOT, find_child, score_word, shortest_equivalent
from morphlm.translation.compiling import borrowing, called_inside, compiled
from morphlm.translation.decoder.kernels.records import (
    ANSWER,
    FIRST_GAP,
    NONE,
    Candidates,
    Grammar,
    Int,
    Ngram,
    Nodes,
    Records,
)

MEMO_BITS = 13  # 2^13 slots of 24 bytes are near at hand; more are slower, though less is looked up again
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Guide(NamedTuple):
    """The n-gram model that is asked at once."""

    gram: Ngram
    ids: Array  # int32: its number of each word
    memo: Records  # of ANSWER: what it has said; what is asked later may take its place


@compiled
def new_memo() -> Records:
    """Where nothing is kept."""
    memo = np.empty(1 << MEMO_BITS, ANSWER)
    for slot in range(len(memo)):
        memo[slot].key = NONE
    return memo


@borrowing
def look_up(gram: Ngram, memo: Records, slot: Int, state: Int, word: Int) -> None:
    """Keep what the model says."""
    child = find_child(state, word, gram.first_child, gram.words)
    memo[slot].longer = child if child >= 0 and gram.extends[child] else NONE
    if child >= 0:
        memo[slot].logprob = gram.logprob[child]
        memo[slot].state = shortest_equivalent(child, gram.first_child, gram.backoff, gram.suffix)
        return
    logprob, after = score_word(state, word, gram.first_child, gram.words, gram.logprob, gram.backoff, gram.suffix)
    memo[slot].logprob, memo[slot].state = logprob, after


@called_inside
def answer_of(guide: Guide, state: Int, word: Int) -> Int:
    """Where the memo has what the guide says. It is asked for the same 20 times in a sentence."""
    key = (np.int64(state + 1) << 32) | np.int64(word)
    slot = np.int64((np.uint64(key) * MULTIPLIER) >> np.uint64(64 - MEMO_BITS))
    if guide.memo[slot].key != key:
        look_up(guide.gram, guide.memo, slot, state, word)
        guide.memo[slot].key = key
    return slot


@called_inside
def add_word(guide: Guide, state: Int, pending: Int, full: bool, word: Int) -> tuple[Int, Int, bool, float, bool]:
    """The next word: state, pending words, whether full, ln p as far as is known, whether this is final."""
    answer, most = guide.memo[answer_of(guide, state, word)], len(guide.gram.bounds) - 1
    logprob, after = np.float64(answer.logprob), np.int64(answer.state)
    if full or pending == most or answer.longer == NONE:
        return after, pending, True, logprob, True
    if pending + 1 < most:
        return np.int64(answer.longer), pending + 1, False, logprob, False
    return after, pending + 1, True, logprob, False


@called_inside
def backoffs(gram: Ngram, state: Int, length: Int) -> float:
    """ln of the back-off weights of contexts of more than `length` words."""
    total = 0.0
    while state != ROOT and (length == 0 or state >= gram.bounds[length - 1]):
        total += float(gram.backoff[state])
        state = np.int64(gram.suffix[state])
    return total


class GuideState(NamedTuple):
    """What the guide has said to the first words of a combination."""

    state: Int
    pending: Int  # as in Nodes
    full: bool
    final: float  # ln p of the words that have their final score
    estimate: float  # and of the pending ones
    guesses: Int  # words whose ln p is written down


@called_inside
def append_word(guide: Guide, word: Int, said: GuideState, guess: Array, row: Int) -> GuideState:
    """The next word; its ln p is written down, if it is among the first words of which that is wanted."""
    state, pending, full, logprob, certain = add_word(guide, said.state, said.pending, said.full, word)
    guesses = said.guesses
    if guesses < guess.shape[1]:
        guess[row, guesses] = logprob
        guesses += 1
    if certain:
        return GuideState(state, pending, full, said.final + logprob, said.estimate, guesses)
    return GuideState(state, pending, full, said.final, said.estimate + logprob, guesses)


@called_inside
def append_part(guide: Guide, nodes: Nodes, t: Int, said: GuideState, guess: Array, row: Int) -> GuideState:
    """The next words are those of a node."""
    charge, known = 0.0, np.int64(nodes.pending[t])
    if said.pending == 0 and not said.full:  # nothing stands before it
        estimate = np.float64(nodes.estimate[t])
        said = GuideState(np.int64(nodes.state[t]), known, bool(nodes.full[t]), said.final, estimate, said.guesses)
        known = np.int64(0)
    else:
        for k in range(known):
            said = append_word(guide, guide.ids[nodes.left[t, k]], said, guess, row)
        if nodes.full[t]:
            charge = backoffs(guide.gram, said.state, known)
            state = np.int64(nodes.state[t])
            said = GuideState(state, said.pending, True, said.final + charge, said.estimate, said.guesses)
    guesses = said.guesses
    for k in range(known, min(nodes.first[t], known + guess.shape[1] - guesses)):
        guess[row, guesses] = nodes.guess[t, k] + (charge if k == known else 0.0)
        guesses += 1
    return GuideState(said.state, said.pending, said.full, said.final, said.estimate, guesses)


@called_inside
def combine(
    guide: Guide,
    grammar: Grammar,
    rule: Int,
    tail: Int,
    second_tail: Int,
    nodes: Nodes,
    candidates: Candidates,
    row: Int,
) -> None:
    """Write down what the guide says to a rule with its gaps filled."""
    said = GuideState(np.int64(ROOT), np.int64(0), False, 0.0, 0.0, np.int64(0))
    for place in range(grammar.starts[rule], grammar.starts[rule + 1]):
        symbol = grammar.symbols[place]
        if symbol >= 0:
            said = append_word(guide, guide.ids[symbol], said, candidates.guess, row)
        else:
            t = tail if symbol == FIRST_GAP else second_tail
            said = append_part(guide, nodes, t, said, candidates.guess, row)
    candidates.state[row], candidates.pending[row], candidates.full[row] = said.state, said.pending, said.full
    candidates.estimate[row], candidates.logprob[row] = said.estimate, said.final


@compiled
def estimate_rules(gram: Ngram, ids: Array, starts: Array, symbols: Array) -> Array:
    """ln p of the words of a rule, each after those that stand next to it."""
    result = np.empty(len(starts) - 1)
    for rule in range(len(starts) - 1):
        state, total = ROOT, 0.0
        for place in range(starts[rule], starts[rule + 1]):
            if symbols[place] >= 0:
                word = ids[symbols[place]]
                logprob, state = score_word(
                    state, word, gram.first_child, gram.words, gram.logprob, gram.backoff, gram.suffix
                )
                total += logprob
            else:
                state = ROOT
        result[rule] = total
    return result
