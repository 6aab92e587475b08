"""Queries to the models that are asked in batches, each once a sentence.

A word is scored when all of its context is known. For those at the left end of a hypothesis, which lack some of it,
models are asked for estimates, which order the search. Hypotheses mostly differ in few words, so that the same queries
come up again and again, in other spans too.
"""

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import inlined, owning
from morphlm.translation.decoder.kernels.records import (
    CONTEXT,
    FIRST_GAP,
    MODEL,
    NONE,
    WORD,
    Hypotheses,
    Int,
    LmQueries,
    Nodes,
    QueryUses,
    RoundOutput,
    RuleArrays,
    SearchArrays,
    Used,
    grown_size,
)

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
ESTIMATE_CONTEXT = 1  # words before a word that its estimate is given: with 2, queries are twice as many, for little


# ---------------------------------------------------------------- the table of queries


@owning
def new_queries(size: Int, context_size: Int) -> LmQueries:
    """An empty table with room for so many queries."""
    slots = 16
    while slots < 2 * size:
        slots *= 2
    return LmQueries(
        np.full((size, CONTEXT + context_size), NONE, np.int32),
        np.empty(size, np.float64),
        np.full(slots, NONE, np.int32),
    )


@owning
def queries_grown_to(queries: LmQueries, used: Int, needed: Int) -> LmQueries:
    """The same queries; at least as many rows as needed."""
    if needed <= len(queries.keys):
        return queries
    size = grown_size(needed, len(queries.keys))
    larger = new_queries(size, queries.keys.shape[1] - CONTEXT)
    larger.keys[:used], larger.logprob[:used] = queries.keys[:used], queries.logprob[:used]
    for number in range(used):
        model, word, context = larger.keys[number, MODEL], larger.keys[number, WORD], larger.keys[number, CONTEXT:]
        larger.table[query_slot(larger, model, word, context, known_words(context))] = number
    return larger


@inlined
def known_words(context: Array) -> Int:
    """How many words of a context are known."""
    known = 0
    while known < len(context) and context[known] != NONE:
        known += 1
    return known


@inlined
def query_slot(queries: LmQueries, model: Int, word: Int, context: Array, length: Int) -> Int:
    """Where a query is in the hash table, or would be; `length` words of the context count, others are not known."""
    code = np.uint64(word) * MULTIPLIER + np.uint64(model)
    for k in range(length):
        code = (code ^ (code >> np.uint64(32))) * MULTIPLIER + np.uint64(context[k])
    mask = len(queries.table) - 1
    slot = np.int64((code * MULTIPLIER) >> np.uint64(24)) & mask
    while True:
        number = queries.table[slot]
        if number == NONE:
            return slot
        same = queries.keys[number, WORD] == word and queries.keys[number, MODEL] == model
        for k in range(length):
            same = same and queries.keys[number, CONTEXT + k] == context[k]
        if same and (CONTEXT + length == queries.keys.shape[1] or queries.keys[number, CONTEXT + length] == NONE):
            return slot
        slot = (slot + 1) & mask


@inlined
def query_number(queries: LmQueries, used: Int, model: Int, word: Int, context: Array, length: Int) -> Int:
    """The number of a query, which is `used` if it is new; then it is added."""
    slot = query_slot(queries, model, word, context, length)
    if queries.table[slot] == NONE:
        queries.table[slot], queries.keys[used, MODEL], queries.keys[used, WORD] = used, model, word
        for k in range(length):
            queries.keys[used, CONTEXT + k] = context[k]
    return np.int64(queries.table[slot])


@inlined
def is_estimate(queries: LmQueries, query: Int, orders: Array) -> bool:
    """Whether the word that is furthest from the query's in its context is missing; without contexts, none can be."""
    return bool(queries.keys[query, WORD + orders[queries.keys[query, MODEL]] - 1] == NONE)


