"""Search under a constraint: the translation begins with given words (a prefix) or is given as a whole (forced).

The derivations are those of the search without a constraint, less those that give other words. Each span has a cell for
each part of the given words that it may cover, with hypotheses of its own, so that what the constraint allows does not
compete with what it forbids. In a forced search all hypotheses of a cell have the same words: nothing is pruned, and
the score is the best of all derivations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from morphlm.arguments import check_words
from morphlm.arrays import Array, Int32Array
from morphlm.display import dataclass_repr
from morphlm.errors import InputError
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.decoder.kbest import target_sides
from morphlm.translation.decoder.kernels.constraints import (
    Automaton,
    ConstrainedCubes,
    SpanStates,
    TargetSides,
    constrain_cubes,
)
from morphlm.translation.decoder.kernels.records import NONE, Cells, Cubes, RuleArrays
from morphlm.translation.decoder.models import Caches
from morphlm.translation.decoder.search import Chart, ChartSearch
from morphlm.translation.decoder.sentence_grammar import SentenceGrammar

LONGEST = 1000  # words of a constraint: the automaton has an entry for each and every word of the rules


@dataclass(frozen=True)
class Constraint:
    """Words with which a translation begins, or of which it consists."""

    words: tuple[str, ...]
    is_whole: bool = False  # no other words follow
    is_incomplete: bool = False  # the last of them is the beginning of a word

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        check_words(self.words)
        if len(self.words) > LONGEST:
            raise InputError(f"a constraint of {len(self.words):,} words; {LONGEST:,} are the most, shorten it")

    def automaton(self, vocabulary: Sequence[str]) -> Automaton:
        """With the numbers of words in a vocabulary."""
        number_of = {word: number for number, word in enumerate(vocabulary)}
        allowed = np.zeros((len(self.words), max(len(vocabulary), 1)), np.bool_)
        for state, word in enumerate(self.words):
            if self.is_incomplete and state == len(self.words) - 1:
                allowed[state, [number for other, number in number_of.items() if other.startswith(word)]] = True
            elif word in number_of:
                allowed[state, number_of[word]] = True
        return Automaton(allowed, not self.is_whole)


def search_constrained(
    grammar: SentenceGrammar, config: DecoderConfig, caches: Caches, constraint: Constraint
) -> Chart | None:
    """Decode a sentence under a constraint; None if no derivation meets it."""
    if constraint.is_whole:  # all hypotheses of a cell have the same words, so there are few
        config = replace(config, pop_limit=0)
    return _ConstrainedSearch(grammar, config, caches, constraint).run_constrained()


class _ConstrainedSearch(ChartSearch):
    """Cells are numbered as they are filled: spans of X by their states, then S by its end and state, then the goal."""

    def __init__(self, grammar: SentenceGrammar, config: DecoderConfig, caches: Caches, constraint: Constraint) -> None:
        super().__init__(grammar, config, caches)
        vocabulary, starts, symbols = target_sides(grammar)
        self.targets = TargetSides(starts, symbols)
        self.automaton = constraint.automaton(vocabulary)
        self.last_state = len(constraint.words)
        self.first_single = len(grammar.arrays.group_starts) - 1
        self.rules = _with_single_groups(grammar.arrays)
        spans = self.words * self.widest
        self.filled = Cells(np.zeros(spans + 1, np.int64), np.zeros(spans + 1, np.int64))  # spans with any translation
        empty = np.zeros(0, np.int32)
        self.states = SpanStates(np.zeros(spans + 1, np.int64), np.zeros(spans + 1, np.int64), empty, empty, empty)
        self.sentence_cells: list[dict[int, int]] = [{} for _ in range(self.words + 1)]  # of S: state -> cell
        self.plain_cells: list[int] = []  # which cell of a search without a constraint each is a part of

    def run_constrained(self) -> Chart | None:
        first_s = self.words * self.widest
        self.sentence_cells[0][0] = self._new_cell(first_s)
        self._begin_at(0)
        self._spans()
        self._glue()
        whole = self.sentence_cells[self.words].get(self.last_state)
        if whole is None:
            return None
        goal = self._new_cell(first_s + self.words + 1)
        group = self.grammar.group_of(self.grammar.goal)
        cubes = Cubes(np.array([goal], np.int32), np.array([group], np.int32), np.array([[whole, NONE]], np.int32))
        self._round(cubes, is_last=True)
        self.nodes.cell[: self.used_nodes] = np.array(self.plain_cells, np.int32)[self.nodes.cell[: self.used_nodes]]
        return self._chart()

    def _new_cell(self, plain: int) -> int:
        self.plain_cells.append(plain)
        number = len(self.plain_cells) - 1
        if number >= len(self.cells.begins):
            more = np.zeros(len(self.cells.begins) + 64, np.int64)
            self.cells = Cells(*(np.concatenate([array, more]) for array in self.cells))
        return number

    def _spans(self) -> None:
        for plain in self._cubes_by_width(self.filled):
            cubes, count = constrain_cubes(
                self.automaton, plain, self.rules, self.first_single, self.targets, self.states, _no_cubes()
            )
            self._round(self._numbered(ConstrainedCubes(*(array[:count] for array in cubes))))

    def _numbered(self, cubes: ConstrainedCubes) -> Cubes:
        """Give cells numbers, in the order of spans and states, and note which spans they belong to."""
        order = np.lexsort((cubes.after, cubes.before, cubes.span))  # stable: cubes of a cell stay in their order
        span, before, after = (array[order] for array in (cubes.span, cubes.before, cubes.after))
        is_new = np.ones(len(order), bool)
        is_new[1:] = (np.diff(span) != 0) | (np.diff(before) != 0) | (np.diff(after) != 0)
        first = len(self.plain_cells)
        for plain in span[is_new].tolist():
            self._new_cell(plain)
        cells = (first + np.cumsum(is_new) - 1).astype(np.int32)
        self._add_states(span[is_new], before[is_new], after[is_new], cells[is_new])
        return Cubes(cells, cubes.group[order], np.ascontiguousarray(cubes.tails[order]))

    def _add_states(self, span: Int32Array, before: Int32Array, after: Int32Array, cells: Int32Array) -> None:
        states, first = self.states, len(self.states.cell)
        spans = np.unique(span)
        states.begins[spans] = first + np.searchsorted(span, spans)
        states.ends[spans] = first + np.searchsorted(span, spans, side="right")
        self.filled.ends[spans] = 1
        self.states = states._replace(
            before=np.concatenate([states.before, before]),
            after=np.concatenate([states.after, after]),
            cell=np.concatenate([states.cell, cells]),
        )

    def _glue(self) -> None:
        """S over the first words in each state: S over fewer of them in an earlier one, and X over the rest."""
        groups = self.grammar.group_of(self.grammar.first_glue), self.grammar.group_of(self.grammar.glue)
        first_s = self.words * self.widest
        for end in range(1, self.words + 1):
            found: dict[int, list[tuple[int, int, int]]] = {}  # state -> groups with their tails
            for width in range(min(self.widest, end), 0, -1):
                span = (end - width) * self.widest + width - 1
                earlier = self.sentence_cells[end - width]
                for k in range(int(self.states.begins[span]), int(self.states.ends[span])):
                    if (cell := earlier.get(int(self.states.before[k]))) is not None:
                        tails = cell, int(self.states.cell[k])
                        found.setdefault(int(self.states.after[k]), []).append((groups[width < end], *tails))
            rows = []
            for state in sorted(found):
                self.sentence_cells[end][state] = cell = self._new_cell(first_s + end)
                rows += [(cell, *row) for row in found[state]]
            table = np.array(rows, np.int32).reshape(-1, 4)
            columns = (np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1]))
            self._round(Cubes(*columns, np.ascontiguousarray(table[:, 2:])))


def _no_cubes() -> ConstrainedCubes:
    def column(*shape: int) -> Array:
        return np.empty(shape, np.int32)

    return ConstrainedCubes(column(64), column(64), column(64), column(64), column(64, 2))


def _with_single_groups(rules: RuleArrays) -> RuleArrays:
    """The same rules, and groups of each of them alone after the others."""
    single = np.arange(len(rules.starts) - 1)
    starts = np.concatenate([rules.group_starts, rules.group_starts[-1] + 1 + single])
    group_rules = np.concatenate([rules.group_rules, single])
    return rules._replace(group_starts=starts.astype(np.int64), group_rules=group_rules.astype(np.int32))
