"""Sums over shards along a fixed binary tree.

The gradient of a *shared row* is the sum of what several shards found. Which of them are added first is decided by
their numbers alone: 0 and 1, 2 and 3, ..., then (0, 1) and (2, 3), and so on. Shards that have nothing are left out. So
the sum has the same bits wherever the shards are, and whoever adds them up.
"""

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import compiled, inlined, update_row
from morphlm.logbilinear.kernels.records import AdaGrad

NOWHERE = -1  # in place of a row: there is none


@inlined
def reduce_row(at: Array, first: int, last: int, sums: Array) -> None:
    """Add up the rows at[s] of shards first .. last - 1, as far as whole subtrees of theirs go.

    The sum of a subtree is then at its first shard, and the rows that were added to others are 0.
    """
    stride = 1
    while stride < len(at):
        for left in range(0, len(at), 2 * stride):
            right = left + stride
            if left < first or left + 2 * stride > last or at[right] == NOWHERE:
                continue
            if at[left] == NOWHERE:
                at[left] = at[right]
            else:
                into, added = at[left], at[right]
                for k in range(sums.shape[1]):
                    sums[into, k] += sums[added, k]
                    sums[added, k] = 0
            at[right] = NOWHERE
        stride *= 2


@compiled
def reduce_rows(begin: int, end: int, first: int, last: int, at: Array, sums: Array) -> None:
    """`reduce_row` for the shared rows begin .. end - 1."""
    for x in range(begin, end):
        reduce_row(at[x], first, last, sums)


@compiled
def update_reduced(begin: int, end: int, chosen: Array, at: Array, sums: Array, rows: Array, table: AdaGrad) -> None:
    """AdaGrad on the shared rows chosen[begin .. end - 1], whose sums are 0 afterwards.

    A gradient that is 0 throughout belongs to a row that nothing has touched; it is left as it is.
    """
    shards = at.shape[1]
    for i in range(begin, end):
        x = chosen[i]
        reduce_row(at[x], 0, shards, sums)
        if at[x, 0] == NOWHERE:
            continue
        gradient = sums[at[x, 0]]
        is_touched = False
        for k in range(gradient.size):
            is_touched |= gradient[k] != 0
        if is_touched:
            update_row(table, rows[x], gradient)
            for k in range(gradient.size):
                gradient[k] = 0


@compiled
def take_rows(begin: int, end: int, rows: Array, table: Array, out: Array, clears: bool) -> None:
    """out[i] = table[rows[i]]; with `clears` these rows are 0 afterwards."""
    for i in range(begin, end):
        for k in range(table.shape[1]):
            out[i, k] = table[rows[i], k]
            if clears:
                table[rows[i], k] = 0


@compiled
def put_rows(begin: int, end: int, rows: Array, values: Array, table: Array) -> None:
    """table[rows[i]] = values[i]."""
    for i in range(begin, end):
        for k in range(table.shape[1]):
            table[rows[i], k] = values[i, k]
