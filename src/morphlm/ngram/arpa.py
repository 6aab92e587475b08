"""ARPA files in and out. Numbers in the file are decimal logarithms, ours are natural ones."""

from __future__ import annotations

import re
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from morphlm.arrays import BoolArray, Float32Array, Int32Array, Int64Array
from morphlm.errors import FormatError, InputError
from morphlm.files import atomic_writer, source_name
from morphlm.ngram import kernels
from morphlm.ngram.counting import MAX_ORDER
from morphlm.ngram.trie import NgramTrie, check_number_of_nodes
from morphlm.progress import progress_bar
from morphlm.tables import counted
from morphlm.text.reading import END, RESERVED, UNKNOWN, numbered_lines, parse_number, split_tokens
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, Vocabulary

LN10 = np.log(10.0)
_BUFFER_BYTES = 1 << 22
_COUNT = re.compile(r"ngram\s+(\d{1,4})\s*=\s*(\d{1,18})", re.ASCII)
MAX_NGRAMS = 2**31
LARGEST_BACKOFF = 1000  # log10; back-offs of a context add up, and ln p must stay a number that can be written

NgramRows = Int32Array  # (n-grams of one order, n) word ids


# ---------------------------------------------------------------- out


def write_arpa(path: str | Path, trie: NgramTrie, vocabulary: Vocabulary) -> None:
    """Write the model in ARPA format, compressed if the name says so."""
    forms = np.frombuffer("".join(vocabulary.words).encode(), np.uint8)
    lengths = np.array([len(word.encode()) for word in vocabulary.words], np.int64)
    form_starts = np.concatenate([[0], np.cumsum(lengths)])
    starts = np.concatenate([[0], np.cumsum(trie.sizes)])
    longest = int(lengths.max())
    buffer = np.empty(max(_BUFFER_BYTES, 4 * trie.order * (longest + 64)), np.uint8)
    source = kernels.ArpaSource(
        trie.first_child, trie.words, trie.logprob, trie.backoff, forms, form_starts, longest
    )  # fmt: skip
    with atomic_writer(path) as file, progress_bar("writing ARPA", int(starts[-1]), "n-gram") as bar:
        counts = "".join(f"ngram {n}={size}\n" for n, size in enumerate(trie.sizes, 1))
        file.write(f"\\data\\\n{counts}".encode())
        for n in range(1, trie.order + 1):
            file.write(f"\n\\{n}-grams:\n".encode())
            node, end = int(starts[n - 1]), int(starts[n])
            ancestors = starts[:n].copy()
            while node < end:
                used, following = kernels.write_arpa_lines(buffer, node, end, ancestors, source)
                file.write(buffer[:used].tobytes())
                bar.update(following - node)
                node = following
        file.write(b"\n\\end\\\n")


# ---------------------------------------------------------------- in


class _Lines:
    """The lines of a file with their numbers, and errors that name them."""

    def __init__(self, path: str | Path) -> None:
        self.source, self.number = source_name(path), 0
        self._lines = numbered_lines(path)

    def next(self) -> str:
        """The next line; it must exist."""
        self.number, line = next(self._lines, (self.number + 1, None))
        if line is None:
            raise self.error("the file ends before \\end\\; fetch or make it again")
        return line

    def next_filled(self) -> str:
        """The next line that is not blank."""
        while not (line := self.next().strip()):
            pass
        return line

    def skip_to_data(self) -> None:
        """Pass over what stands before \\data\\: comments."""
        for number, line in self._lines:
            self.number = number
            if line.strip() == "\\data\\":
                return
        what = "this is no model: no folder with one, and no ARPA file, which has a line \\data\\; name a model"
        raise InputError(what, source=self.source)

    def error(self, message: str) -> InputError:
        return InputError(message, source=self.source, line=self.number)


