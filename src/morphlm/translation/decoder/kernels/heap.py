"""Heaps of numbered things by their scores, equal ones in order of the numbers: results are always the same."""

from morphlm.arrays import Array
from morphlm.compiling import inlined
from morphlm.translation.decoder.kernels.records import Int


@inlined
def is_before(scores: Array, a: Int, b: Int) -> bool:
    """The higher score first, then what was there first."""
    return bool(scores[a] > scores[b] or (scores[a] == scores[b] and a < b))


@inlined
def heap_push(heap: Array, size: Int, scores: Array, new: Int) -> None:
    """Add an entry to a heap of `size` entries."""
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if not is_before(scores, new, heap[parent]):
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = new


@inlined
def heap_pop(heap: Array, size: Int, scores: Array) -> Int:
    """Take the first entry out of a heap of `size` entries."""
    result, last = heap[0], heap[size - 1]
    at, end = 0, size - 1
    while True:
        child = 2 * at + 1
        if child >= end:
            break
        if child + 1 < end and is_before(scores, heap[child + 1], heap[child]):
            child += 1
        if not is_before(scores, heap[child], last):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return result


@inlined
def best_first(scores: Array, count: Int, heap: Array, order: Array) -> None:
    """The first numbers in order of their scores. `heap` is space."""
    for i in range(count):
        heap_push(heap, i, scores, i)
    for i in range(count):
        order[i] = heap_pop(heap, count - i, scores)
