"""Categories: prefix, stem, suffix and non-morpheme, by Cat-MAP (Creutz & Lagus 2007) in the form of FlatCat (2014).

A hidden Markov model over the categories of a word's morphs. What category a morph can have follows from its length and
from how varied its neighbours are, measured by their perplexity. Starting from the baseline, morphs are split, joined
and shifted wherever that lowers the description length, all occurrences of a morph or of a pair at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Array, BoolArray, Float64Array, Int64Array
from morphlm.progress import progress_bar
from morphlm.segmentation.baseline import WordMorphs, empty_totals, slices
from morphlm.segmentation.encoding import EncodedWords, grown_to, lengthened, make_table
from morphlm.segmentation.kernels import categories as kernels
from morphlm.segmentation.kernels.cleaning import clean
from morphlm.segmentation.kernels.paths import EDGE, NEVER, PRE, SUF, ZZZ, LabelledWords, label_words
from morphlm.segmentation.kernels.strings import insert_all

RULES_A_CALL = 2048
WORDS_A_CALL = 4096
MAX_LABELLINGS = 15


@dataclass(frozen=True)
class CategoryConfig:
    """What the categories are made from. Lengths and slopes are FlatCat's."""

    corpus_weight: float = 1.0  # of the words against the lexicon: less of it gives more and shorter morphs
    perplexity_threshold: float = 20.0  # from here on, what stands before a morph is so varied that it is a suffix
    prefix_factor: float = 2.0  # what follows a prefix must be so many times more varied than that
    length_threshold: float = 3.0  # from here on, a morph is like a stem
    length_slope: float = 2.0
    context_length: int = 4  # neighbours below this length are not counted for the perplexity
    longest_shift: int = 2  # letters by which a boundary is moved
    least_rest: int = 2  # letters that are left of a morph when its boundary is moved
    epochs: int = 3
    least_gain: float = 0.005  # of cost a word, for another epoch

    @property
    def shape(self) -> Float64Array:
        """Thresholds and slopes as the kernels take them."""
        suffix = self.perplexity_threshold
        prefix = self.prefix_factor * suffix
        return np.array([prefix, 10 / prefix, suffix, 10 / suffix, self.length_threshold, self.length_slope])


def usual_threshold(words: int) -> float:
    """A perplexity threshold that fits so many words: affixes meet more stems in a larger vocabulary."""
    return max(2.5, 20.0 * math.sqrt(words / 50_000))