def read_arpa(path: str | Path) -> tuple[NgramTrie, Vocabulary]:
    """Read an ARPA file of any order. n-grams whose context or suffix is missing (pruned models) are completed."""
    lines = _Lines(path)
    lines.skip_to_data()
    sizes = _read_sizes(lines)
    ids: dict[str, int] = {mark: number for number, mark in enumerate(RESERVED)}
    orders = []
    with progress_bar("reading ARPA", sum(sizes), "n-gram") as bar:
        for n, size in enumerate(sizes, 1):
            orders.append(_read_order(lines, n, size, n == len(sizes), ids))
            bar.update(size)
    if lines.next_filled() != "\\end\\":
        raise lines.error("\\end\\ expected here, is there an n-gram more than the header says? correct the header")
    if not np.isfinite(orders[0][1][orders[0][0][:, 0] == END_ID]).any():
        raise lines.error(f"the unigram {END} is missing, without which no sentence ends; make the model again")
    vocabulary = Vocabulary(tuple(ids), np.zeros(len(ids), np.int64))
    return build_trie(_with_all_unigrams(orders, len(ids))), vocabulary


def _read_sizes(lines: _Lines) -> list[int]:
    """The `ngram N=SIZE` lines and the title of the unigrams after them."""
    sizes: list[int] = []
    while (line := lines.next_filled()) != "\\1-grams:":
        match = _COUNT.fullmatch(line)
        if match is None or int(match[1]) != len(sizes) + 1 or int(match[2]) >= MAX_NGRAMS:
            raise lines.error(f"`ngram {len(sizes) + 1}=NUMBER` or \\1-grams: expected here; correct the header")
        sizes.append(int(match[2]))
        if len(sizes) > MAX_ORDER:
            raise lines.error(f"n-grams of more than {MAX_ORDER} words cannot be used; take a lower order")
    if not sizes:
        raise lines.error("the header names no order; `ngram 1=NUMBER` is missing")
    return sizes


_Order = tuple[NgramRows, Float32Array, Float32Array]  # words, ln p, ln back-off


def _read_order(lines: _Lines, n: int, size: int, highest: bool, ids: dict[str, int]) -> _Order:
    if n > 1 and lines.next_filled() != f"\\{n}-grams:":
        raise lines.error(f"\\{n}-grams: expected here; does the header give the right number of {n - 1}-grams?")
    logprobs, backoffs, words = array("d"), array("d"), array("i")
    with_backoff = n + 1 if highest else n + 2
    for _ in range(size):
        fields = split_tokens(lines.next())
        if not n + 1 <= len(fields) <= with_backoff:
            shape = f"`log10(p) {counted(n, 'word')}" + ("`" if highest else " [log10(back-off)]`")
            raise lines.error(
                f"this has {len(fields)} fields, but a {n}-gram line is {shape}; correct it or the header"
            )
        try:
            logprobs.append(parse_number(fields[0]))
            backoffs.append(parse_number(fields[n + 1]) if len(fields) == n + 2 else 0.0)
            if n == 1:
                words.append(_word_id(fields[1], ids))
            else:
                words.extend([ids[word] for word in fields[1 : n + 1]])
        except ValueError:
            raise lines.error("the probability or the back-off is not a number; correct it") from None
        except KeyError as error:
            raise lines.error(f"{error.args[0]} is not among the unigrams; add it there") from None
        if not (logprobs[-1] <= 0 and abs(backoffs[-1]) <= LARGEST_BACKOFF):
            raise lines.error(f"a log-probability is at most 0, a back-off at most {LARGEST_BACKOFF}; correct it")
    values = np.array(logprobs)
    values[values <= -99] = -np.inf  # the convention for what is never predicted
    rows = np.array(words, np.int32).reshape(size, n)
    return rows, (values * LN10).astype(np.float32), (np.array(backoffs) * LN10).astype(np.float32)


def _word_id(word: str, ids: dict[str, int]) -> int:
    """The id of a unigram; SRILM writes <unk> in either case."""
    return ids.setdefault(UNKNOWN if word == UNKNOWN.upper() else word, len(ids))


