"""Reading grammar files: compiled code turns whole blocks of lines into arrays, Python says what is wrong in a line."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array, Int64Array, starts_of
from morphlm.errors import InputError, located
from morphlm.files import open_binary
from morphlm.ngram.arpa.kernels import NEWLINE, WordTable, fill_word_table
from morphlm.ngram.arpa.linking import hash_table
from morphlm.text.reading import Block, read_blocks
from morphlm.translation.grammar.kernels import text as kernels
from morphlm.translation.grammar.rules import MOST_FEATURES, RuleTable, parse_feature, parse_rule, table_of

_LONGEST_UNNAMED = 40  # bytes of PhraseModel_N


def read_rules(path: str | Path) -> RuleTable:
    """Read a grammar file, ours or cdec's; one without any rule is an empty table."""
    if str(path) != "-":
        with open_binary(path) as file:
            if not file.peek(1):
                return table_of([])
    reader = _RuleReader()
    parts = [reader.parse(block) for block in read_blocks(path, marks="any")]
    return reader.table(parts)


class _Part(NamedTuple):
    """The rules of a block: lengths of sides and links, not where they begin."""

    source_lengths: Int64Array
    source_symbols: Array
    target_lengths: Int64Array
    target_symbols: Array
    value_rules: Array
    value_names: Array
    values: Array
    link_lengths: Int64Array
    links: Array


class _GrowingWords:
    """Words numbered as they appear, with room for more."""

    def __init__(self) -> None:
        self._used, self._forms = np.zeros(2, np.int64), np.empty(0, np.uint8)
        self._slots, self._multiplier = hash_table(0, np.int64)

    def for_block(self, words: int, size: int) -> kernels.NumberedWords:
        """With room for so many new words of so many bytes, newlines included."""
        count, end = self._used.tolist()
        if end + size > len(self._forms):
            forms = np.empty(max(end + size, 2 * len(self._forms)), np.uint8)
            forms[:end] = self._forms[:end]
            self._forms = forms
        if 2 * (count + words) > len(self._slots):
            self._slots, self._multiplier = hash_table(max(count + words, len(self._slots)), np.int64)
            starts = np.concatenate([[0], np.flatnonzero(self._forms[:end] == NEWLINE) + 1])
            fill_word_table(WordTable(self._forms, starts, self._slots, self._multiplier))
        no_starts = np.zeros(0, np.int64)
        return kernels.NumberedWords(WordTable(self._forms, no_starts, self._slots, self._multiplier), self._used)

    def words(self) -> tuple[str, ...]:
        return tuple(self._forms[: self._used[1]].tobytes().decode().split("\n")[:-1])


class _RuleReader:
    """Turns blocks of a grammar file into arrays; words and features have the same numbers in all of them."""

    def __init__(self) -> None:
        self._sources, self._targets, self._names = _GrowingWords(), _GrowingWords(), _GrowingWords()
        self._scratch = np.empty(_LONGEST_UNNAMED, np.uint8)
        self._rules = 0

    def parse(self, block: Block) -> _Part:
        data = np.frombuffer(block.data, np.uint8)
        tokens = block.data.count(b" ") + block.data.count(b"\t") + block.data.count(b"\n")
        sides = [words.for_block(tokens, len(data) + tokens) for words in (self._sources, self._targets)]
        names = self._names.for_block(MOST_FEATURES + 1, len(data) + _LONGEST_UNNAMED * (MOST_FEATURES + 1))
        out = _buffers(block.data.count(b"\n"), tokens)
        end = kernels.parse_rules(data, *sides, names, MOST_FEATURES, self._scratch, out)
        part = self._part(block, out)
        if end < len(data):
            raise _refusal(block, end)
        return part

    def _part(self, block: Block, out: kernels.ParsedRules) -> _Part:
        rules, source, target, values, links = out.counts.tolist()
        for number in np.flatnonzero(np.isnan(out.values[:values])).tolist():
            begin, end = out.value_spans[number].tolist()
            out.values[number] = _odd_value(block, begin, end)
        first, self._rules = self._rules, self._rules + rules
        return _Part(
            np.diff(out.source_ends[:rules], prepend=0),
            out.source_symbols[:source].copy(),
            np.diff(out.target_ends[:rules], prepend=0),
            out.target_symbols[:target].copy(),
            out.value_rules[:values] + np.int64(first),
            out.value_names[:values].copy(),
            out.values[:values].astype(np.float32),
            np.diff(out.link_ends[:rules], prepend=0),
            out.links[:links].copy(),
        )

    def table(self, parts: list[_Part]) -> RuleTable:
        """All rules that were parsed."""
        whole = _Part(*map(np.concatenate, zip(*parts, strict=True)))
        feature_names = self._names.words()
        features = np.zeros((self._rules, len(feature_names)), np.float32)
        features[whole.value_rules, whole.value_names] = whole.values
        return RuleTable(
            source_words=self._sources.words(),
            target_words=self._targets.words(),
            feature_names=feature_names,
            source_starts=starts_of(whole.source_lengths),
            source_symbols=whole.source_symbols,
            target_starts=starts_of(whole.target_lengths),
            target_symbols=whole.target_symbols,
            features=features,
            link_starts=starts_of(whole.link_lengths),
            links=whole.links,
        )


def _buffers(lines: int, tokens: int) -> kernels.ParsedRules:
    """Room for all that so many lines of so many tokens can hold."""
    rules, symbols = (np.empty(lines, np.int64) for _ in range(2)), (np.empty(tokens, np.int32) for _ in range(4))
    return kernels.ParsedRules(
        source_ends=next(rules),
        source_symbols=next(symbols),
        target_ends=next(rules),
        target_symbols=next(symbols),
        value_rules=next(symbols),
        value_names=next(symbols),
        values=np.empty(tokens, np.float64),
        value_spans=np.empty((tokens, 2), np.int32),
        link_ends=np.empty(lines, np.int64),
        links=np.empty((tokens, 2), np.int16),
        counts=np.zeros(5, np.int64),
    )


def _odd_value(block: Block, begin: int, end: int) -> float:
    """The value of a feature whose number is not plain."""
    with located(block.source, _line_number(block, begin)):
        return parse_feature(block.data[begin:end].decode())[1]


def _refusal(block: Block, begin: int) -> InputError:
    """What is wrong in the line that begins there."""
    line = block.data[begin : block.data.index(b"\n", begin)].decode()
    try:
        with located(block.source, _line_number(block, begin)):
            parse_rule(line)
            raise InputError(f"the grammar has more than {MOST_FEATURES} different features; use fewer")
    except InputError as error:
        return error


def _line_number(block: Block, position: int) -> int:
    return block.first_line + block.data.count(b"\n", 0, position)
