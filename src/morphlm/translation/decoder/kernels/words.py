"""What language models have to say to a combination of a rule and partial translations.

The guide, an n-gram model, gives a word its final score as soon as no word further left can matter: when it knows no
n-gram of the words since the left end with one more before them. Until then the word is *pending*. The first word
after the pending ones has its score, but for the back-off weights of longer contexts; they are added when the left is
known. This is the state of Li and Khudanpur (2008) and Heafield (2011). Other models are asked about a word when all of
their context is known.
"""

import numpy as np

from morphlm.ngram.kernels import ROOT, find_child, score_word, shortest_equivalent
from morphlm.translation.decoder.kernels.records import (
    FIRST_GAP,
    Array,
    Candidates,
    Grammar,
    Int,
    Ngram,
    Nodes,
    Popped,
    Queries,
    called_inside,
    compiled,
    longer,
    room_for,
    taller,
)


@called_inside
def add_word(gram: Ngram, state: Int, pending: Int, full: bool, word: Int) -> tuple[Int, Int, bool, float, bool]:
    """The next word: state, pending words, whether full, ln p as far as is known, whether this is final."""
    if not full and pending < len(gram.bounds) - 1:
        child = find_child(state, word, gram.first_child, gram.words)
        if child >= 0 and gram.extends[child]:
            logprob = np.float64(gram.logprob[child])
            if pending + 1 < len(gram.bounds) - 1:
                return child, pending + 1, False, logprob, False
            last = shortest_equivalent(child, gram.first_child, gram.backoff, gram.suffix)
            return last, pending + 1, True, logprob, False
    final, after = score_word(state, word, gram.first_child, gram.words, gram.logprob, gram.backoff, gram.suffix)
    return after, pending, True, final, True


@called_inside
def backoffs(gram: Ngram, state: Int, length: Int) -> float:
    """ln of the back-off weights of contexts of more than `length` words."""
    total = 0.0
    while state != ROOT and (length == 0 or state >= gram.bounds[length - 1]):
        total += float(gram.backoff[state])
        state = np.int64(gram.suffix[state])
    return total


@called_inside
def combine(  # noqa: PLR0912 - one walk over the words
    gram: Ngram,
    ids: Array,
    grammar: Grammar,
    rule: Int,
    tail: Int,
    second_tail: Int,
    nodes: Nodes,
    candidates: Candidates,
    row: Int,
) -> None:
    """Write down what the guide says to a rule with its gaps filled."""
    state, pending, full = np.int64(ROOT), np.int64(0), False
    final, estimate = 0.0, 0.0
    guesses = candidates.guess.shape[1]
    at = 0  # words so far, as long as guesses are wanted
    for place in range(grammar.starts[rule], grammar.starts[rule + 1]):
        symbol = grammar.symbols[place]
        if symbol >= 0:
            state, pending, full, logprob, certain = add_word(gram, state, pending, full, ids[symbol])
            if certain:
                final += logprob
            else:
                estimate += logprob
            if at < guesses:
                candidates.guess[row, at] = logprob
                at += 1
            continue
        t = tail if symbol == FIRST_GAP else second_tail
        charge = 0.0
        known = np.int64(nodes.pending[t])
        if pending == 0 and not full:  # nothing stands before it
            state, pending, full = np.int64(nodes.state[t]), known, bool(nodes.full[t])
            estimate = float(nodes.estimate[t])
            known = np.int64(0)
        else:
            for k in range(known):
                state, pending, full, logprob, certain = add_word(gram, state, pending, full, ids[nodes.left[t, k]])
                if certain:
                    final += logprob
                else:
                    estimate += logprob
                if at < guesses:
                    candidates.guess[row, at] = logprob
                    at += 1
            if nodes.full[t]:
                charge = backoffs(gram, state, known)
                final += charge
                state, full = np.int64(nodes.state[t]), True
        for k in range(known, min(nodes.first[t], known + guesses - at)):
            candidates.guess[row, at] = nodes.guess[t, k] + (charge if k == known else 0.0)
            at += 1
    candidates.state[row], candidates.pending[row], candidates.full[row] = state, pending, full
    candidates.estimate[row], candidates.logprob[row] = estimate, final


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


# ---------------------------------------------------------------- words at both ends, and the other models