def _with_all_unigrams(orders: list[_Order], vocabulary_size: int) -> list[_Order]:
    """Unigrams in order of word ids; marks the file does not have get probability 0, as BEGIN always does."""
    rows, logprob, backoff = _sorted(*orders[0])
    all_logprob = np.full(vocabulary_size, -np.inf, np.float32)
    all_backoff = np.zeros(vocabulary_size, np.float32)
    all_logprob[rows[:, 0]] = logprob
    all_backoff[rows[:, 0]] = backoff
    all_logprob[BEGIN_ID] = -np.inf
    words = np.arange(vocabulary_size, dtype=np.int32)[:, None]
    return [(words, all_logprob, all_backoff), *orders[1:]]


def build_trie(orders: list[_Order]) -> NgramTrie:
    """Sort the n-grams of each order, add the contexts and suffixes that others need, and link them."""
    orders = _complete(orders)
    sizes = tuple(len(rows) for rows, _, _ in orders)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    check_number_of_nodes(int(starts[-1]))
    suffix = [np.full(sizes[0], kernels.ROOT, np.int64)]
    first_child: list[Int64Array] = []
    for n in range(1, len(orders)):
        rows, shorter = orders[n][0], orders[n - 1][0]
        contexts = _locate(rows[:, :-1], shorter)
        first_child.append(starts[n] + np.searchsorted(contexts, np.arange(sizes[n - 1])))
        suffix.append(starts[n - 1] + _locate(rows[:, 1:], shorter))
    trie = NgramTrie(
        sizes=sizes,
        words=np.concatenate([rows[:, -1] for rows, _, _ in orders]),
        logprob=np.concatenate([logprob for _, logprob, _ in orders]),
        suffix=np.concatenate(suffix).astype(np.int32),
        backoff=np.concatenate([np.zeros(0, np.float32), *(backoff for _, _, backoff in orders[:-1])]),
        first_child=np.concatenate([*first_child, [starts[-1]]]).astype(np.int64),
    )
    return _fill_completed(trie, orders, starts)


def _complete(orders: list[_Order]) -> list[_Order]:
    """Sorted orders in which each n-gram's context and suffix exist; those that are added have a NaN for ln p."""
    completed = [_sorted(*orders[-1])]
    for rows, logprob, backoff in reversed(orders[:-1]):
        longer = completed[0][0]
        needed = np.unique(np.concatenate([longer[:, :-1], longer[:, 1:]]), axis=0)
        missing = needed[~_contains(rows, needed)]
        completed.insert(
            0,
            _sorted(
                np.concatenate([rows, missing]),
                np.concatenate([logprob, np.full(len(missing), np.nan, np.float32)]),
                np.concatenate([backoff, np.zeros(len(missing), np.float32)]),
            ),
        )
    return completed


def _sorted(rows: NgramRows, logprob: Float32Array, backoff: Float32Array) -> _Order:
    order = np.lexsort(rows.T[::-1])
    if (np.diff(rows[order], axis=0) == 0).all(axis=1).any():
        raise FormatError(f"the model has a {rows.shape[1]}-gram twice; remove one of them or make the model again")
    return rows[order], logprob[order], backoff[order]


def _as_keys(rows: NgramRows) -> NDArray[np.void]:
    """Rows of n-grams as single values that sort like the rows: big-endian bytes."""
    return np.ascontiguousarray(rows.astype(">u4")).view(np.dtype((np.void, 4 * rows.shape[1]))).ravel()


def _locate(rows: NgramRows, among: NgramRows) -> Int64Array:
    """The index of each row in a sorted table that has them all."""
    return np.searchsorted(_as_keys(among), _as_keys(rows)).astype(np.int64)


def _contains(table: NgramRows, rows: NgramRows) -> BoolArray:
    return np.isin(_as_keys(rows), _as_keys(table))


def _fill_completed(trie: NgramTrie, orders: list[_Order], starts: Int64Array) -> NgramTrie:
    """Give the added n-grams the probability that backing off gives: ln b(context) + ln p(suffix)."""
    for n in range(1, trie.order):
        rows, logprob, _ = orders[n]
        added = np.flatnonzero(np.isnan(logprob))
        contexts = starts[n - 1] + _locate(rows[added, :-1], orders[n - 1][0])
        nodes = starts[n] + added
        trie.logprob[nodes] = trie.backoff[contexts] + trie.logprob[trie.suffix[nodes]]
    return trie