class CategoryModel:
    """The labelled words, the lexicon and the chain, with the moves on them."""

    def __init__(self, words: EncodedWords, morphs: WordMorphs, config: CategoryConfig) -> None:
        """Take over the morphs of the baseline."""
        self.words, self.config = words, config
        mask = used_slots(words.bounds, morphs.sizes)
        used, numbers = np.unique(morphs.morphs[mask], return_inverse=True)
        table = make_table(words.letters.text, len(used) + kernels.FIRST_MORPH + 1024)
        table.size[0] = kernels.FIRST_MORPH
        entries = insert_all(table, words.letters, morphs.table.start[used], morphs.table.length[used])
        slots = np.zeros(int(words.bounds[-1]), np.int32)
        slots[mask] = entries[numbers]
        n = len(table.keys)
        self.state = kernels.CategoryState(
            words=LabelledWords(
                words.bounds, morphs.sizes.copy(), slots, np.ones(len(slots), np.int8), words.counts
            ),
            letters=words.letters,
            table=table,
            morphs=kernels.MorphTable(
                np.zeros(n, np.int64), np.ones(n), np.ones(n), np.zeros((n, 4)), np.zeros((n, 4))
            ),
            chain=kernels.Chain(
                np.zeros((5, 5), np.int64), np.zeros(4), np.zeros((5, 5)), float(config.corpus_weight), config.shape
            ),
            totals=empty_totals(len(words.alphabet)),
        )  # fmt: skip

    # ------------------------------------------------------------ estimating

    def measure(self) -> None:
        """The perplexities of all morphs, what follows from them for their categories, and their counts."""
        words, table, morphs = self.state.words, self.state.table, self.state.morphs
        left, right = perplexities(
            words.morphs[used_slots(words.bounds, words.sizes)],
            words.sizes,
            np.repeat(words.weights, words.sizes),
            table.length,
            self.config.context_length,
        )
        morphs.left_perplexity[: len(left)], morphs.right_perplexity[: len(right)] = left, right
        kernels.set_all_categories(table, morphs, self.state.chain.shape)
        self.recount()

    def recount(self) -> None:
        """Counts and sums from the words as they are."""
        self.state = self.state._replace(totals=empty_totals(len(self.words.alphabet)))
        self.state.morphs.count[:] = 0
        self.state.chain.transitions[:] = 0
        self.state.chain.tokens[:] = 0
        kernels.count_all(self.state)

    @property
    def cost(self) -> float:
        """The description length in nats."""
        return float(kernels.category_cost(self.state, self.state.chain.transitions))

    def emissions(self) -> Float64Array:
        """-log P(morph | category), by morph; what is not in use cannot be emitted."""
        morphs = self.state.morphs
        with np.errstate(divide="ignore"):
            count = np.log(morphs.count)[:, None]
            costs = np.log(self.state.chain.tokens)[None, :] - count - morphs.log_p_category
        costs[morphs.count == 0] = NEVER
        return np.asarray(costs)

    def start_labels(self, *, non_morphemes: bool = True) -> None:
        """Labels for words that have none: from what morphs are like alone, then with the chain until they stay."""
        self.measure()
        unigram = np.append(self.state.chain.tokens, float(self.words.counts.sum()))
        transitions = np.tile(np.maximum(unigram, 1e-9), (5, 1))
        kernels.transition_costs(transitions, self.state.chain.costs)
        emissions = self.emissions()
        if not non_morphemes:
            emissions[:, ZZZ] = NEVER
        self.settle_labels(emissions)

    def cleaned(self) -> CategoryModel:
        """The words without non-morphemes, with labels and lexicon made anew. Every word then has a stem."""
        words = self.state.words
        lengths, labels = np.zeros(len(words.morphs), np.int32), np.zeros(len(words.morphs), np.int8)
        sizes = np.zeros_like(words.sizes)
        clean(words, self.state.table.length, lengths, labels, sizes)
        model = CategoryModel(self.words, morphs_of_pieces(self.words, lengths, sizes), self.config)
        model.start_labels(non_morphemes=False)
        return model

    def settle_labels(self, emissions: Array) -> None:
        """Label the words and estimate the chain from the labels, in turn, until nearly nothing changes."""
        for _ in range(MAX_LABELLINGS):
            changed = label_words(self.state.words, emissions, self.state.chain.costs)
            self.recount()
            if changed <= 0.005 * len(self.words.words):
                break

    # ------------------------------------------------------------ moving

    def train(self) -> list[float]:
        """All kinds of moves in turn, until an epoch gains too little; the cost after each."""
        self.start_labels()
        costs = [self.cost]
        for epoch in range(1, self.config.epochs + 1):
            self.split(epoch)
            self.join(epoch)
            self.shift(epoch)
            self.resegment(epoch)
            costs.append(self.cost)
            if costs[-2] - costs[-1] <= self.config.least_gain * int(self.words.counts.sum()):
                break
        return costs

    def split(self, epoch: int = 1) -> int:
        """Split morphs in two, short ones first."""
        lengths = self.state.table.length
        used = np.flatnonzero((self.state.morphs.count > 0) & (lengths > 1))
        used = used[np.argsort(lengths[used], kind="stable")]
        rules = np.full((len(used), 5), kernels.NO_MORPH, np.int64)
        rules[:, 0] = used
        return self._run(rules, False, f"categories, epoch {epoch}: splitting")

    def join(self, epoch: int = 1) -> int:
        """Join neighbours, frequent pairs first."""
        return self._run(self.pairs(), True, f"categories, epoch {epoch}: joining")

    def shift(self, epoch: int = 1) -> int:
        """Move the boundary between neighbours, frequent pairs first."""
        return self._run(self.pairs(), False, f"categories, epoch {epoch}: shifting")

    def resegment(self, epoch: int = 1) -> int:
        """Give each word its best path through the lexicon where that lowers the cost."""
        longest, changed = self.longest_morph, 0
        with progress_bar(f"categories, epoch {epoch}: best paths", len(self.words.words), "word") as bar:
            for part in slices(np.arange(len(self.words.words)), WORDS_A_CALL):
                changed += kernels.resegment(part, self.state, longest, self.emissions())
                bar.update(len(part))
        self.measure()
        return changed

    @property
    def longest_morph(self) -> int:
        """The number of letters of the longest morph in use."""
        return int(self.state.table.length[self.state.morphs.count > 0].max())

    def pairs(self) -> Int64Array:
        """All pairs of neighbours as rules (morph, morph, label, label, surrounding), frequent ones first."""
        rules, words = self._rules_of_pairs()
        keys = self._keys(rules)
        _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
        totals = np.bincount(inverse, self.words.counts[words])
        return np.ascontiguousarray(rules[index[np.argsort(-totals, kind="stable")]])

    def _rules_of_pairs(self) -> tuple[Int64Array, Int64Array]:
        """The rule that applies to each pair of neighbours, and the word that the pair is in."""
        words = self.state.words
        mask = used_slots(words.bounds, words.sizes)
        morphs, labels = words.morphs[mask].astype(np.int64), words.labels[mask].astype(np.int64)
        first, last = edges(words.sizes)
        at = np.flatnonzero(~last)  # the first morph of each pair
        before = np.where(first[at], EDGE, labels[at - 1])
        after = np.where(last[at + 1], EDGE, labels[np.minimum(at + 2, len(labels) - 1)])
        kind = np.isin(before, (EDGE, PRE)) + 2 * np.isin(after, (EDGE, SUF))
        rules = np.column_stack([morphs[at], morphs[at + 1], labels[at], labels[at + 1], kind])
        return rules, np.repeat(np.arange(len(words.sizes)), words.sizes)[at]

    def _rules_of_morphs(self) -> tuple[Int64Array, Int64Array]:
        """The rule that applies to each morph alone, and the word that it is in."""
        words = self.state.words
        morphs = words.morphs[used_slots(words.bounds, words.sizes)]
        rules = np.full((len(morphs), 5), kernels.NO_MORPH, np.int64)
        rules[:, 0] = morphs
        return rules, np.repeat(np.arange(len(words.sizes)), words.sizes)

    def _keys(self, rules: Int64Array) -> Int64Array:
        """Rules as single numbers; morphs are numbered below 2^28."""
        labels = (rules[:, 2] + 1) * 20 + (rules[:, 3] + 1) * 4 + rules[:, 4].clip(0)
        return np.asarray((rules[:, 0] << 35) + ((rules[:, 1] + 1) << 7) + labels)

    def _run(self, rules: Int64Array, join: bool, description: str) -> int:
        made = done = 0
        occurrences = self._list_occurrences(rules)
        with progress_bar(description, len(rules), "move") as bar:
            while done < len(rules):
                part = rules[done : done + RULES_A_CALL]
                occurrences = self._grown_to(2 * len(part), occurrences)
                of_part = occurrences._replace(begin=occurrences.begin[done:], end=occurrences.end[done:])
                tried, successes = kernels.run_moves(
                    part, join, self.state, of_part, self.config.longest_shift, self.config.least_rest
                )
                made += successes
                done += tried
                bar.update(tried)
                if tried < len(part):
                    occurrences = self._list_occurrences(rules)
        self.measure()
        return made

    def _grown_to(self, extra: int, occurrences: kernels.Occurrences) -> kernels.Occurrences:
        """Make room for so many more morphs, here and in the lists of changed words."""
        table = grown_to(self.state.table, extra, kernels.FIRST_MORPH)
        n = len(table.keys)
        morphs = kernels.MorphTable(*(lengthened(array, n) for array in self.state.morphs))
        self.state = self.state._replace(table=table, morphs=morphs)
        if n == len(occurrences.head):
            return occurrences
        head = np.concatenate([occurrences.head, np.full(n - len(occurrences.head), -1, np.int64)])
        return occurrences._replace(head=head, changed=lengthened(occurrences.changed, n))

    def _list_occurrences(self, rules: Int64Array) -> kernels.Occurrences:
        """The words that each rule applies to now, and empty lists for those that will be changed."""
        single = len(rules) == 0 or rules[0, 1] == kernels.NO_MORPH
        present, words = self._rules_of_morphs() if single else self._rules_of_pairs()
        keys = self._keys(present)
        order = np.argsort(keys, kind="stable")
        keys, wanted = keys[order], self._keys(rules)
        morphs, n = len(self.state.table.keys), len(self.state.words.sizes)
        elements = 4 * int(self.state.words.sizes.sum()) + 2 * n
        return kernels.Occurrences(
            begin=np.searchsorted(keys, wanted, "left"),
            end=np.searchsorted(keys, wanted, "right"),
            listed=words[order].astype(np.int32),
            head=np.full(morphs, -1, np.int64),
            changed=np.zeros(morphs, np.int64),
            previous=np.zeros(elements, np.int64),
            word=np.zeros(elements, np.int32),
            size=np.zeros(1, np.int64),
            seen=np.zeros(n, np.int64),
            move=np.zeros(1, np.int64),
            affected=np.zeros(n, np.int32),
        )


