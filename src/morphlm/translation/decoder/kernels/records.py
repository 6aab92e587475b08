"""The arrays that the decoder's kernels share: n-gram models, rules, the chart, and what a round of search yields.

A *cell* holds the partial translations of one span: of X from i to j, of S from 0 to j, or the goal. A *node* is a set
of partial translations that no language model can tell apart from outside; an *edge* is one way to make it: a rule
and up to two nodes. Words are numbered for the sentence; words that all language models take as the same have one
number. One n-gram model, the *guide*, helps to find the order of combinations; the others, n-gram or log-bilinear, are
asked in batches. `reach` is the longest context of these.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.compiling import compiled

Records = Any  # an array of records
Int = Any  # a whole number of Python's or of NumPy's: to compiled code they are the same

NONE = -1  # no node, no cell, no group
MODEL, WORD, CONTEXT = 0, 1, 2  # columns of questions
FIRST_GAP, SECOND_GAP = -1, -2


class Ngram(NamedTuple):
    """An n-gram model: the arrays of its trie (ngram/kernels.py), all read-only, and two more."""

    first_child: Array
    words: Array
    logprob: Array
    backoff: Array
    suffix: Array
    extends: Array  # bool (nodes,): whether some n-gram is this one with a word before it
    bounds: Array  # int64 (n,): where the n-grams of each order end


# What the guide says to a word after a state, kept for the next time that it is asked.
ANSWER = np.dtype(
    [
        ("key", np.int64),  # of state and word; NONE where nothing is kept
        ("logprob", np.float64),
        ("state", np.int32),  # after the word
        ("longer", np.int32),  # the same with all words of the first state, if one further left can matter, else NONE
    ]
)


class Trie(NamedTuple):
    """The source sides of rules. Children are found in a hash table with open addressing."""

    keys: Array  # int64: node << 32 | symbol + 1, the symbol of a gap being -1; NONE where nothing is
    children: Array  # int32
    group: Array  # int32 (nodes,): of the rules that have this source side


class Grammar(NamedTuple):
    """Target sides and their scores."""

    starts: Array  # int64 (R + 1,)
    symbols: Array  # int32: word, or FIRST_GAP, SECOND_GAP
    scores: Array  # float64 (R,): weights times all features but those of language models
    group_starts: Array  # int64 (groups + 1,)
    group_rules: Array  # int32: rules of each group, the most promising first


class Items(NamedTuple):
    """Source sides that are matched up to somewhere, by begin and width of the span so far."""

    node: Array  # int32: of the trie
    tails: Array  # int32 (., 2): cells of its gaps
    begins: Array  # int64 (words, widths + 1): where the items of a span begin
    ends: Array  # int64


class Cells(NamedTuple):
    """Nodes of each cell, the best first."""

    begins: Array  # int64
    ends: Array


class Nodes(NamedTuple):
    """Partial translations with all that language models need of them."""

    cell: Array  # int32
    inside: Array  # float64: the best score, of what is certain
    value: Array  # float64: the same with an estimate for words whose context is not known yet
    left: Array  # int32 (., most): first words, as many as any model may still need
    lefts: Array  # int32: how many these are
    state: Array  # int32: the context of the guide at the right end
    pending: Array  # int32: how many of the first words have no final score of the guide
    full: Array  # bool: whether more words follow the pending ones, so that `state` does not depend on the left
    estimate: Array  # float64: of the pending words
    first: Array  # int32: how many of the first words are pending for other models, at most reach
    right: Array  # int32 (., reach): last words, the nearest first
    rights: Array  # int32: how many these are
    guess: Array  # float64 (., reach): ln p of the first words by the guide
    edges: Array  # int64 (., 2): from, to


class Edges(NamedTuple):
    """Ways to make nodes, those of a node together, the best first."""

    rule: Array  # int32
    tails: Array  # int32 (., 2): nodes
    score: Array  # float64: without the scores of the tails
    logprobs: Array  # float64 (., models): what each language model adds, the guide first


class Cubes(NamedTuple):
    """Rules with the same source side and the cells of their gaps."""

    cell: Array  # int32: of the result; those of a cell stand together
    group: Array  # int32
    tails: Array  # int32 (., 2)


class Candidates(NamedTuple):
    """Combinations that the guide has scored."""

    cube: Array  # int32
    place: Array  # int32 (., 3): rule in the group, nodes in the cells
    state: Array  # as in Nodes
    pending: Array
    full: Array
    estimate: Array
    guess: Array
    logprob: Array  # float64
    priority: Array  # float64
    heap: Array  # int64: rows, the best first


class Popped(NamedTuple):
    """Combinations that are good enough, in order of cells."""

    cell: Array
    rule: Array
    tails: Array  # int32 (., 2)
    state: Array  # as in Nodes
    pending: Array
    full: Array
    estimate: Array
    guess: Array
    logprob: Array
    left: Array
    lefts: Array
    first: Array
    right: Array
    rights: Array


class Questions(NamedTuple):
    """What the models other than the guide are asked about a sentence, each question once."""

    asked: Array  # int32 (., 2 + reach): to which model, about which word, after which words, the nearest first
    answer: Array  # float64: ln p
    table: Array  # int32: hash table of the questions, at least twice as many slots; NONE where nothing is


class Queries(NamedTuple):
    """Which combination needs the answer to which question."""

    popped: Array  # int32
    question: Array  # int32


@compiled
def longer(array: Array, size: Int) -> Array:
    """A copy of a one-dimensional array with more room."""
    result = np.empty(size, array.dtype)
    for i in range(len(array)):
        result[i] = array[i]
    return result


@compiled
def taller(array: Array, size: Int) -> Array:
    """A copy of a table with more room for rows."""
    result = np.empty((size, array.shape[1]), array.dtype)
    for i in range(len(array)):
        for k in range(array.shape[1]):
            result[i, k] = array[i, k]
    return result


@compiled
def room_for(needed: Int, room: Int) -> Int:
    """Rooms grow by factors, so that copying takes linear time."""
    return max(needed, room * 2, 64)
