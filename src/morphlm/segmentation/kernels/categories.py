# mypy: disallow-untyped-decorators=False, warn-return-any=False
# mypy: disable-error-code="arg-type, assignment, return-value"
"""Cat-MAP's cost and its moves (Creutz & Lagus 2007, Grönroos et al. 2014): split, join, shift, for many words at once.

A move replaces one morph, or two neighbours, by one or two others wherever they stand. What it changes in the cost
depends only on how often each pair of categories surrounds it, so a move is weighed in constant time once its places
have been counted, and the change of cost is exact.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from morphlm.arrays import Array
from morphlm.segmentation.kernels.baseline import (
    CONDITIONALS,
    FEATURES,
    LOG_TOKENS,
    SUMS,
    WORDS,
    Totals,
    change_morph,
    frequency_cost,
    lexicon_cost,
    x_log_x,
)
from morphlm.segmentation.kernels.paths import (
    CATEGORIES,
    EDGE,
    NEVER,
    PRE,
    SUF,
    Corpus,
    Unknown,
    best_path,
    fill_grid,
    make_grid,
)
from morphlm.segmentation.kernels.strings import NOT_FOUND, Letters, Strings, copy_into, find, insert, keys_of_parts

UNSEEN_TRANSITION = 30.0
LEFT_SCRATCH, RIGHT_SCRATCH, FIRST_MORPH = 0, 1, 2  # entries 0 and 1 stand for morphs that a move would make
NO_MORPH = -1
_LOG_UNIVERSAL = math.log(2.865)  # of Rissanen's prior for numbers


class Lexicon(NamedTuple):
    """What is known of each morph."""

    count: Array  # int64
    left: Array  # float64, perplexity of what stands before it
    right: Array  # float64, perplexity of what stands after it
    given: Array  # float64 (morphs, 4): P(category | morph)
    log_given: Array  # float64, its logarithm


class Chain(NamedTuple):
    """The counts behind the hidden Markov model."""

    transitions: Array  # int64 (5, 5)
    tokens: Array  # float64 (4): the sum over tokens of P(category | morph)
    costs: Array  # float64 (5, 5): -log P(to | from), from the transitions
    corpus_weight: float
    shape: Array  # float64: thresholds and slopes, see `log_categories`


class Places(NamedTuple):
    """The words that each rule may apply to: those it applied to at the start, and by morph those changed since."""

    begin: Array  # int64 by rule: its words at the start are listed[begin] ...
    end: Array  # int64 by rule: ... to listed[end - 1]
    listed: Array  # int32
    head: Array  # int64 by morph: its last changed word as an element of the chains below, -1: none
    changed: Array  # int64 by morph: the length of its chain
    link: Array  # int64, the element before
    word: Array  # int32
    size: Array  # int64, one element: the number of elements
    seen: Array  # int64 by word, the last move that looked at it
    move: Array  # int64, one element: the number of the present move
    found: Array  # int32, the words that the present move changes


class Change(NamedTuple):
    """What the present move takes away, and where it may put something else."""

    old: Array  # float64: the weight of all places, and their part of the sum of log P(category | morph)
    removed: Array  # int64 (5, 5) transitions
    contexts: Array  # int64 (5, 5): how often this category stands before the place and that one after it
    labels: Array  # int8 (5, 5, 2): the categories of the new morphs between those two
    transitions: Array  # int64 (5, 5), those after the move
    sums: Array  # float64, the sums before the move
    tokens: Array  # float64, the chain's tokens before the move
    trial_sums: Array  # float64, the sums before one of several ways to move
    trial_tokens: Array  # float64


@njit(cache=True)
def make_change() -> Change:
    """Room for one move."""
    return Change(
        np.zeros(2),
        np.zeros((5, 5), np.int64),
        np.zeros((5, 5), np.int64),
        np.zeros((5, 5, 2), np.int8),
        np.zeros((5, 5), np.int64),
        np.zeros(SUMS),
        np.zeros(CATEGORIES),
        np.zeros(SUMS),
        np.zeros(CATEGORIES),
    )


@njit(cache=True)
def keep(totals: Totals, chain: Chain, sums: Array, tokens: Array) -> None:
    """Remember the sums."""
    copy_into(sums, totals.sums, 0, SUMS)
    copy_into(tokens, chain.tokens, 0, CATEGORIES)


@njit(cache=True)
def restore(totals: Totals, chain: Chain, sums: Array, tokens: Array) -> None:
    """Set the sums back to what was remembered: adding and subtracting again would drift."""
    copy_into(totals.sums, sums, 0, SUMS)
    copy_into(chain.tokens, tokens, 0, CATEGORIES)


@njit(cache=True)
def allowed(before: int, after: int) -> bool:
    """Whether one category may follow another: no word ends in a prefix or begins in a suffix, and none is empty."""
    if after == EDGE:
        return before not in (EDGE, PRE)
    return not (after == SUF and before in (EDGE, PRE))


@njit(cache=True)
def transition_costs(transitions: Array, costs: Array) -> None:
    """-log P(to | from)."""
    for before in range(CATEGORIES + 1):
        total = 0.0
        for after in range(CATEGORIES + 1):
            total += transitions[before, after]
        for after in range(CATEGORIES + 1):
            if not allowed(before, after):
                costs[before, after] = NEVER
            elif transitions[before, after] == 0:
                costs[before, after] = UNSEEN_TRANSITION
            else:
                costs[before, after] = math.log(total / transitions[before, after])


@njit(cache=True)
def sigmoid(value: float, threshold: float, slope: float) -> float:
    """Near 0 below the threshold, near 1 above it."""
    return 1.0 / (1.0 + math.exp(min(-slope * (value - threshold), 700.0)))


@njit(cache=True)
def set_categories(morph: int, length: int, lexicon: Lexicon, shape: Array) -> None:
    """P(category | morph) from its perplexities and its length.

    What many different things follow is like a prefix, what follows many different things is like a suffix, what is
    long is like a stem; what is none of these is no morpheme.
    """
    prefix = sigmoid(lexicon.right[morph], shape[0], shape[1])
    suffix = sigmoid(lexicon.left[morph], shape[2], shape[3])
    stem = sigmoid(length, shape[4], shape[5])
    none = min(max((1 - prefix) * (1 - suffix) * (1 - stem), 0.001), 1 - 1e-9)
    share = (1 - none) / (prefix**2 + suffix**2 + stem**2)
    lexicon.given[morph, 0], lexicon.given[morph, 1] = share * prefix**2, share * stem**2
    lexicon.given[morph, 2], lexicon.given[morph, 3] = share * suffix**2, none
    for category in range(CATEGORIES):
        lexicon.given[morph, category] = max(lexicon.given[morph, category], 1e-30)
        lexicon.log_given[morph, category] = math.log(lexicon.given[morph, category])


@njit(cache=True)
def set_all_categories(strings: Strings, lexicon: Lexicon, shape: Array) -> None:
    """P(category | morph) for all morphs."""
    for morph in range(FIRST_MORPH, strings.size[0]):
        set_categories(morph, np.int64(strings.length[morph]), lexicon, shape)


@njit(cache=True)
def category_cost(sums: Array, transitions: Array, totals: Totals, corpus_weight: float) -> float:
    """The description length of words as labelled morphs, and of the lexicon with its features.

    With n(c) tokens of category c, a transition has P(d | c) = n(c, d) / n(c), a morph has
    P(m | c) = n(m) P(c | m) / n(c): the negative logarithm of their product over the words.
    """
    corpus = x_log_x(totals, np.int64(sums[WORDS])) - sums[LOG_TOKENS] - sums[CONDITIONALS]
    for before in range(CATEGORIES + 1):
        total = np.int64(0)
        for after in range(CATEGORIES + 1):
            total += transitions[before, after]
            corpus -= x_log_x(totals, transitions[before, after])
        if before != EDGE:
            corpus += 2 * x_log_x(totals, total)
    return corpus_weight * corpus + frequency_cost(sums) + lexicon_cost(sums) + sums[FEATURES]


@njit(cache=True)
def change_lexicon(
    morph: int, change: int, strings: Strings, lexicon: Lexicon, chain: Chain, totals: Totals, text: Array
) -> None:
    """The count of a morph changes."""
    old = lexicon.count[morph]
    new = old + change
    lexicon.count[morph] = new
    change_morph(totals, text, strings.start[morph], np.int64(strings.length[morph]), old, new)
    if (old == 0) != (new == 0):
        features = 2 * _LOG_UNIVERSAL + math.log(lexicon.left[morph]) + math.log(lexicon.right[morph])
        totals.sums[FEATURES] += features if new > 0 else -features
    for category in range(CATEGORIES):
        chain.tokens[category] += change * lexicon.given[morph, category]


@njit(cache=True)
def count_all(
    corpus: Corpus, strings: Strings, lexicon: Lexicon, chain: Chain, totals: Totals, text: Array
) -> None:  # fmt: skip
    """All counts and sums, from the labelled words; the lexicon's and the totals' counts are 0 before."""
    for word in range(len(corpus.sizes)):
        weight, begin = corpus.weights[word], corpus.bounds[word]
        totals.sums[WORDS] += weight
        before = EDGE
        for at in range(begin, begin + corpus.sizes[word]):
            morph, label = np.int64(corpus.morphs[at]), np.int64(corpus.labels[at])
            change_lexicon(morph, weight, strings, lexicon, chain, totals, text)
            totals.sums[CONDITIONALS] += weight * lexicon.log_given[morph, label]
            chain.transitions[before, label] += weight
            before = label
        chain.transitions[before, EDGE] += weight
    transition_costs(chain.transitions, chain.costs)


# ---------------------------------------------------------------- where a move applies


@njit(cache=True)
def add_place(places: Places, morph: int, word: int) -> None:
    """A word that has this morph was changed."""
    at = places.size[0]
    places.size[0] = at + 1
    places.word[at], places.link[at] = word, places.head[morph]
    places.head[morph] = at
    places.changed[morph] += 1


@njit(cache=True)
def label_before(corpus: Corpus, word: int, k: int) -> int:
    """The category before the k-th morph of a word."""
    return EDGE if k == 0 else np.int64(corpus.labels[corpus.bounds[word] + k - 1])


@njit(cache=True)
def label_after(corpus: Corpus, word: int, k: int) -> int:
    """The category after the k-th morph of a word."""
    return EDGE if k + 1 == corpus.sizes[word] else np.int64(corpus.labels[corpus.bounds[word] + k + 1])


@njit(cache=True)
def surrounding(before: int, after: int) -> int:
    """The kind of place that a pair of morphs stands in: bit 0, something begins with it; bit 1, something ends."""
    return (1 if before in (EDGE, PRE) else 0) + (2 if after in (EDGE, SUF) else 0)


@njit(cache=True)
def applies(rule: Array, corpus: Corpus, word: int, k: int) -> bool:
    """Whether a rule applies at the k-th morph of a word.

    A rule is (morph, NO_MORPH, ...): this morph with any label; or (morph, morph, label, label, surrounding).
    """
    at = corpus.bounds[word] + k
    if corpus.morphs[at] != rule[0]:
        return False
    if rule[1] == NO_MORPH:
        return True
    if k + 1 >= corpus.sizes[word] or corpus.morphs[at + 1] != rule[1]:
        return False
    if corpus.labels[at] != rule[2] or corpus.labels[at + 1] != rule[3]:
        return False
    return surrounding(label_before(corpus, word, k), label_after(corpus, word, k + 1)) == rule[4]


@njit(cache=True)
def note_match(rule: Array, corpus: Corpus, word: int, k: int, change: Change) -> None:
    """Add one place of a move to what it takes away."""
    weight = corpus.weights[word]
    before = label_before(corpus, word, k)
    label = np.int64(corpus.labels[corpus.bounds[word] + k])
    change.removed[before, label] += weight
    last = k
    if rule[1] != NO_MORPH:
        last = k + 1
        second = np.int64(corpus.labels[corpus.bounds[word] + last])
        change.removed[label, second] += weight
        label = second
    after = label_after(corpus, word, last)
    change.removed[label, after] += weight
    change.contexts[before, after] += weight


@njit(cache=True)
def conditionals_at(rule: Array, corpus: Corpus, word: int, k: int, lexicon: Lexicon) -> float:
    """What a place of a move contributes to the sum of log P(category | morph)."""
    at = corpus.bounds[word] + k
    value = lexicon.log_given[corpus.morphs[at], corpus.labels[at]]
    if rule[1] != NO_MORPH:
        value += lexicon.log_given[corpus.morphs[at + 1], corpus.labels[at + 1]]
    return corpus.weights[word] * value


@njit(cache=True)
def next_match(rule: Array, corpus: Corpus, word: int, k: int) -> int:
    """The first place from k on where a rule applies, or -1.

    The caller goes on behind the morph that follows the match, so that no place has a neighbour that changes too.
    """
    span = 1 if rule[1] == NO_MORPH else 2
    while k + span <= corpus.sizes[word]:
        if applies(rule, corpus, word, k):
            return k
        k += 1
    return -1


@njit(cache=True)
def gather_word(
    rule: Array, word: int, corpus: Corpus, places: Places, lexicon: Lexicon, change: Change, words: int
) -> int:
    """Note all matches in a word, unless it was looked at before; returns the number of words found so far."""
    if places.seen[word] == places.move[0]:
        return words
    places.seen[word] = places.move[0]
    k = next_match(rule, corpus, word, 0)
    if k >= 0:
        places.found[words] = word
        words += 1
    while k >= 0:
        note_match(rule, corpus, word, k, change)
        change.old[0] += corpus.weights[word]
        change.old[1] += conditionals_at(rule, corpus, word, k, lexicon)
        k = next_match(rule, corpus, word, k + (2 if rule[1] == NO_MORPH else 3))
    return words


@njit(cache=True)
def gather(rule: Array, i: int, corpus: Corpus, places: Places, lexicon: Lexicon, change: Change) -> int:
    """Find all places of rule number i; returns in how many words they are."""
    for before in range(CATEGORIES + 1):
        for after in range(CATEGORIES + 1):
            change.removed[before, after] = change.contexts[before, after] = 0
    change.old[0] = change.old[1] = 0.0
    places.move[0] += 1
    words = 0
    for at in range(places.begin[i], places.end[i]):
        words = gather_word(rule, np.int64(places.listed[at]), corpus, places, lexicon, change, words)
    shorter = rule[0]
    if rule[1] != NO_MORPH and places.changed[rule[1]] < places.changed[rule[0]]:
        shorter = rule[1]
    element = places.head[shorter]
    while element >= 0:
        words = gather_word(rule, np.int64(places.word[element]), corpus, places, lexicon, change, words)
        element = places.link[element]
    return words


@njit(cache=True)
def has_room(places: Places, corpus: Corpus, words: int) -> bool:
    """Whether the chains can take the words that the present move changes."""
    needed = 0
    for i in range(words):
        needed += 2 * corpus.sizes[places.found[i]] + 1
    return places.size[0] + needed <= len(places.word)


# ---------------------------------------------------------------- what a move costs


@njit(cache=True)
def choose_labels(
    before: int, after: int, one: int, two: int, lexicon: Lexicon, chain: Chain, labels: Array
) -> None:  # fmt: skip
    """The best categories of one or two new morphs between two categories that stay."""
    lowest = np.inf
    for first in range(CATEGORIES):
        cost = chain.costs[before, first] - lexicon.log_given[one, first] + math.log(chain.tokens[first])
        if two == NO_MORPH:
            if cost + chain.costs[first, after] < lowest:
                lowest, labels[before, after, 0] = cost + chain.costs[first, after], first
            continue
        for second in range(CATEGORIES):
            value = cost + chain.costs[first, second] - lexicon.log_given[two, second]
            value += math.log(chain.tokens[second]) + chain.costs[second, after]
            if value < lowest:
                lowest, labels[before, after, 0], labels[before, after, 1] = value, first, second


@njit(cache=True)
def label_places(one: int, two: int, lexicon: Lexicon, chain: Chain, totals: Totals, change: Change) -> None:
    """Give the new morphs of a move the best labels in each context; the transitions and conditionals after it."""
    for before in range(CATEGORIES + 1):
        for after in range(CATEGORIES + 1):
            change.transitions[before, after] = chain.transitions[before, after] - change.removed[before, after]
    for before in range(CATEGORIES + 1):
        for after in range(CATEGORIES + 1):
            places = change.contexts[before, after]
            if places == 0:
                continue
            choose_labels(before, after, one, two, lexicon, chain, change.labels)
            last = np.int64(change.labels[before, after, 0])
            totals.sums[CONDITIONALS] += places * lexicon.log_given[one, last]
            change.transitions[before, last] += places
            if two != NO_MORPH:
                first, last = last, np.int64(change.labels[before, after, 1])
                totals.sums[CONDITIONALS] += places * lexicon.log_given[two, last]
                change.transitions[first, last] += places
            change.transitions[last, after] += places


@njit(cache=True)
def change_both(
    one: int, two: int, weight: int, strings: Strings, lexicon: Lexicon, chain: Chain, totals: Totals, text: Array
) -> None:
    """The counts of one or two morphs change."""
    change_lexicon(one, weight, strings, lexicon, chain, totals, text)
    if two != NO_MORPH:
        change_lexicon(two, weight, strings, lexicon, chain, totals, text)


@njit(cache=True)
def weigh(
    one: int, two: int, weight: int,
    strings: Strings, lexicon: Lexicon, chain: Chain, totals: Totals, text: Array, change: Change,
) -> float:  # fmt: skip
    """The cost if these morphs were put in; everything is as before afterwards."""
    keep(totals, chain, change.trial_sums, change.trial_tokens)
    change_both(one, two, weight, strings, lexicon, chain, totals, text)
    label_places(one, two, lexicon, chain, totals, change)
    cost = category_cost(totals.sums, change.transitions, totals, chain.corpus_weight)
    change_both(one, two, -weight, strings, lexicon, chain, totals, text)
    restore(totals, chain, change.trial_sums, change.trial_tokens)
    return cost


@njit(cache=True)
def as_morph(
    scratch: int, key: Any, start: int, length: int, left: float, right: float,
    strings: Strings, lexicon: Lexicon, chain: Chain, text: Array,
) -> int:  # fmt: skip
    """The morph at a place of the text, or the scratch entry made to look like it if there is none in use.

    A new morph is given the left perplexity of what begins where it begins, the right one of what ends where it ends.
    """
    morph = find(strings, text, key, text, start, length)
    if morph != NOT_FOUND and lexicon.count[morph] > 0:
        return morph
    strings.keys[scratch], strings.start[scratch], strings.length[scratch] = key, start, length
    lexicon.count[scratch], lexicon.left[scratch], lexicon.right[scratch] = 0, left, right
    set_categories(scratch, length, lexicon, chain.shape)
    return scratch


@njit(cache=True)
def made_real(morph: int, strings: Strings, lexicon: Lexicon, text: Array) -> int:
    """The morph itself, or a lasting entry for a scratch one."""
    if morph >= FIRST_MORPH or morph == NO_MORPH:
        return morph
    real = insert(strings, text, strings.keys[morph], strings.start[morph], strings.length[morph])
    lexicon.count[real] = 0
    lexicon.left[real], lexicon.right[real] = lexicon.left[morph], lexicon.right[morph]
    for category in range(CATEGORIES):
        lexicon.given[real, category] = lexicon.given[morph, category]
        lexicon.log_given[real, category] = lexicon.log_given[morph, category]
    return real


@njit(cache=True)
def set_word(corpus: Corpus, word: int, size: int, morphs: Array, labels: Array) -> None:
    """Give a word these morphs and labels."""
    copy_into(corpus.morphs, morphs, corpus.bounds[word], size)
    copy_into(corpus.labels, labels, corpus.bounds[word], size)
    corpus.sizes[word] = size


@njit(cache=True)
def rewrite_word(
    rule: Array, one: int, two: int, word: int, corpus: Corpus, places: Places, change: Change,
    morphs: Array, labels: Array,
) -> None:  # fmt: skip
    """Apply a move to a word."""
    begin, size = corpus.bounds[word], np.int64(corpus.sizes[word])
    span = 1 if rule[1] == NO_MORPH else 2
    new_size, done = 0, 0
    k = next_match(rule, corpus, word, 0)
    while k >= 0:
        for at in range(begin + done, begin + k):
            morphs[new_size], labels[new_size] = corpus.morphs[at], corpus.labels[at]
            new_size += 1
        before, after = label_before(corpus, word, k), label_after(corpus, word, k + span - 1)
        morphs[new_size], labels[new_size] = one, change.labels[before, after, 0]
        new_size += 1
        if two != NO_MORPH:
            morphs[new_size], labels[new_size] = two, change.labels[before, after, 1]
            new_size += 1
        done = k + span
        k = next_match(rule, corpus, word, k + span + 1)
    for at in range(begin + done, begin + size):
        morphs[new_size], labels[new_size] = corpus.morphs[at], corpus.labels[at]
        new_size += 1
    set_word(corpus, word, new_size, morphs, labels)
    for k in range(new_size):
        add_place(places, np.int64(morphs[k]), word)


@njit(cache=True)
def make_move(
    rule: Array, one: int, two: int, weight: int, words: int, corpus: Corpus, places: Places,
    strings: Strings, lexicon: Lexicon, chain: Chain, totals: Totals, text: Array, change: Change,
    morphs: Array, labels: Array,
) -> None:  # fmt: skip
    """Carry a move out: the sums, the chain and the words."""
    one = made_real(one, strings, lexicon, text)
    two = made_real(two, strings, lexicon, text)
    change_both(one, two, weight, strings, lexicon, chain, totals, text)
    label_places(one, two, lexicon, chain, totals, change)
    for before in range(CATEGORIES + 1):
        for after in range(CATEGORIES + 1):
            chain.transitions[before, after] = change.transitions[before, after]
    transition_costs(chain.transitions, chain.costs)
    for i in range(words):
        rewrite_word(rule, one, two, places.found[i], corpus, places, change, morphs, labels)


@njit(cache=True)
def set_parts(
    cut: int, start: int, length: int, left: float, right: float,
    strings: Strings, lexicon: Lexicon, chain: Chain, text: Array, prefixes: Array, suffixes: Array, parts: Array,
) -> None:  # fmt: skip
    """The two parts of a string, as morphs; if cut at its end, it is one morph."""
    inner = right if cut == length else 1.0
    parts[0] = as_morph(LEFT_SCRATCH, prefixes[cut], start, cut, left, inner, strings, lexicon, chain, text)
    parts[1] = NO_MORPH
    if cut < length:
        parts[1] = as_morph(
            RIGHT_SCRATCH, suffixes[cut], start + cut, length - cut, 1.0, right, strings, lexicon, chain, text
        )  # fmt: skip


@njit(cache=True)
def first_place(rule: Array, corpus: Corpus, strings: Strings, word: int) -> int:
    """Where in the text the first match of a rule in a word begins."""
    start = corpus.bounds[word]
    for at in range(corpus.bounds[word], corpus.bounds[word] + next_match(rule, corpus, word, 0)):
        start += strings.length[corpus.morphs[at]]
    return start


@njit(cache=True)
def cut_range(rule: Array, first: int, length: int, join: bool, longest_shift: int, least_rest: int) -> tuple[int, int]:
    """The first and last place where a move may cut: at the end (a join), anywhere in one morph, or near `first`."""
    if join:
        return length, length
    if rule[1] == NO_MORPH:
        return 1, length - 1
    return max(first - longest_shift, least_rest), min(first + longest_shift, length - least_rest)


@njit(cache=True)
def run_moves(
    rules: Array, join: bool, corpus: Corpus, places: Places, longest_shift: int, least_rest: int,
    strings: Strings, lexicon: Lexicon, chain: Chain, totals: Totals, letters: Letters,
) -> tuple[int, int]:  # fmt: skip
    """Try a move for each rule: a split (one morph), a join or a shift (two). Returns rules done and moves made.

    It stops early when the chains of changed words are full; the table has room for two new morphs a rule.
    """
    text = letters.text
    longest = len(letters.powers)
    change = make_change()
    prefixes, suffixes = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.uint64)
    morphs, labels = np.empty(longest + 1, np.int32), np.empty(longest + 1, np.int8)
    parts = np.empty(2, np.int64)
    made = 0
    for i in range(len(rules)):
        rule = rules[i]
        words = gather(rule, i, corpus, places, lexicon, change)
        if words == 0:
            continue
        if not has_room(places, corpus, words):
            return i, made
        weight = np.int64(change.old[0])
        start = first_place(rule, corpus, strings, places.found[0])
        first = np.int64(strings.length[rule[0]])
        pair = rule[1] != NO_MORPH
        length = first + (np.int64(strings.length[rule[1]]) if pair else 0)
        left, right = lexicon.left[rule[0]], lexicon.right[rule[1] if pair else rule[0]]
        lowest, best = category_cost(totals.sums, chain.transitions, totals, chain.corpus_weight) - 1e-9, 0
        keep(totals, chain, change.sums, change.tokens)
        change_both(rule[0], rule[1], -weight, strings, lexicon, chain, totals, text)
        totals.sums[CONDITIONALS] -= change.old[1]
        keys_of_parts(letters, start, length, prefixes, suffixes)
        low, high = cut_range(rule, first, length, join, longest_shift, least_rest)
        for cut in range(low, high + 1):
            if pair and cut == first:
                continue
            set_parts(cut, start, length, left, right, strings, lexicon, chain, text, prefixes, suffixes, parts)
            if parts[0] == LEFT_SCRATCH and parts[1] == RIGHT_SCRATCH:
                continue  # two new morphs spell the same letters and cost more
            cost = weigh(parts[0], parts[1], weight, strings, lexicon, chain, totals, text, change)
            if cost < lowest:
                lowest, best = cost, cut
        if best == 0:
            change_both(rule[0], rule[1], weight, strings, lexicon, chain, totals, text)
            restore(totals, chain, change.sums, change.tokens)
            continue
        made += 1
        set_parts(best, start, length, left, right, strings, lexicon, chain, text, prefixes, suffixes, parts)
        make_move(
            rule, parts[0], parts[1], weight, words, corpus, places,
            strings, lexicon, chain, totals, text, change, morphs, labels,
        )  # fmt: skip
    return len(rules), made


# ---------------------------------------------------------------- single words


@njit(cache=True)
def count_word(
    corpus: Corpus, word: int, sign: int, strings: Strings, lexicon: Lexicon, chain: Chain, totals: Totals, text: Array
) -> None:
    """Put a word as it is now into the sums (sign 1) or take it out (sign -1)."""
    weight, begin = sign * corpus.weights[word], corpus.bounds[word]
    before = EDGE
    for at in range(begin, begin + corpus.sizes[word]):
        morph, label = np.int64(corpus.morphs[at]), np.int64(corpus.labels[at])
        change_lexicon(morph, weight, strings, lexicon, chain, totals, text)
        totals.sums[CONDITIONALS] += weight * lexicon.log_given[morph, label]
        chain.transitions[before, label] += weight
        before = label
    chain.transitions[before, EDGE] += weight


@njit(cache=True)
def same_analysis(corpus: Corpus, word: int, size: int, morphs: Array, labels: Array) -> bool:
    """Whether a word has these morphs and labels already."""
    begin = corpus.bounds[word]
    if size != corpus.sizes[word]:
        return False
    k = 0
    while k < size and corpus.morphs[begin + k] == morphs[k] and corpus.labels[begin + k] == labels[k]:
        k += 1
    return k == size


@njit(cache=True)
def exchange_word(
    corpus: Corpus, word: int, size: int, morphs: Array, labels: Array,
    strings: Strings, lexicon: Lexicon, chain: Chain, totals: Totals, text: Array,
) -> None:  # fmt: skip
    """Give a word another analysis, in the sums too."""
    count_word(corpus, word, -1, strings, lexicon, chain, totals, text)
    set_word(corpus, word, size, morphs, labels)
    count_word(corpus, word, 1, strings, lexicon, chain, totals, text)


@njit(cache=True)
def resegment(
    words: Array, corpus: Corpus, longest_morph: int, emissions: Array,
    strings: Strings, lexicon: Lexicon, chain: Chain, totals: Totals, letters: Letters,
) -> int:  # fmt: skip
    """Give words their best path through the lexicon where that lowers the cost; returns how many changed."""
    longest = len(letters.powers)
    text = letters.text
    grid = make_grid(longest)
    unknown = Unknown(NEVER, np.zeros(len(letters.codes)))
    starts, morphs, labels = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.int8)
    old_morphs, old_labels = np.empty(longest, np.int32), np.empty(longest, np.int8)
    sums, tokens = np.empty(SUMS), np.empty(CATEGORIES)
    changed = 0
    for word in words:
        begin, end = corpus.bounds[word], corpus.bounds[word + 1]
        fill_grid(
            grid, letters, begin, end - begin, text, strings, longest_morph, emissions, chain.costs, unknown
        )  # fmt: skip
        size = best_path(grid, end - begin, chain.costs, 0, starts, morphs, labels)
        if size == 0 or same_analysis(corpus, word, size, morphs, labels):
            continue
        old_size = np.int64(corpus.sizes[word])
        for k in range(old_size):
            old_morphs[k], old_labels[k] = corpus.morphs[begin + k], corpus.labels[begin + k]
        cost = category_cost(totals.sums, chain.transitions, totals, chain.corpus_weight)
        keep(totals, chain, sums, tokens)
        exchange_word(corpus, word, size, morphs, labels, strings, lexicon, chain, totals, text)
        if category_cost(totals.sums, chain.transitions, totals, chain.corpus_weight) < cost - 1e-9:
            changed += 1
            continue
        exchange_word(corpus, word, old_size, old_morphs, old_labels, strings, lexicon, chain, totals, text)
        restore(totals, chain, sums, tokens)
    transition_costs(chain.transitions, chain.costs)
    return changed