def edges(sizes: Array) -> tuple[BoolArray, BoolArray]:
    """Which morphs of all words in a row are the first of their word, and which are the last."""
    ends = np.cumsum(sizes)
    first, last = np.zeros(int(ends[-1]), bool), np.zeros(int(ends[-1]), bool)
    first[ends - sizes], last[ends - 1] = True, True
    return first, last


def used_slots(bounds: Array, sizes: Array) -> BoolArray:
    """Which slots hold a morph; there is one for each letter of the words."""
    edges = np.zeros(int(bounds[-1]) + 1, np.int32)
    np.add.at(edges, bounds[:-1], 1)
    np.add.at(edges, bounds[:-1] + sizes, -1)
    return np.cumsum(edges[:-1]) > 0


def morphs_of_pieces(words: EncodedWords, lengths: Array, sizes: Array) -> WordMorphs:
    """Words cut into pieces of these lengths, with a table of the pieces."""
    mask = used_slots(words.bounds, sizes)
    ends = np.zeros(len(mask) + 1, np.int64)
    np.cumsum(np.where(mask, lengths, 0), out=ends[1:])  # the pieces of all words lie end to end, as the words do
    table = make_table(words.letters.text, int(np.count_nonzero(mask)))
    morphs = np.zeros(len(mask), np.int32)
    morphs[mask] = insert_all(table, words.letters, ends[:-1][mask], lengths[mask].astype(np.int32))
    return WordMorphs(table, morphs, sizes)


