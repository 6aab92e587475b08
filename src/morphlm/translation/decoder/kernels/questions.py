"""What the models other than the guide are asked: about a word when all of its context is known, and once a sentence.

Combinations mostly differ in few words, so that the same questions come up again and again, in other spans too.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.compiling import called_inside, compiled
from morphlm.translation.decoder.kernels.records import (
    CONTEXT,
    FIRST_GAP,
    MODEL,
    NONE,
    WORD,
    Grammar,
    Int,
    Nodes,
    Popped,
    Queries,
    Questions,
    longer,
    room_for,
)

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Asked(NamedTuple):
    """How many queries there are, and how many different questions."""

    queries: Int
    questions: Int


# ---------------------------------------------------------------- questions


@compiled
def new_questions(size: Int, reach: Int) -> Questions:
    """Room for questions."""
    slots = 16
    while slots < 2 * size:
        slots *= 2
    return Questions(
        np.zeros((size, CONTEXT + reach), np.int32),
        np.empty(size, np.float64),
        np.full(slots, NONE, np.int32),
    )


@compiled
def questions_grown_to(questions: Questions, used: Int, needed: Int, orders: Array) -> Questions:
    """The same questions; at least as many rows as needed."""
    if needed <= len(questions.asked):
        return questions
    size = room_for(needed, len(questions.asked))
    larger = new_questions(size, questions.asked.shape[1] - CONTEXT)
    larger.asked[:used], larger.answer[:used] = questions.asked[:used], questions.answer[:used]
    for at in range(used):
        model, word, context = larger.asked[at, MODEL], larger.asked[at, WORD], larger.asked[at, CONTEXT:]
        larger.table[slot_of_question(larger, model, word, context, orders[model] - 1)] = at
    return larger


@called_inside
def slot_of_question(questions: Questions, model: Int, word: Int, context: Array, known: Int) -> Int:
    """Where a question is in the hash table, or would be; the model needs `known` words of the context."""
    code = np.uint64(word) * MULTIPLIER + np.uint64(model)
    for k in range(known):
        code = (code ^ (code >> np.uint64(32))) * MULTIPLIER + np.uint64(context[k])
    mask = len(questions.table) - 1
    slot = np.int64((code * MULTIPLIER) >> np.uint64(24)) & mask
    while True:
        at = questions.table[slot]
        if at == NONE:
            return slot
        same = questions.asked[at, WORD] == word and questions.asked[at, MODEL] == model
        for k in range(known):
            same = same and questions.asked[at, CONTEXT + k] == context[k]
        if same:
            return slot
        slot = (slot + 1) & mask


@called_inside
def number_of_question(questions: Questions, used: Int, model: Int, word: Int, context: Array, known: Int) -> Int:
    """The number of a question, which is `used` if it is new; then it is written down."""
    slot = slot_of_question(questions, model, word, context, known)
    if questions.table[slot] == NONE:
        questions.table[slot], questions.asked[used, MODEL], questions.asked[used, WORD] = used, model, word
        for k in range(known):
            questions.asked[used, CONTEXT + k] = context[k]
    return np.int64(questions.table[slot])


@compiled
def new_queries(size: Int) -> Queries:
    """Room for queries."""
    return Queries(np.empty(size, np.int32), np.empty(size, np.int32))


@compiled
def queries_grown_to(queries: Queries, needed: Int) -> Queries:
    """The same queries; at least as many rows as needed."""
    if needed <= len(queries.popped):
        return queries
    size = room_for(needed, len(queries.popped))
    return Queries(longer(queries.popped, size), longer(queries.question, size))


@called_inside
def ask(
    queries: Queries,
    questions: Questions,
    asked: Asked,
    orders: Array,
    row: Int,
    word: Int,
    place: Int,
    context: Array,
    known: Int,
) -> Asked:
    """Add the queries after a word which was the one at `place` in its part, where its context was missing."""
    for b in range(len(orders)):
        if place < orders[b] - 1 <= known:
            number = number_of_question(questions, asked.questions, b, word, context, orders[b] - 1)
            queries.popped[asked.queries], queries.question[asked.queries] = row, number
            asked = Asked(asked.queries + 1, max(asked.questions, number + 1))
    return asked


# ---------------------------------------------------------------- words at both ends


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


@called_inside
def shift_in(context: Array, word: Int, known: Int) -> Int:
    """One more word before what follows; returns how many are known."""
    for k in range(len(context) - 1, 0, -1):
        context[k] = context[k - 1]
    if len(context):
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
    questions: Questions,
    asked: Asked,
) -> Asked:
    """The words at both ends for the other models, and questions about those whose context became known.

    `context` is space for the last words.
    """
    reach, known, first = len(context), np.int64(0), np.int64(0)
    beginning = True  # all words so far lack some of their context
    for place in range(grammar.starts[rule], grammar.starts[rule + 1]):
        symbol = grammar.symbols[place]
        if symbol >= 0:
            asked = ask(queries, questions, asked, orders, row, symbol, np.int64(-1), context, known)
            if beginning:
                first += 1
            known = shift_in(context, symbol, known)
        else:
            t = popped.tails[row, 0] if symbol == FIRST_GAP else popped.tails[row, 1]
            for k in range(nodes.first[t]):
                asked = ask(queries, questions, asked, orders, row, nodes.left[t, k], k, context, known)
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
    return asked


# ---------------------------------------------------------------- answers


@compiled
def sum_answers(queries: Queries, asked: Int, questions: Questions, pops: Int, models: Int) -> Array:
    """The sum of ln p for each combination and model."""
    result = np.zeros((pops, models))
    for i in range(asked):
        question = queries.question[i]
        result[queries.popped[i], questions.asked[question, MODEL]] += questions.answer[question]
    return result
