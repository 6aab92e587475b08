"""The arrays that the decoder's kernels share: n-gram models, rules, the chart, and the hypotheses of a round.

A chart *cell* holds the partial translations of one span: of X from i to j, of S from 0 to j, or the goal. A *node* is
a set of partial translations that no language model can tell apart from outside; a *hyperedge* is one way to make it: a
rule and up to two nodes, its tails. A *hypothesis* is a hyperedge whose node is not known yet. Words are numbered for
the sentence; words that all language models take as the same have one number. One n-gram model, the *heuristic*,
orders the hypotheses; all other models are asked in batches. `context_size` is the longest context of these.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import inlined, owning

Records = Any  # an array of records
Int = Any  # a whole number of Python's or of NumPy's: to compiled code they are the same

NONE = -1  # no node, no cell, no group
MODEL, WORD, CONTEXT = 0, 1, 2  # columns of queries
FIRST_GAP, SECOND_GAP = -1, -2


# ---------------------------------------------------------------- what is the same for a whole sentence


class NgramArrays(NamedTuple):
    """An n-gram model: the arrays of its trie (ngram/kernels.py), all read-only, and two more."""

    first_child: Array
    words: Array
    logprob: Array
    backoff: Array
    suffix: Array
    extends: Array  # bool (nodes,): whether some n-gram is this one with a word before it
    bounds: Array  # int64 (n,): where the n-grams of each order end


# The score of a word after a state, kept for the next time that it is needed.
MEMO_ENTRY = np.dtype(
    [
        ("key", np.int64),  # of state and word; NONE where nothing is kept
        ("logprob", np.float64),
        ("state", np.int32),  # after the word
        ("longer", np.int32),  # the same with all words of the first state, if one further left can matter, else NONE
    ]
)


class Heuristic(NamedTuple):
    """The n-gram model that is asked at once, with a memo of its scores."""

    ngrams: NgramArrays
    ids: Array  # int32: its number of each word
    memo: Records  # of MEMO_ENTRY; a later entry may replace an earlier one


class SourceTrie(NamedTuple):
    """The source sides of rules. Children are found in a hash table with open addressing."""

    keys: Array  # int64: node << 32 | symbol + 1, the symbol of a gap being -1; NONE where nothing is
    children: Array  # int32
    group: Array  # int32 (nodes,): of the rules that have this source side


class RuleArrays(NamedTuple):
    """The target sides of rules and their scores; rules with one source side are a group."""

    starts: Array  # int64 (R + 1,)
    symbols: Array  # int32: word, or FIRST_GAP, SECOND_GAP
    scores: Array  # float64 (R,): weights times all features but those of language models
    corrections: Array  # float64 (R,): what the batch models are expected to add to the heuristic's score of the words
    group_starts: Array  # int64 (groups + 1,)
    group_rules: Array  # int32: rules of each group, the most promising first


# ---------------------------------------------------------------- the chart


class DottedItems(NamedTuple):
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
    estimated: Array  # float64: the same with rest costs, estimates for words whose context is not known yet
    left: Array  # int32 (., max_left): first words, as many as any model may still need
    left_length: Array  # int32: how many these are
    state: Array  # int32: the context of the heuristic at the right end
    pending: Array  # int32: how many of the first words have no final score of the heuristic
    full: Array  # bool: whether more words follow the pending ones, so that `state` does not depend on the left
    rest_cost: Array  # float64: ln p of the pending words as far as it is known
    batch_pending: Array  # int32: how many of the first words are pending for other models, at most context_size
    right: Array  # int32 (., context_size): last words, the nearest first
    right_length: Array  # int32: how many these are
    first_logprobs: Array  # float64 (., context_size): ln p of the first words by the heuristic
    edges: Array  # int64 (., 2): the range of its hyperedges


class Hyperedges(NamedTuple):
    """Ways to make nodes, those of a node together, the best first."""

    rule: Array  # int32
    tails: Array  # int32 (., 2): nodes
    score: Array  # float64: without the scores of the tails
    logprobs: Array  # float64 (., models): what each language model adds, the heuristic first


class SearchArrays(NamedTuple):
    """What a round of the search reads."""

    rules: RuleArrays
    heuristic: Heuristic
    cells: Cells
    nodes: Nodes
    orders: Array  # int64: n of each model that is asked in batches
    estimates: Array  # bool: whether it can be asked about words that lack some of their context
    weights: Array  # float64: of the models, the heuristic first


# ---------------------------------------------------------------- a round


class Cubes(NamedTuple):
    """Groups of rules with the cells of their gaps."""

    cell: Array  # int32: of the result; those of a cell stand together
    group: Array  # int32
    tails: Array  # int32 (., 2)


class CubeCandidates(NamedTuple):
    """Hypotheses of a cell that the heuristic has scored, in a heap."""

    cube: Array  # int32
    ranks: Array  # int32 (., 3): of the rule in its group, of the nodes in their cells
    state: Array  # as in Nodes
    pending: Array
    full: Array
    rest_cost: Array
    first_logprobs: Array
    logprob: Array  # float64: of the words that have their final score
    priority: Array  # float64
    heap: Array  # int64: rows, the best first


class Hypotheses(NamedTuple):
    """The candidates that were good enough, in order of cells."""

    cell: Array
    rule: Array
    tails: Array  # int32 (., 2)
    state: Array  # as in Nodes
    pending: Array
    full: Array
    rest_cost: Array
    first_logprobs: Array
    logprob: Array
    left: Array
    left_length: Array
    batch_pending: Array
    right: Array
    right_length: Array


class LmQueries(NamedTuple):
    """The different queries to the batch models about a sentence."""

    # int32 (., 2 + context_size): which model, which word, after which words, the nearest first, NONE where not known
    keys: Array
    logprob: Array  # float64
    table: Array  # int32: hash table of the queries, at least twice as many slots; NONE where nothing is


class QueryUses(NamedTuple):
    """Which hypothesis needs the result of which query."""

    hypothesis: Array  # int32
    query: Array  # int32


class RoundOutput(NamedTuple):
    """What a round yields: hypotheses, and the queries about them."""

    hypotheses: Hypotheses
    uses: QueryUses
    queries: LmQueries


class Used(NamedTuple):
    """How many rows of a RoundOutput are in use."""

    hypotheses: Int
    uses: Int
    queries: Int


# ---------------------------------------------------------------- what several kernels do with arrays


@owning
def grown_to(array: Array, needed: Int) -> Array:
    """A copy of an array with space for so many rows or more: sizes grow by factors, so copying takes linear time."""
    result = np.empty((grown_size(needed, len(array)),) + array.shape[1:], array.dtype)  # noqa: RUF005  # for Numba
    result[: len(array)] = array
    return result


@inlined
def grown_size(needed: Int, size: Int) -> Int:
    """The size of something that had this size and needs more."""
    return max(needed, size * 2, 64)


@inlined
def end_of_cell(cells: Array, first: Int, end: Int) -> Int:
    """Where what belongs to the same cell as the first ends."""
    last = first + 1
    while last < end and cells[last] == cells[first]:
        last += 1
    return last