@owning
def sum_logprobs(uses: QueryUses, queries: LmQueries, used: Used, orders: Array) -> tuple[Array, Array]:
    """The sum of ln p for each hypothesis and model: of what is certain, and of estimates."""
    certain, estimated = np.zeros((used.hypotheses, len(orders))), np.zeros((used.hypotheses, len(orders)))
    for i in range(used.uses):
        query, sums = uses.query[i], certain
        if is_estimate(queries, query, orders):
            sums = estimated
        sums[uses.hypothesis[i], queries.keys[query, MODEL]] += queries.logprob[query]
    return certain, estimated


# ---------------------------------------------------------------- the words at both ends of a hypothesis


@inlined
def collect_left(rules: RuleArrays, nodes: Nodes, hypotheses: Hypotheses, row: Int) -> None:
    """The first words of a hypothesis, as many as some model may need."""
    rule = np.int64(hypotheses.rule[row])
    needed = max(np.int64(hypotheses.batch_pending[row]), np.int64(hypotheses.pending[row]))
    length = 0
    for position in range(rules.starts[rule], rules.starts[rule + 1]):
        symbol = rules.symbols[position]
        if length == needed:
            break
        if symbol >= 0:
            hypotheses.left[row, length] = symbol
            length += 1
        else:
            t = hypotheses.tails[row, 0] if symbol == FIRST_GAP else hypotheses.tails[row, 1]
            for k in range(min(nodes.left_length[t], needed - length)):
                hypotheses.left[row, length] = nodes.left[t, k]
                length += 1
    hypotheses.left_length[row] = length


@inlined
def shift_in(context: Array, word: Int, known: Int) -> Int:
    """One more word before what follows; returns how many are known."""
    for k in range(len(context) - 1, 0, -1):
        context[k] = context[k - 1]
    if len(context):
        context[0] = word
    return min(known + 1, len(context))


@inlined
def add_queries(
    search: SearchArrays,
    output: RoundOutput,
    used: Used,
    row: Int,
    word: Int,
    position: Int,
    context: Array,
    known: Int,
) -> Used:
    """Query the models that could not score a word before, when it was number `position` of a node, and now can.

    Where it still lacks some of its context, models that give estimates are asked for one.
    """
    for b in range(len(search.orders)):
        needed = search.orders[b] - 1
        if position < needed and (needed <= known or search.estimates[b]):
            length = needed if needed <= known else min(known, ESTIMATE_CONTEXT)
            number = query_number(output.queries, used.queries, b, word, context, length)
            output.uses.hypothesis[used.uses], output.uses.query[used.uses] = row, number
            used = Used(used.hypotheses, used.uses + 1, max(used.queries, number + 1))
    return used


@inlined
def query_words(search: SearchArrays, context: Array, output: RoundOutput, used: Used, row: Int) -> Used:
    """Queries about the words of a hypothesis whose context became known, and its last words.

    `context` is space for the last words.
    """
    rules, nodes, hypotheses = search.rules, search.nodes, output.hypotheses
    rule = np.int64(hypotheses.rule[row])
    context_size, known, pending = len(context), np.int64(0), np.int64(0)
    all_pending = True  # all words so far lack some of their context
    for position in range(rules.starts[rule], rules.starts[rule + 1]):
        symbol = rules.symbols[position]
        if symbol >= 0:
            used = add_queries(search, output, used, row, symbol, np.int64(-1), context, known)
            if all_pending:
                pending += 1
            known = shift_in(context, symbol, known)
        else:
            t = hypotheses.tails[row, 0] if symbol == FIRST_GAP else hypotheses.tails[row, 1]
            for k in range(nodes.batch_pending[t]):
                used = add_queries(search, output, used, row, nodes.left[t, k], k, context, known)
                if all_pending and pending < context_size:
                    pending += 1
                known = shift_in(context, nodes.left[t, k], known)
            if nodes.right_length[t] == context_size:
                known = np.int64(context_size)
                for k in range(context_size):
                    context[k] = nodes.right[t, k]
        all_pending = bool(known < context_size)
    hypotheses.batch_pending[row], hypotheses.right_length[row] = min(pending, context_size), known
    for k in range(known):
        hypotheses.right[row, k] = context[k]
    return used