def perplexities(
    morphs: Array, sizes: Array, weights: Array, lengths: Array, context_length: int
) -> tuple[Float64Array, Float64Array]:
    """The perplexity of the neighbours before and after each morph; the word's edge is one, short ones are left out.

    `morphs` and their `weights` are those of all words in a row, `sizes` the number of morphs of each word.
    """
    first, last = edges(sizes)
    kinds = int(morphs.max()) + 1
    sides = []
    for edge, neighbours in ((first, np.roll(morphs, 1)), (last, np.roll(morphs, -1))):
        counted = edge | (lengths[neighbours] >= context_length)
        contexts = np.where(edge, kinds, neighbours)
        sides.append(_perplexity(morphs[counted], contexts[counted], weights[counted], kinds))
    return sides[0], sides[1]


def _perplexity(morphs: Array, contexts: Array, weights: Array, kinds: int) -> Float64Array:
    """exp of the entropy of the contexts of each morph; 1 where there is none."""
    keys = morphs.astype(np.int64) * (kinds + 1) + contexts
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order].astype(np.float64)
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.int64)
    counts = np.add.reduceat(weights, starts) if len(keys) else weights
    owner = keys[starts] // (kinds + 1)
    total = np.bincount(owner, counts, kinds)
    logs = np.bincount(owner, counts * np.log(counts), kinds)
    present = total > 0
    entropy = np.zeros(kinds)
    entropy[present] = np.log(total[present]) - logs[present] / total[present]
    return np.exp(np.maximum(entropy, 0.0))
