"""Reading ARPA files. Lines are parsed by compiled code; whatever is unusual in one is left to plain Python."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator
from pathlib import Path
from typing import cast

import numpy as np

from morphlm.arrays import Float64Array, Int32Array
from morphlm.errors import InputError
from morphlm.files import source_name
from morphlm.ngram.arpa import kernels
from morphlm.ngram.arpa.linking import Ngrams, build_trie, hash_table
from morphlm.ngram.counting import MAX_ORDER
from morphlm.ngram.trie import NgramTrie
from morphlm.progress import progress_bar
from morphlm.tables import counted
from morphlm.text.reading import END, RESERVED, UNKNOWN, Block, parse_number, read_blocks, split_tokens
from morphlm.vocabulary.vocabulary import END_ID, Vocabulary

LN10 = np.log(10.0)
_COUNT = re.compile(r"ngram\s+(\d{1,4})\s*=\s*(\d{1,18})", re.ASCII)
MAX_NGRAMS = 2**31
_OTHER_UNKNOWN = UNKNOWN.upper()
LARGEST_BACKOFF = 1000  # log10; back-offs of a context add up, and ln p must stay a number that can be written


def read_arpa(path: str | Path) -> tuple[NgramTrie, Vocabulary]:
    """Read an ARPA file of any order. n-grams whose context or suffix is missing (pruned models) are completed."""
    words = _Words()
    with contextlib.closing(_Lines(path)) as lines:
        orders = _read_orders(lines, words)
    vocabulary = Vocabulary(tuple(words.ids), np.zeros(len(words.ids), np.int64))
    return build_trie(orders, len(vocabulary)), vocabulary


def _read_orders(lines: _Lines, words: _Words) -> list[Ngrams]:
    lines.skip_to_data()
    sizes = _read_sizes(lines)
    orders = []
    with progress_bar("reading ARPA", sum(sizes), "n-gram") as bar:
        for n, size in enumerate(sizes, 1):
            orders.append(_read_order(lines, n, size, n == len(sizes), words))
            bar.update(size)
    if lines.next_filled() != "\\end\\":
        raise lines.error("\\end\\ expected here, is there an n-gram more than the header says? correct the header")
    unigrams = orders[0]
    if not np.isfinite(unigrams.logprob[unigrams.words[:, 0] == END_ID]).any():
        raise lines.error(f"the unigram {END} is missing, without which no sentence ends; make the model again")
    return orders


# ---------------------------------------------------------------- lines and words


class _Lines:
    """The lines of a file, one by one or many n-grams at once; errors name the line."""

    def __init__(self, path: str | Path) -> None:
        self.source, self.number = source_name(path), 0  # the number of the line that was read last
        self._blocks = cast(Generator[Block, None, None], read_blocks(path, marks="any"))
        self.data, self.at = b"", 0  # whole lines, and where the next one begins

    def close(self) -> None:
        self._blocks.close()

    def has_next(self) -> bool:
        """Whether there is another line, which `data` then holds."""
        if self.at == len(self.data):
            block = next(self._blocks, None)
            self.data, self.at = b"" if block is None else block.data, 0
        return bool(self.data)

    def next(self) -> str:
        """The next line; it must exist."""
        self.number += 1
        if not self.has_next():
            raise self.error("the file ends before \\end\\; fetch or make it again")
        begin, end = self.at, self.data.index(b"\n", self.at)
        self.at = end + 1
        return self.data[begin:end].decode()

    def next_filled(self) -> str:
        """The next line that is not blank."""
        while not (line := self.next().strip()):
            pass
        return line

    def skip_to_data(self) -> None:
        """Pass over what stands before \\data\\: comments."""
        while self.has_next():
            if self.next().strip() == "\\data\\":
                return
        what = "this is no model: no folder with one, and no ARPA file, which has a line \\data\\; name a model"
        raise InputError(what, source=self.source)

    def error(self, message: str) -> InputError:
        return InputError(message, source=self.source, line=self.number)


class _Words:
    """The words of the unigrams with their ids, and a table of them for compiled code."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {mark: number for number, mark in enumerate(RESERVED)}
        self._table: kernels.WordTable | None = None

    def add(self, words: list[str]) -> list[int]:
        """The ids of unigrams; SRILM writes <unk> in either case."""
        ids = self.ids
        return [ids.setdefault(UNKNOWN if word == _OTHER_UNKNOWN else word, len(ids)) for word in words]

    @property
    def table(self) -> kernels.WordTable:
        """Made when the unigrams have been read."""
        if self._table is None:
            forms = np.frombuffer("\n".join([*self.ids, ""]).encode(), np.uint8)
            starts = np.concatenate([[0], np.flatnonzero(forms == kernels.NEWLINE) + 1])
            self._table = kernels.WordTable(forms, starts, *hash_table(len(self.ids), np.int64))
            kernels.fill_word_table(self._table)
        return self._table


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


