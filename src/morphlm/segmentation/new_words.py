"""Words that were never seen: the best path through the categories, over known morphs and over new stems.

A new stem costs as much as a stem that was seen once, and in addition its letters. The same view is taken of training
words once: a morph that only one word has was learned from that word, so the word is segmented as if it were new.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from morphlm.arrays import Array, Float64Array, Int32Array, Int64Array
from morphlm.display import described
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.segmentation.baseline import WordMorphs
from morphlm.segmentation.categories import CategoryModel, morphs_of_pieces, used_slots
from morphlm.segmentation.encoding import EncodedWords, encode_letters, make_letters, make_table, split_letters
from morphlm.segmentation.kernels.paths import (
    CATEGORIES,
    EDGE,
    NEVER,
    STM,
    ZZZ,
    PathCosts,
    UnknownStems,
    segment_words,
)
from morphlm.segmentation.kernels.strings import Letters, StringTable, insert_all
from morphlm.vocabulary.vocabulary import parse_counts, two_columns

WORDS_A_CALL = 8192
# Of the hash codes of letters: whoever knew it could make a model whose morphs all share a few slots, which would take
# minutes to fill. What is found does not depend on it.
_HASH_SEED = secrets.randbits(128)
# The share of its letters' code length that a new stem pays, in a new word and in a training word seen as new. Chosen
# on Czech, English and Russian gold: more of it cuts more, and training words have shown their relatives already.
NEW_SPELLING, TRAINING_SPELLING = 0.7, 0.5


@dataclass(frozen=True)
class SegmentedWords:
    """Words cut and labelled: the pieces of word w are elements bounds[w] to bounds[w] + sizes[w] - 1."""

    bounds: Int64Array
    sizes: Int32Array
    starts: Int32Array  # in the word
    labels: NDArray[np.int8]


@dataclass(frozen=True)
class PathModel(PickledWithoutCaches):
    """All that segmenting a new word needs: the morphs, what they cost in each category, and what a new stem costs."""

    morphs: tuple[str, ...]  # sorted
    counts: Int64Array
    emissions: Float64Array  # (morphs, 4)
    transitions: Float64Array  # (5, 5)
    new_stem: float  # what a new stem costs, besides its letters

    def __repr__(self) -> str:
        return described(self, morphs=len(self.morphs))

    @cached_property
    def _alphabet(self) -> dict[str, int]:
        return {letter: i for i, letter in enumerate(sorted(set().union(*split_letters(self.morphs))))}

    @cached_property
    def _costs(self) -> PathCosts:
        """The morphs in a table, with all costs."""
        text, bounds = encode_letters(split_letters(self.morphs), self._alphabet)
        lengths = np.diff(bounds)
        longest = int(lengths.max())
        table = make_table(text, len(self.morphs))
        insert_all(table, self._letters(text, longest), bounds[:-1], lengths.astype(np.int32))
        letter_counts = np.bincount(text, minlength=len(self._alphabet))
        unknown = unknown_stems(self.new_stem, letter_counts, NEW_SPELLING)
        return PathCosts(table, longest, self.emissions, self.transitions, unknown)

    def best_paths(self, atoms: Sequence[Sequence[str]]) -> SegmentedWords:
        """The best paths of words given as letters."""
        text, bounds = encode_letters(atoms, self._alphabet)
        return best_paths(self._letters(text, self._costs.longest_morph), bounds, self._costs)

    def _letters(self, text: Array, longest: int) -> Letters:
        """Letters with the hash codes of the table of morphs."""
        return make_letters(text, len(self._alphabet), longest, _HASH_SEED)

    def pieces(self, words: Sequence[str]) -> Iterator[tuple[list[str], list[int]]]:
        """The forms and the categories of the pieces of words in NFC, by their best paths."""
        for block in range(0, len(words), WORDS_A_CALL):
            atoms = split_letters(words[block : block + WORDS_A_CALL])
            paths = self.best_paths(atoms)
            starts, labels = paths.starts.tolist(), paths.labels.tolist()
            for letters, begin, size in zip(atoms, paths.bounds.tolist(), paths.sizes.tolist(), strict=False):
                cuts = [*starts[begin : begin + size], len(letters)]
                pieces = (letters[start:end] for start, end in pairwise(cuts))
                forms = [piece if isinstance(piece, str) else "".join(piece) for piece in pieces]
                yield forms, labels[begin : begin + size]

    def table(self) -> str:
        """`morph TAB count`, a line a morph: what `parse_paths` reads, with the tensors."""
        rows = zip(self.morphs, self.counts.tolist(), strict=True)
        return "".join(f"{morph}\t{count}\n" for morph, count in rows)

    def tensors(self) -> dict[str, Array]:
        """What the morphs, the steps between categories and new stems cost."""
        return {
            "emissions": self.emissions,
            "transitions": self.transitions,
            "new_stem": np.array([self.new_stem]),
        }


def parse_paths(table: str, tensors: Mapping[str, Array]) -> PathModel:
    """Read what `table` and `tensors` gave; a ValueError, KeyError or IndexError says what does not fit."""
    morphs, numbers = two_columns(table) or ([], [])
    counts = parse_counts(numbers)
    if counts is None or "" in morphs:
        raise ValueError("the list of morphs is not `morph TAB count`")
    # Copies, of the type that a fresh segmenter has: kernels would be compiled again for arrays that are read-only.
    emissions, transitions, new_stem = (
        np.array(tensors[name], np.float64) for name in ("emissions", "transitions", "new_stem")
    )
    if morphs != sorted(set(morphs)):
        raise ValueError("the morphs are not sorted, or one is there twice")
    return PathModel(tuple(morphs), counts, emissions, transitions, float(new_stem[0]))


def unknown_stems(base: float, letter_counts: Array, spelling: float) -> UnknownStems:
    """Letters cost what they cost in the lexicon; one that is not in it costs more than the rarest."""
    counts = np.append(letter_counts, 0) + 0.5
    return UnknownStems(base, spelling * (np.log(counts.sum()) - np.log(counts)))


def best_paths(query: Letters, bounds: Array, costs: PathCosts) -> SegmentedWords:
    """The best path of each word of `query`."""
    sizes = np.zeros(len(bounds) - 1, np.int32)
    starts, labels = np.zeros(int(bounds[-1]), np.int32), np.zeros(int(bounds[-1]), np.int8)
    for begin in range(0, len(sizes), WORDS_A_CALL):
        end = min(begin + WORDS_A_CALL, len(sizes))
        segment_words(query, bounds[begin : end + 1], costs, sizes[begin:end], starts, labels)
    return SegmentedWords(bounds, sizes, starts, labels)


def generalised(model: CategoryModel) -> CategoryModel:
    """All words again by their best paths, where a morph of one word alone is no longer known but may be a new stem."""
    words, state = model.words, model.state
    mask = used_slots(words.bounds, state.words.sizes)
    uses = np.bincount(state.words.morphs[mask], minlength=len(state.table.keys))
    emissions = model.emissions()
    emissions[:, ZZZ] = NEVER
    emissions[uses <= 1] = NEVER
    unknown = unknown_stems(_new_stem(model), state.totals.letter_counts, TRAINING_SPELLING)
    costs = PathCosts(state.table, model.longest_morph, emissions, state.chain.costs, unknown)
    segmented = best_paths(words.letters, words.bounds, costs)
    result = CategoryModel(words, morphs_of_pieces(words, _lengths(segmented), segmented.sizes), model.config)
    result.start_labels(non_morphemes=False)
    return result


def _lengths(segmented: SegmentedWords) -> Int32Array:
    """The number of letters of each piece."""
    bounds, sizes = segmented.bounds, segmented.sizes
    lengths = np.zeros(len(segmented.starts), np.int32)
    used = np.flatnonzero(used_slots(bounds, sizes))
    starts = segmented.starts[used] + np.repeat(bounds[:-1], sizes)
    lengths[used] = np.diff(np.append(starts, bounds[-1]))
    return lengths


def _new_stem(model: CategoryModel) -> float:
    """What a stem that was seen once costs."""
    return float(np.log(model.state.chain.tokens[STM]))


# ---------------------------------------------------------------- from what was trained


def string_of(words: EncodedWords, table: StringTable, entry: int) -> str:
    """An entry of a table of strings as characters."""
    return words.string(int(table.start[entry]), int(table.length[entry]))


def _sorted_morphs(words: EncodedWords, table: StringTable, used: Array) -> tuple[tuple[str, ...], Array]:
    """The morphs as characters in alphabetical order, and their entries."""
    forms = [string_of(words, table, entry) for entry in used.tolist()]
    order = sorted(range(len(forms)), key=forms.__getitem__)
    return tuple(forms[i] for i in order), used[order]


def paths_of_categories(model: CategoryModel) -> PathModel:
    """The chain that was trained, without non-morphemes."""
    count = model.state.morphs.count
    forms, entries = _sorted_morphs(model.words, model.state.table, np.flatnonzero(count > 0))
    emissions = model.emissions()[entries]
    emissions[:, ZZZ] = NEVER
    return PathModel(forms, count[entries], emissions, model.state.chain.costs.copy(), _new_stem(model))


def paths_of_baseline(words: EncodedWords, morphs: WordMorphs) -> PathModel:
    """The baseline as a chain with one category: every morph and the word's end are drawn from one distribution."""
    mask = used_slots(words.bounds, morphs.sizes)
    count = np.bincount(morphs.morphs[mask], np.repeat(words.counts, morphs.sizes))
    forms, entries = _sorted_morphs(words, morphs.table, np.flatnonzero(count))
    total = float(count.sum() + words.counts.sum())
    emissions = np.full((len(forms), CATEGORIES), NEVER)
    emissions[:, STM] = np.log(total / count[entries])
    transitions = np.full((CATEGORIES + 1, CATEGORIES + 1), NEVER)
    transitions[EDGE, STM] = transitions[STM, STM] = 0.0
    transitions[STM, EDGE] = np.log(total / float(words.counts.sum()))
    return PathModel(forms, count[entries].astype(np.int64), emissions, transitions, float(np.log(total)))
