# mypy: disallow-untyped-decorators=False, warn-return-any=False
# mypy: disable-error-code="arg-type, assignment, return-value"
"""Cat-MAP's cost and its moves (Creutz & Lagus 2007, Grönroos et al. 2014): split, join, shift, for many words at once.

A move replaces one morph, or two neighbours, by one or two others wherever they stand. What it changes in the cost
depends only on how often each pair of categories surrounds it, so a move is evaluated in constant time once its
occurrences have been counted, and the change of cost is exact.

A *rule* says where a move applies: (morph, NO_MORPH, ...), this morph with any label; or (morph, morph, label, label,
surrounding), two neighbours with these labels in such a surrounding.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, owning
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
    STM,
    SUF,
    ZZZ,
    LabelledWords,
    PathCosts,
    UnknownStems,
    best_path,
    fill_trellis,
    make_trellis,
)
from morphlm.segmentation.kernels.strings import (
    NOT_FOUND,
    Letters,
    StringTable,
    copy_into,
    find,
    insert,
    keys_of_parts,
)

UNSEEN_TRANSITION = 30.0
LEFT_SCRATCH, RIGHT_SCRATCH, FIRST_MORPH = 0, 1, 2  # entries 0 and 1 stand for morphs that a move would make
NO_MORPH = -1
WEIGHT, LOG_P_CATEGORY = 0, 1  # elements of `MoveTrial.removed_sums`
_LOG_UNIVERSAL = math.log(2.865)  # of Rissanen's prior for numbers


class MorphTable(NamedTuple):
    """What is known of each morph."""

    count: Array  # int64
    left_perplexity: Array  # float64, of what stands before it
    right_perplexity: Array  # float64, of what stands after it
    p_category: Array  # float64 (morphs, 4): P(category | morph)
    log_p_category: Array  # float64, its logarithm


class Chain(NamedTuple):
    """The counts behind the hidden Markov model."""

    transitions: Array  # int64 (5, 5)
    tokens: Array  # float64 (4): the sum over tokens of P(category | morph)
    costs: Array  # float64 (5, 5): -log P(to | from), from the transitions
    corpus_weight: float
    shape: Array  # float64: thresholds and slopes, see `set_categories`


class CategoryState(NamedTuple):
    """The labelled words and all that their cost is made of; moves change it in place."""

    words: LabelledWords
    letters: Letters
    table: StringTable
    morphs: MorphTable
    chain: Chain
    totals: Totals


class Occurrences(NamedTuple):
    """The words that each rule may apply to: those it applied to at the start, and by morph those changed since.

    The changed words of a morph are a linked list, whose elements are numbered.
    """

    begin: Array  # int64 by rule: its words at the start are listed[begin] ...
    end: Array  # int64 by rule: ... to listed[end - 1]
    listed: Array  # int32
    head: Array  # int64 by morph: the last element of its list, -1: none
    changed: Array  # int64 by morph: the length of its list
    previous: Array  # int64 by element: the element before
    word: Array  # int32 by element
    size: Array  # int64, one element: the number of elements
    seen: Array  # int64 by word, the last move that looked at it
    move: Array  # int64, one element: the number of the present move
    affected: Array  # int32, the words that the present move changes


class MoveTrial(NamedTuple):
    """The move that is being tried: what it takes away, what it may put there, and working memory."""

    removed_sums: Array  # float64: the weight of all occurrences, and their part of the sum of log P(category | morph)
    removed: Array  # int64 (5, 5) transitions
    contexts: Array  # int64 (5, 5): how often this category stands before an occurrence and that one after it
    labels: Array  # int8 (5, 5, 2): the categories of the new morphs between those two
    transitions: Array  # int64 (5, 5), those after the move
    sums: Array  # float64, the sums before the move
    tokens: Array  # float64, the chain's tokens before the move
    trial_sums: Array  # float64, the sums before one of several ways to move
    trial_tokens: Array  # float64
    prefixes: Array  # uint64, keys of the beginnings of the letters that are replaced
    suffixes: Array  # uint64, keys of their ends
    parts: Array  # int64 (2): the new morphs
    word_morphs: Array  # int32, a word that is rewritten
    word_labels: Array  # int8


@owning
def make_trial(longest: int) -> MoveTrial:
    """Arrays for moves on words of at most `longest` letters."""
    return MoveTrial(
        np.zeros(2),
        np.zeros((5, 5), np.int64),
        np.zeros((5, 5), np.int64),
        np.zeros((5, 5, 2), np.int8),
        np.zeros((5, 5), np.int64),
        np.zeros(SUMS),
        np.zeros(CATEGORIES),
        np.zeros(SUMS),
        np.zeros(CATEGORIES),
        np.empty(longest + 1, np.uint64),
        np.empty(longest + 1, np.uint64),
        np.empty(2, np.int64),
        np.empty(longest + 1, np.int32),
        np.empty(longest + 1, np.int8),
    )


@borrowing
def save_sums(state: CategoryState, sums: Array, tokens: Array) -> None:
    """Remember the sums."""
    copy_into(sums, state.totals.sums, 0, SUMS)
    copy_into(tokens, state.chain.tokens, 0, CATEGORIES)


@borrowing
def restore_sums(state: CategoryState, sums: Array, tokens: Array) -> None:
    """Set the sums back to what was remembered: adding and subtracting again would drift."""
    copy_into(state.totals.sums, sums, 0, SUMS)
    copy_into(state.chain.tokens, tokens, 0, CATEGORIES)


@borrowing
def allowed(before: int, after: int) -> bool:
    """Whether one category may follow another: no word ends in a prefix or begins in a suffix, and none is empty."""
    if after == EDGE:
        return before not in (EDGE, PRE)
    return not (after == SUF and before in (EDGE, PRE))


@borrowing
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


@borrowing
def sigmoid(value: float, threshold: float, slope: float) -> float:
    """Near 0 below the threshold, near 1 above it."""
    return 1.0 / (1.0 + math.exp(min(-slope * (value - threshold), 700.0)))


@borrowing
def set_categories(morph: int, length: int, morphs: MorphTable, shape: Array) -> None:
    """P(category | morph) from its perplexities and its length.

    A morph with varied neighbours after it is like a prefix, with varied neighbours before it like a suffix; a long
    one is like a stem; one that is none of these is no morpheme.
    """
    prefix = sigmoid(morphs.right_perplexity[morph], shape[0], shape[1])
    suffix = sigmoid(morphs.left_perplexity[morph], shape[2], shape[3])
    stem = sigmoid(length, shape[4], shape[5])
    none = min(max((1 - prefix) * (1 - suffix) * (1 - stem), 0.001), 1 - 1e-9)
    share = (1 - none) / (prefix**2 + suffix**2 + stem**2)
    p_category = morphs.p_category
    p_category[morph, PRE], p_category[morph, STM] = share * prefix**2, share * stem**2
    p_category[morph, SUF], p_category[morph, ZZZ] = share * suffix**2, none
    for category in range(CATEGORIES):
        p_category[morph, category] = max(p_category[morph, category], 1e-30)
        morphs.log_p_category[morph, category] = math.log(p_category[morph, category])


@borrowing
def set_all_categories(table: StringTable, morphs: MorphTable, shape: Array) -> None:
    """P(category | morph) for all morphs."""
    for morph in range(FIRST_MORPH, table.size[0]):
        set_categories(morph, np.int64(table.length[morph]), morphs, shape)


@borrowing
def category_cost(state: CategoryState, transitions: Array) -> float:
    """The description length of words as labelled morphs, and of the lexicon with its features.

    With n(c) tokens of category c, a transition has P(d | c) = n(c, d) / n(c), a morph has
    P(m | c) = n(m) P(c | m) / n(c): the negative logarithm of their product over the words.
    """
    totals = state.totals
    sums = totals.sums
    corpus = x_log_x(totals, np.int64(sums[WORDS])) - sums[LOG_TOKENS] - sums[CONDITIONALS]
    for before in range(CATEGORIES + 1):
        total = np.int64(0)
        for after in range(CATEGORIES + 1):
            total += transitions[before, after]
            corpus -= x_log_x(totals, transitions[before, after])
        if before != EDGE:
            corpus += 2 * x_log_x(totals, total)
    return state.chain.corpus_weight * corpus + frequency_cost(sums) + lexicon_cost(sums) + sums[FEATURES]


@borrowing
def change_count(state: CategoryState, morph: int, change: int) -> None:
    """The count of a morph changes."""
    table, morphs, totals = state.table, state.morphs, state.totals
    old = morphs.count[morph]
    new = old + change
    morphs.count[morph] = new
    change_morph(totals, table.text, table.start[morph], np.int64(table.length[morph]), old, new)
    if (old == 0) != (new == 0):
        left, right = morphs.left_perplexity[morph], morphs.right_perplexity[morph]
        features = 2 * _LOG_UNIVERSAL + math.log(left) + math.log(right)
        totals.sums[FEATURES] += features if new > 0 else -features
    for category in range(CATEGORIES):
        state.chain.tokens[category] += change * morphs.p_category[morph, category]


@borrowing
def count_word(state: CategoryState, word: int, sign: int) -> None:
    """Put a word as it is now into the sums (sign 1) or take it out (sign -1)."""
    words, transitions = state.words, state.chain.transitions
    weight, begin = sign * words.weights[word], words.bounds[word]
    before = EDGE
    for at in range(begin, begin + words.sizes[word]):
        morph, label = np.int64(words.morphs[at]), np.int64(words.labels[at])
        change_count(state, morph, weight)
        state.totals.sums[CONDITIONALS] += weight * state.morphs.log_p_category[morph, label]
        transitions[before, label] += weight
        before = label
    transitions[before, EDGE] += weight


@borrowing
def count_all(state: CategoryState) -> None:
    """All counts and sums, from the labelled words; they are 0 before."""
    for word in range(len(state.words.sizes)):
        state.totals.sums[WORDS] += state.words.weights[word]
        count_word(state, word, 1)
    transition_costs(state.chain.transitions, state.chain.costs)


# ---------------------------------------------------------------- where a move applies


@borrowing
def add_changed_word(occurrences: Occurrences, morph: int, word: int) -> None:
    """A word that has this morph was changed."""
    element = occurrences.size[0]
    occurrences.size[0] = element + 1
    occurrences.word[element], occurrences.previous[element] = word, occurrences.head[morph]
    occurrences.head[morph] = element
    occurrences.changed[morph] += 1


@borrowing
def label_before(words: LabelledWords, word: int, k: int) -> int:
    """The category before the k-th morph of a word."""
    return EDGE if k == 0 else np.int64(words.labels[words.bounds[word] + k - 1])


@borrowing
def label_after(words: LabelledWords, word: int, k: int) -> int:
    """The category after the k-th morph of a word."""
    return EDGE if k + 1 == words.sizes[word] else np.int64(words.labels[words.bounds[word] + k + 1])


@borrowing
def surrounding(before: int, after: int) -> int:
    """What a pair of morphs stands in: bit 0, something begins with it; bit 1, something ends."""
    return (1 if before in (EDGE, PRE) else 0) + (2 if after in (EDGE, SUF) else 0)


@borrowing
def applies(rule: Array, words: LabelledWords, word: int, k: int) -> bool:
    """Whether a rule applies at the k-th morph of a word."""
    at = words.bounds[word] + k
    if words.morphs[at] != rule[0]:
        return False
    if rule[1] == NO_MORPH:
        return True
    if k + 1 >= words.sizes[word] or words.morphs[at + 1] != rule[1]:
        return False
    if words.labels[at] != rule[2] or words.labels[at + 1] != rule[3]:
        return False
    return surrounding(label_before(words, word, k), label_after(words, word, k + 1)) == rule[4]


@borrowing
def next_match(rule: Array, words: LabelledWords, word: int, k: int) -> int:
    """The first morph from the k-th on where a rule applies, or -1.

    The caller goes on behind the morph that follows the match, so that no match has a neighbour that changes too.
    """
    span = 1 if rule[1] == NO_MORPH else 2
    while k + span <= words.sizes[word]:
        if applies(rule, words, word, k):
            return k
        k += 1
    return -1


@borrowing
def count_match(rule: Array, state: CategoryState, word: int, k: int, trial: MoveTrial) -> None:
    """Add one match of a move to what it takes away."""
    words, log_p_category = state.words, state.morphs.log_p_category
    weight, at = words.weights[word], words.bounds[word] + k
    before, label = label_before(words, word, k), np.int64(words.labels[at])
    trial.removed[before, label] += weight
    log_p = log_p_category[words.morphs[at], label]
    last = k
    if rule[1] != NO_MORPH:
        last = k + 1
        second = np.int64(words.labels[at + 1])
        trial.removed[label, second] += weight
        log_p += log_p_category[words.morphs[at + 1], second]
        label = second
    after = label_after(words, word, last)
    trial.removed[label, after] += weight
    trial.contexts[before, after] += weight
    trial.removed_sums[WEIGHT] += weight
    trial.removed_sums[LOG_P_CATEGORY] += weight * log_p


@borrowing
def count_matches(
    rule: Array, word: int, state: CategoryState, occurrences: Occurrences, trial: MoveTrial, affected: int
) -> int:
    """Count all matches in a word, unless it was looked at before; returns the number of words with matches so far."""
    if occurrences.seen[word] == occurrences.move[0]:
        return affected
    occurrences.seen[word] = occurrences.move[0]
    k = next_match(rule, state.words, word, 0)
    if k >= 0:
        occurrences.affected[affected] = word
        affected += 1
    while k >= 0:
        count_match(rule, state, word, k, trial)
        k = next_match(rule, state.words, word, k + (2 if rule[1] == NO_MORPH else 3))
    return affected


@borrowing
def find_matches(rule: Array, i: int, state: CategoryState, occurrences: Occurrences, trial: MoveTrial) -> int:
    """Find all matches of rule number i; returns in how many words they are."""
    for before in range(CATEGORIES + 1):
        for after in range(CATEGORIES + 1):
            trial.removed[before, after] = trial.contexts[before, after] = 0
    trial.removed_sums[WEIGHT] = trial.removed_sums[LOG_P_CATEGORY] = 0.0
    occurrences.move[0] += 1
    affected = 0
    for at in range(occurrences.begin[i], occurrences.end[i]):
        affected = count_matches(rule, np.int64(occurrences.listed[at]), state, occurrences, trial, affected)
    rarer = rule[0]
    if rule[1] != NO_MORPH and occurrences.changed[rule[1]] < occurrences.changed[rule[0]]:
        rarer = rule[1]
    element = occurrences.head[rarer]
    while element >= 0:
        affected = count_matches(rule, np.int64(occurrences.word[element]), state, occurrences, trial, affected)
        element = occurrences.previous[element]
    return affected


@borrowing
def fits(occurrences: Occurrences, words: LabelledWords, affected: int) -> bool:
    """Whether the lists can take the words that the present move changes."""
    needed = 0
    for i in range(affected):
        needed += 2 * words.sizes[occurrences.affected[i]] + 1
    return occurrences.size[0] + needed <= len(occurrences.word)


# ---------------------------------------------------------------- what a move costs


@borrowing
def choose_labels(before: int, after: int, first: int, second: int, state: CategoryState, labels: Array) -> None:
    """The best categories of one or two new morphs between two categories that stay.

    -log P(c | before) - log P(first | c) and so on, where P(m | c) is proportional to P(c | m) / n(c).
    """
    chain, log_p_category = state.chain, state.morphs.log_p_category
    lowest = np.inf
    for c in range(CATEGORIES):
        cost = chain.costs[before, c] - log_p_category[first, c] + math.log(chain.tokens[c])
        if second == NO_MORPH:
            if cost + chain.costs[c, after] < lowest:
                lowest, labels[before, after, 0] = cost + chain.costs[c, after], c
            continue
        for d in range(CATEGORIES):
            pair_cost = cost + chain.costs[c, d] - log_p_category[second, d]
            pair_cost += math.log(chain.tokens[d]) + chain.costs[d, after]
            if pair_cost < lowest:
                lowest, labels[before, after, 0], labels[before, after, 1] = pair_cost, c, d


@borrowing
def label_matches(state: CategoryState, trial: MoveTrial, first: int, second: int) -> None:
    """Give the new morphs of a move the best labels in each context; the transitions and conditionals after it."""
    sums, log_p_category = state.totals.sums, state.morphs.log_p_category
    for before in range(CATEGORIES + 1):
        for after in range(CATEGORIES + 1):
            trial.transitions[before, after] = state.chain.transitions[before, after] - trial.removed[before, after]
    for before in range(CATEGORIES + 1):
        for after in range(CATEGORIES + 1):
            weight = trial.contexts[before, after]
            if weight == 0:
                continue
            choose_labels(before, after, first, second, state, trial.labels)
            last = np.int64(trial.labels[before, after, 0])
            sums[CONDITIONALS] += weight * log_p_category[first, last]
            trial.transitions[before, last] += weight
            if second != NO_MORPH:
                label, last = last, np.int64(trial.labels[before, after, 1])
                sums[CONDITIONALS] += weight * log_p_category[second, last]
                trial.transitions[label, last] += weight
            trial.transitions[last, after] += weight


@borrowing
def change_counts(state: CategoryState, first: int, second: int, change: int) -> None:
    """The counts of one or two morphs change."""
    change_count(state, first, change)
    if second != NO_MORPH:
        change_count(state, second, change)


@borrowing
def cost_of_move(state: CategoryState, trial: MoveTrial, weight: int) -> float:
    """The cost if the parts were put in; everything is as before afterwards."""
    first, second = trial.parts[0], trial.parts[1]
    save_sums(state, trial.trial_sums, trial.trial_tokens)
    change_counts(state, first, second, weight)
    label_matches(state, trial, first, second)
    cost = category_cost(state, trial.transitions)
    change_counts(state, first, second, -weight)
    restore_sums(state, trial.trial_sums, trial.trial_tokens)
    return cost


@borrowing
def as_morph(
    state: CategoryState, scratch: int, key: Any, start: int, length: int, left: float, right: float
) -> int:  # fmt: skip
    """The morph at a position of the text, or the scratch entry made to look like it if there is none in use.

    A new morph is given the left perplexity of what begins where it begins, the right one of what ends where it ends.
    """
    table, morphs = state.table, state.morphs
    morph = find(table, key, table.text, start, length)
    if morph != NOT_FOUND and morphs.count[morph] > 0:
        return morph
    table.keys[scratch], table.start[scratch], table.length[scratch] = key, start, length
    morphs.count[scratch] = 0
    morphs.left_perplexity[scratch], morphs.right_perplexity[scratch] = left, right
    set_categories(scratch, length, morphs, state.chain.shape)
    return scratch


@borrowing
def made_real(state: CategoryState, morph: int) -> int:
    """The morph itself, or a lasting entry for a scratch one."""
    table, morphs = state.table, state.morphs
    if morph >= FIRST_MORPH or morph == NO_MORPH:
        return morph
    real = insert(table, table.keys[morph], table.start[morph], table.length[morph])
    morphs.count[real] = 0
    morphs.left_perplexity[real] = morphs.left_perplexity[morph]
    morphs.right_perplexity[real] = morphs.right_perplexity[morph]
    for category in range(CATEGORIES):
        morphs.p_category[real, category] = morphs.p_category[morph, category]
        morphs.log_p_category[real, category] = morphs.log_p_category[morph, category]
    return real


@borrowing
def set_word(words: LabelledWords, word: int, size: int, morphs: Array, labels: Array) -> None:
    """Give a word these morphs and labels."""
    copy_into(words.morphs, morphs, words.bounds[word], size)
    copy_into(words.labels, labels, words.bounds[word], size)
    words.sizes[word] = size


@borrowing
def rewrite_word(
    rule: Array, first: int, second: int, word: int, words: LabelledWords, occurrences: Occurrences, trial: MoveTrial
) -> None:
    """Apply a move to a word."""
    begin, size = words.bounds[word], np.int64(words.sizes[word])
    morphs, labels = trial.word_morphs, trial.word_labels
    span = 1 if rule[1] == NO_MORPH else 2
    new_size, done = 0, 0
    k = next_match(rule, words, word, 0)
    while k >= 0:
        for at in range(begin + done, begin + k):
            morphs[new_size], labels[new_size] = words.morphs[at], words.labels[at]
            new_size += 1
        before, after = label_before(words, word, k), label_after(words, word, k + span - 1)
        morphs[new_size], labels[new_size] = first, trial.labels[before, after, 0]
        new_size += 1
        if second != NO_MORPH:
            morphs[new_size], labels[new_size] = second, trial.labels[before, after, 1]
            new_size += 1
        done = k + span
        k = next_match(rule, words, word, k + span + 1)
    for at in range(begin + done, begin + size):
        morphs[new_size], labels[new_size] = words.morphs[at], words.labels[at]
        new_size += 1
    set_word(words, word, new_size, morphs, labels)
    for k in range(new_size):
        add_changed_word(occurrences, np.int64(morphs[k]), word)


@borrowing
def make_move(
    rule: Array, weight: int, affected: int, state: CategoryState, occurrences: Occurrences, trial: MoveTrial
) -> None:
    """Carry a move out: the sums, the chain and the words."""
    chain = state.chain
    first, second = made_real(state, trial.parts[0]), made_real(state, trial.parts[1])
    change_counts(state, first, second, weight)
    label_matches(state, trial, first, second)
    for before in range(CATEGORIES + 1):
        for after in range(CATEGORIES + 1):
            chain.transitions[before, after] = trial.transitions[before, after]
    transition_costs(chain.transitions, chain.costs)
    for i in range(affected):
        rewrite_word(rule, first, second, occurrences.affected[i], state.words, occurrences, trial)


@borrowing
def set_parts(
    state: CategoryState, trial: MoveTrial, cut: int, start: int, length: int, left: float, right: float
) -> None:
    """The two parts of a string, as morphs; if cut at its end, it is one morph."""
    inner = right if cut == length else 1.0
    trial.parts[0] = as_morph(state, LEFT_SCRATCH, trial.prefixes[cut], start, cut, left, inner)
    trial.parts[1] = NO_MORPH
    if cut < length:
        trial.parts[1] = as_morph(
            state, RIGHT_SCRATCH, trial.suffixes[cut], start + cut, length - cut, 1.0, right
        )  # fmt: skip


@borrowing
def start_of_match(rule: Array, state: CategoryState, word: int) -> int:
    """Where in the text the first match of a rule in a word begins."""
    words = state.words
    start = words.bounds[word]
    for at in range(words.bounds[word], words.bounds[word] + next_match(rule, words, word, 0)):
        start += state.table.length[words.morphs[at]]
    return start


@borrowing
def cut_range(rule: Array, first: int, length: int, join: bool, longest_shift: int, least_rest: int) -> tuple[int, int]:
    """The first and last cut that a move may make: at the end (a join), anywhere in one morph, or near `first`."""
    if join:
        return length, length
    if rule[1] == NO_MORPH:
        return 1, length - 1
    return max(first - longest_shift, least_rest), min(first + longest_shift, length - least_rest)


@owning
def run_moves(
    rules: Array, join: bool, state: CategoryState, occurrences: Occurrences, longest_shift: int, least_rest: int
) -> tuple[int, int]:
    """Try a move for each rule: a split (one morph), a join or a shift (two). Returns rules done and moves made.

    It stops early when the lists of changed words are full; the table has room for two new morphs a rule.
    """
    table, morphs, chain, totals = state.table, state.morphs, state.chain, state.totals
    trial = make_trial(len(state.letters.powers))
    made = 0
    for i in range(len(rules)):
        rule = rules[i]
        affected = find_matches(rule, i, state, occurrences, trial)
        if affected == 0:
            continue
        if not fits(occurrences, state.words, affected):
            return i, made
        weight = np.int64(trial.removed_sums[WEIGHT])
        start = start_of_match(rule, state, occurrences.affected[0])
        first = np.int64(table.length[rule[0]])
        pair = rule[1] != NO_MORPH
        length = first + (np.int64(table.length[rule[1]]) if pair else 0)
        left, right = morphs.left_perplexity[rule[0]], morphs.right_perplexity[rule[1] if pair else rule[0]]
        lowest, best = category_cost(state, chain.transitions) - 1e-9, 0
        save_sums(state, trial.sums, trial.tokens)
        change_counts(state, rule[0], rule[1], -weight)
        totals.sums[CONDITIONALS] -= trial.removed_sums[LOG_P_CATEGORY]
        keys_of_parts(state.letters, start, length, trial.prefixes, trial.suffixes)
        low, high = cut_range(rule, first, length, join, longest_shift, least_rest)
        for cut in range(low, high + 1):
            if pair and cut == first:
                continue
            set_parts(state, trial, cut, start, length, left, right)
            if trial.parts[0] == LEFT_SCRATCH and trial.parts[1] == RIGHT_SCRATCH:
                continue  # two new morphs spell the same letters and cost more
            cost = cost_of_move(state, trial, weight)
            if cost < lowest:
                lowest, best = cost, cut
        if best == 0:
            change_counts(state, rule[0], rule[1], weight)
            restore_sums(state, trial.sums, trial.tokens)
            continue
        made += 1
        set_parts(state, trial, best, start, length, left, right)
        make_move(rule, weight, affected, state, occurrences, trial)
    return len(rules), made


# ---------------------------------------------------------------- single words


@borrowing
def same_analysis(words: LabelledWords, word: int, size: int, morphs: Array, labels: Array) -> bool:
    """Whether a word has these morphs and labels already."""
    begin = words.bounds[word]
    if size != words.sizes[word]:
        return False
    k = 0
    while k < size and words.morphs[begin + k] == morphs[k] and words.labels[begin + k] == labels[k]:
        k += 1
    return k == size


@borrowing
def exchange_analysis(state: CategoryState, word: int, size: int, morphs: Array, labels: Array) -> None:
    """Give a word another analysis, in the sums too."""
    count_word(state, word, -1)
    set_word(state.words, word, size, morphs, labels)
    count_word(state, word, 1)


@owning
def resegment(numbers: Array, state: CategoryState, longest_morph: int, emissions: Array) -> int:
    """Give words their best path through the lexicon where that lowers the cost; returns how many changed."""
    words, letters, chain = state.words, state.letters, state.chain
    longest = len(letters.powers)
    trellis = make_trellis(longest)
    no_stems = UnknownStems(NEVER, np.zeros(len(letters.codes)))
    path_costs = PathCosts(state.table, longest_morph, emissions, chain.costs, no_stems)
    starts, morphs, labels = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.int8)
    old_morphs, old_labels = np.empty(longest, np.int32), np.empty(longest, np.int8)
    sums, tokens = np.empty(SUMS), np.empty(CATEGORIES)
    changed = 0
    for word in numbers:
        begin, end = words.bounds[word], words.bounds[word + 1]
        fill_trellis(trellis, letters, begin, end - begin, path_costs)
        size = best_path(trellis, end - begin, chain.costs, 0, starts, morphs, labels)
        if size == 0 or same_analysis(words, word, size, morphs, labels):
            continue
        old_size = np.int64(words.sizes[word])
        for k in range(old_size):
            old_morphs[k], old_labels[k] = words.morphs[begin + k], words.labels[begin + k]
        cost = category_cost(state, chain.transitions)
        save_sums(state, sums, tokens)
        exchange_analysis(state, word, size, morphs, labels)
        if category_cost(state, chain.transitions) < cost - 1e-9:
            changed += 1
            continue
        exchange_analysis(state, word, old_size, old_morphs, old_labels)
        restore_sums(state, sums, tokens)
    transition_costs(chain.transitions, chain.costs)
    return changed