# ---------------------------------------------------------------- n-grams


def _read_order(lines: _Lines, n: int, size: int, highest: bool, words: _Words) -> Ngrams:
    if n > 1 and lines.next_filled() != f"\\{n}-grams:":
        raise lines.error(f"\\{n}-grams: expected here; does the header give the right number of {n - 1}-grams?")
    parts = [_empty_part(0, n)]
    left = size
    while left:
        parts.append(_read_part(lines, n, left, highest, words))
        left -= len(parts[-1][0])
    rows, logprobs, backoffs = map(np.concatenate, zip(*parts, strict=True))
    logprobs[logprobs <= -99] = -np.inf  # the convention for what is never predicted
    return Ngrams(rows, (logprobs * LN10).astype(np.float32), (backoffs * LN10).astype(np.float32))


_Part = tuple[Int32Array, Float64Array, Float64Array]  # word ids (rows, n), log10(p), log10(back-off)


def _empty_part(rows: int, n: int) -> _Part:
    return np.empty((rows, n), np.int32), np.empty(rows), np.empty(rows)


def _read_part(lines: _Lines, n: int, most: int, highest: bool, words: _Words) -> _Part:
    """At most so many n-grams: those of the block that is being read."""
    if not lines.has_next():
        lines.next()  # which says what is wrong
    block, begin = lines.data, lines.at
    shortest = 2 * (n + 1)  # bytes of a line
    ids, logprobs, backoffs = _empty_part(min(most, 1 + (len(block) - begin) // shortest), n)
    spans = np.empty((len(ids), n, 2), np.int32)
    data, most_fields = np.frombuffer(block, np.uint8), n + 1 if highest else n + 2
    rows, end = kernels.parse_ngrams(data, begin, n, most_fields, logprobs, backoffs, spans)
    known = rows
    if n == 1:
        forms = b"\n".join([block[first:last] for first, last in spans[:rows, 0].tolist()])
        ids[:rows, 0] = words.add(forms.decode().split("\n")[:rows])
    else:
        known = kernels.find_words(data, spans[:rows], words.table, ids[:rows])
    # Lines with numbers that are not plain or out of range, and the first with another word or too few or many fields.
    is_plain = (logprobs[:known] <= 0) & (np.abs(backoffs[:known]) <= LARGEST_BACKOFF)
    is_refused = known < rows or (rows < len(ids) and end < len(block))
    unusual = np.flatnonzero(~is_plain).tolist() + [known] * is_refused
    number = lines.number
    for row in unusual:
        lines.number = number + row
        lines.at = block.rfind(b"\n", 0, spans[row, 0, 0]) + 1 if row < rows else end
        logprobs[row], backoffs[row] = _parse_line(lines, n, most_fields, words)
    lines.number, lines.at = number + rows, end
    return ids[:rows], logprobs[:rows], backoffs[:rows]


def _parse_line(lines: _Lines, n: int, most_fields: int, words: _Words) -> tuple[float, float]:
    """The numbers of the next line, in plain Python; what is wrong in it is refused."""
    fields = split_tokens(lines.next())
    if not n + 1 <= len(fields) <= most_fields:
        shape = f"`log10(p) {counted(n, 'word')}" + ("`" if most_fields == n + 1 else " [log10(back-off)]`")
        raise lines.error(f"this has {len(fields)} fields, but a {n}-gram line is {shape}; correct it or the header")
    try:
        logprob, backoff = parse_number(fields[0]), parse_number(fields[n + 1]) if len(fields) == n + 2 else 0.0
    except ValueError:
        raise lines.error("the probability or the back-off is not a number; correct it") from None
    for word in fields[1 : n + 1]:
        if n > 1 and word not in words.ids:
            raise lines.error(f"{word} is not among the unigrams; add it there")
    if not (logprob <= 0 and abs(backoff) <= LARGEST_BACKOFF):
        raise lines.error(f"a log-probability is at most 0, a back-off at most {LARGEST_BACKOFF}; correct it")
    return logprob, backoff
