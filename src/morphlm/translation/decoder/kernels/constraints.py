"""Cubes of a search whose translations must begin with given words: each span has a cell for each part of these.

State s says that s of the m words have been seen. A partial translation leads from a state to a later one; in state m
any words may follow (a prefix), or none (a whole translation). A rule with its gaps filled so is a cube of its own,
while in state m, where all is as without a constraint, the rules of a source side stay together.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import inlined, owning
from morphlm.translation.decoder.kernels.records import FIRST_GAP, NONE, Cubes, Int, RuleArrays, grown_to


class Automaton(NamedTuple):
    """The words that must come, as an automaton of m + 1 states."""

    allowed: Array  # bool (m, words): whether a word may be number s + 1
    is_free: bool  # whether any words may follow all of them


class SpanStates(NamedTuple):
    """The cells of spans, by the states that they lead from and to; those of a span stand together."""

    begins: Array  # int64 (spans,)
    ends: Array
    before: Array  # int32: the state at the left end
    after: Array  # int32: and at the right end
    cell: Array  # int32


class ConstrainedCubes(NamedTuple):
    """Cubes before their cells have numbers."""

    span: Array  # int32: of the result
    before: Array  # int32
    after: Array  # int32
    group: Array  # int32
    tails: Array  # int32 (., 2): cells


class TargetSides(NamedTuple):
    """The target sides of all rules in words that differ, also where the models take them as the same."""

    starts: Array  # int64 (R + 1,)
    symbols: Array  # int32: word, or FIRST_GAP, SECOND_GAP


@owning
def cubes_grown_to(cubes: ConstrainedCubes, needed: Int) -> ConstrainedCubes:
    """The same cubes; at least as many rows as needed."""
    if needed <= len(cubes.span):
        return cubes
    return ConstrainedCubes(
        grown_to(cubes.span, needed),
        grown_to(cubes.before, needed),
        grown_to(cubes.after, needed),
        grown_to(cubes.group, needed),
        grown_to(cubes.tails, needed),
    )


@inlined
def state_after(automaton: Automaton, state: Int, word: Int) -> Int:
    """The state after a word, or NONE."""
    words = len(automaton.allowed)
    if state == words:
        return words if automaton.is_free else NONE
    return state + 1 if automaton.allowed[state, word] else NONE


@inlined
def put_cube(
    cubes: ConstrainedCubes, used: Int, span: Int, before: Int, after: Int, group: Int, first: Int, second: Int
) -> None:
    """Write a row."""
    cubes.span[used], cubes.before[used], cubes.after[used], cubes.group[used] = span, before, after, group
    cubes.tails[used, 0], cubes.tails[used, 1] = first, second


@inlined
def end_of_words(automaton: Automaton, targets: TargetSides, position: Int, end: Int, state: Int) -> tuple[Int, Int]:
    """Follow words up to a gap or the end of the rule: where that is, and the state there, or NONE."""
    while position < end and targets.symbols[position] >= 0 and state != NONE:
        state = state_after(automaton, state, targets.symbols[position])
        position += 1
    return position, state


@owning
def cover_rule(
    automaton: Automaton,
    targets: TargetSides,
    rule: Int,
    group: Int,
    span: Int,
    tails: Array,
    states: SpanStates,
    before: Int,
    cubes: ConstrainedCubes,
    used: Int,
) -> tuple[ConstrainedCubes, Int]:
    """Add the cubes of a rule from a state on: one for each way in which its gaps lead to states."""
    end = targets.starts[rule + 1]
    position, state = end_of_words(automaton, targets, targets.starts[rule], end, before)
    if state == NONE:
        return cubes, used
    if position == end:
        cubes = cubes_grown_to(cubes, used + 1)
        put_cube(cubes, used, span, before, state, group, NONE, NONE)
        return cubes, used + 1
    is_second = np.int64(targets.symbols[position] != FIRST_GAP)
    gap = tails[is_second]
    for k in range(states.begins[gap], states.ends[gap]):
        if states.before[k] != state:
            continue
        middle, reached = end_of_words(automaton, targets, position + 1, end, np.int64(states.after[k]))
        if reached == NONE:
            continue
        if middle == end:
            cubes = cubes_grown_to(cubes, used + 1)
            cell = np.int64(states.cell[k])
            put_cube(
                cubes, used, span, before, reached, group, NONE if is_second else cell, cell if is_second else NONE
            )
            used += 1
            continue
        other = tails[1 - is_second]
        for n in range(states.begins[other], states.ends[other]):
            if states.before[n] != reached:
                continue
            _, last = end_of_words(automaton, targets, middle + 1, end, np.int64(states.after[n]))
            if last != NONE:
                cubes = cubes_grown_to(cubes, used + 1)
                one, two = np.int64(states.cell[k]), np.int64(states.cell[n])
                put_cube(cubes, used, span, before, last, group, two if is_second else one, one if is_second else two)
                used += 1
    return cubes, used


@inlined
def free_cell(states: SpanStates, span: Int, words: Int) -> Int:
    """The cell of a span that lies behind all words that must come, or NONE."""
    for k in range(states.begins[span], states.ends[span]):
        if states.before[k] == words:
            return np.int64(states.cell[k])
    return NONE


@owning
def constrain_cubes(
    automaton: Automaton,
    plain: Cubes,
    rules: RuleArrays,
    first_single: Int,
    targets: TargetSides,
    states: SpanStates,
    cubes: ConstrainedCubes,
) -> tuple[ConstrainedCubes, Int]:
    """The cubes of spans in all states that they may begin in; `first_single` is the group of the first rule alone."""
    used, words = np.int64(0), len(automaton.allowed)
    for cube in range(len(plain.cell)):
        span, group, tails = np.int64(plain.cell[cube]), np.int64(plain.group[cube]), plain.tails[cube]
        for k in range(rules.group_starts[group], rules.group_starts[group + 1]):
            rule = np.int64(rules.group_rules[k])
            for before in range(words):
                single = first_single + rule
                cubes, used = cover_rule(
                    automaton, targets, rule, single, span, tails, states, np.int64(before), cubes, used
                )
        if automaton.is_free:
            first = NONE if tails[0] == NONE else free_cell(states, tails[0], words)
            second = NONE if tails[1] == NONE else free_cell(states, tails[1], words)
            if (tails[0] == NONE or first != NONE) and (tails[1] == NONE or second != NONE):
                cubes = cubes_grown_to(cubes, used + 1)
                put_cube(cubes, used, span, words, words, group, first, second)
                used += 1
    return cubes, used