@called_inside
def collect_left(grammar: Grammar, rule: Int, nodes: Nodes, popped: Popped, row: Int) -> None:
    """The first words of a combination, as many as some model may need."""
    needed = max(np.int64(popped.first[row]), np.int64(popped.pending[row]))
    have = 0
    for place in range(grammar.starts[rule], grammar.starts[rule + 1]):
        symbol = grammar.symbols[place]
        if have == needed:
            break
        if symbol >= 0:
            popped.left[row, have] = symbol
            have += 1
        else:
            t = popped.tails[row, 0] if symbol == FIRST_GAP else popped.tails[row, 1]
            for k in range(min(nodes.lefts[t], needed - have)):
                popped.left[row, have] = nodes.left[t, k]
                have += 1
    popped.lefts[row] = have


@compiled
def new_queries(size: Int, reach: Int) -> Queries:
    """Room for queries."""
    context = np.empty((size, reach), np.int32)
    return Queries(np.empty(size, np.int64), np.empty(size, np.int32), np.empty(size, np.int32), context)


@compiled
def with_room_for_queries(queries: Queries, needed: Int) -> Queries:
    """The same queries; at least as many rows as needed."""
    if needed <= len(queries.popped):
        return queries
    size = room_for(needed, len(queries.popped))
    return Queries(
        longer(queries.popped, size),
        longer(queries.model, size),
        longer(queries.word, size),
        taller(queries.context, size),
    )


@called_inside
def ask(queries: Queries, used: Int, orders: Array, row: Int, word: Int, place: Int, context: Array, known: Int) -> Int:
    """Add the questions after a word which was the one at `place` in its part, where its context was missing."""
    for b in range(len(orders)):
        if place < orders[b] - 1 <= known:
            queries.popped[used], queries.model[used], queries.word[used] = row, b, word
            for k in range(len(context)):
                queries.context[used, k] = context[k]
            used += 1
    return used


@called_inside
def shift_in(context: Array, word: Int, known: Int) -> Int:
    """One more word before what follows; returns how many are known."""
    for k in range(len(context) - 1, 0, -1):
        context[k] = context[k - 1]
    context[0] = word
    return min(known + 1, len(context))


@called_inside
def walk(
    grammar: Grammar,
    rule: Int,
    nodes: Nodes,
    orders: Array,
    context: Array,
    popped: Popped,
    row: Int,
    queries: Queries,
    used: Int,
) -> Int:
    """The words at both ends for the other models, and questions about those whose context became known.

    `context` is space for the last words. Returns the number of queries.
    """
    reach, known, first = len(context), np.int64(0), np.int64(0)
    beginning = True  # all words so far lack some of their context
    for place in range(grammar.starts[rule], grammar.starts[rule + 1]):
        symbol = grammar.symbols[place]
        if symbol >= 0:
            used = ask(queries, used, orders, row, np.int32(symbol), np.int64(-1), context, known)
            if beginning:
                first += 1
            known = shift_in(context, symbol, known)
        else:
            t = popped.tails[row, 0] if symbol == FIRST_GAP else popped.tails[row, 1]
            for k in range(nodes.first[t]):
                used = ask(queries, used, orders, row, nodes.left[t, k], k, context, known)
                if beginning and first < reach:
                    first += 1
                known = shift_in(context, nodes.left[t, k], known)
            if nodes.rights[t] == reach:
                known = np.int64(reach)
                for k in range(reach):
                    context[k] = nodes.right[t, k]
        beginning = bool(known < reach)
    popped.first[row], popped.rights[row] = min(first, reach), known
    for k in range(known):
        popped.right[row, k] = context[k]
    return used


@compiled
def ngram_answers(gram: Ngram, contexts: Array, words: Array) -> Array:
    """ln p of each word after its context, (m, n - 1), the nearest word first, by an n-gram model that is no guide."""
    out = np.empty(len(words))
    for i in range(len(words)):
        state, logprob = ROOT, 0.0
        for k in range(contexts.shape[1] - 1, -1, -1):
            _, state = score_word(
                state, contexts[i, k], gram.first_child, gram.words, gram.logprob, gram.backoff, gram.suffix
            )
        logprob, _ = score_word(state, words[i], gram.first_child, gram.words, gram.logprob, gram.backoff, gram.suffix)
        out[i] = logprob
    return out
