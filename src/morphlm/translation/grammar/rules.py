"""Rules with gaps as arrays, and as text in cdec's format: what the grammar hands to the decoder.

`[X] ||| der [X,1] mann ||| the [X,1] man ||| EgivenF=-0.3 ||| 0-0 2-2`: the left side, the source, the target, the
features, the links between words (positions among all symbols of a side, gaps counted). Gaps are numbered in the order
of the source. A word that would be read as something else, `|||` or what stands in brackets, is written with a
backslash before it (`\\|||`, `\\[X]`), and one that has backslashes before such a thing gets one more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from morphlm.arrays import Float32Array, Int32Array, Int64Array, starts_of
from morphlm.display import dataclass_repr
from morphlm.errors import InputError
from morphlm.files import atomic_writer
from morphlm.tables import counted
from morphlm.text.reading import parse_number, split_tokens

# Natural logarithms, the more the better; the last two are 0 or 1. See extraction.py.
FEATURES = (
    "EgivenF",
    "FgivenE",
    "LexEgivenF",
    "LexFgivenE",
    "CountEF",
    "SampleCountF",
    "IsSingletonF",
    "IsSingletonFE",
)
MAX_GAPS = 2
MOST_FEATURES = 200  # different ones of a grammar, each of which is a number in every rule

Symbols = tuple[str | int, ...]  # a word, or the number of a gap: 1 or 2
Links = tuple[tuple[int, int], ...]

_BAR, _LEFT = "|||", "[X]"
_MUST_BE_ESCAPED = re.compile(r"\\*(\|\|\||\[.*\])")
_IS_ESCAPED = re.compile(r"\\+(\|\|\||\[.*\])")
_IN_BRACKETS = re.compile(r"\[.*\]")
_SOURCE_GAP = re.compile(r"\[X(?:,([0-9]{1,4}))?\]")
_TARGET_GAP = re.compile(r"\[(?:X,)?([0-9]{1,4})\]")
_LINK = re.compile(r"([0-9]{1,4})-([0-9]{1,4})")


@dataclass(frozen=True)
class Rule:
    """One rule, for people and files."""

    source: Symbols
    target: Symbols
    features: Mapping[str, float] = field(default_factory=dict)
    links: Links = ()  # positions of words that translate one another

    __repr__ = dataclass_repr

    def to_line(self) -> str:
        """The rule as a line of a grammar file."""
        features = " ".join(f"{name}={value:.9g}" for name, value in self.features.items())
        links = " ".join(f"{source}-{target}" for source, target in self.links)
        fields = [_LEFT, _side(self.source), _side(self.target), features, *([links] if links else [])]
        return f" {_BAR} ".join(fields).rstrip()


@dataclass(frozen=True, eq=False)
class RuleTable:
    """R rules as arrays. Symbols are numbers of words, or -1 and -2 for the first and the second gap of the source."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    feature_names: tuple[str, ...]  # K
    source_starts: Int64Array  # (R + 1,) into source_symbols
    source_symbols: Int32Array
    target_starts: Int64Array  # (R + 1,) into target_symbols
    target_symbols: Int32Array
    features: Float32Array  # (R, K)
    link_starts: Int64Array  # (R + 1,) into links
    links: NDArray[np.int16]  # (N, 2) positions in the source and the target of a rule

    __repr__ = dataclass_repr

    def __len__(self) -> int:
        return len(self.source_starts) - 1

    def rule(self, number: int) -> Rule:
        """One rule of the table."""
        number = range(len(self))[number]
        links = self.links[self.link_starts[number] : self.link_starts[number + 1]].tolist()
        return Rule(
            _names(self.source_symbols, self.source_starts, self.source_words, number),
            _names(self.target_symbols, self.target_starts, self.target_words, number),
            dict(zip(self.feature_names, self.features[number].tolist(), strict=True)),
            tuple((source, target) for source, target in links),
        )

    def __iter__(self) -> Iterator[Rule]:
        return map(self.rule, range(len(self)))


def _names(symbols: Int32Array, starts: Int64Array, words: Sequence[str], number: int) -> tuple[str | int, ...]:
    own = symbols[starts[number] : starts[number + 1]].tolist()
    return tuple(words[symbol] if symbol >= 0 else -symbol for symbol in own)


class _Numbers(dict[str, int]):
    """Gives every new word the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def table_of(rules: Iterable[Rule], feature_names: Sequence[str] = ()) -> RuleTable:
    """`rules` as arrays, with the features of `feature_names` first.

    Words and further features are numbered as they appear; a feature that is not there is 0.
    """
    numbers, features = (_Numbers(), _Numbers()), _Numbers(zip(feature_names, range(len(feature_names)), strict=True))
    symbols: tuple[list[list[int]], list[list[int]]] = ([], [])
    values: list[tuple[int, int, float]] = []
    links: list[Links] = []
    for count, rule in enumerate(rules):
        for side, of_side in enumerate((rule.source, rule.target)):
            symbols[side].append([numbers[side][item] if isinstance(item, str) else -item for item in of_side])
        values += [(count, features[name], value) for name, value in rule.features.items()]
        links.append(rule.links)
    matrix = np.zeros((len(links), len(features)), np.float32)
    for row, column, value in values:
        matrix[row, column] = value
    flat = [link for of_rule in links for link in of_rule]
    return RuleTable(
        source_words=tuple(numbers[0]),
        target_words=tuple(numbers[1]),
        feature_names=tuple(features),
        source_starts=starts_of([*map(len, symbols[0])]),
        source_symbols=_flat(symbols[0]),
        target_starts=starts_of([*map(len, symbols[1])]),
        target_symbols=_flat(symbols[1]),
        features=matrix,
        link_starts=starts_of([*map(len, links)]),
        links=np.array(flat, np.int16).reshape(-1, 2),
    )


def _flat(rows: list[list[int]]) -> Int32Array:
    return np.array([item for row in rows for item in row], np.int32)


def join_tables(tables: Sequence[RuleTable]) -> RuleTable:
    """The rules of all tables, in this order; a feature that a table does not have is 0 for its rules.

    A rule that several tables have is there several times, as in a file with the same line twice.
    """
    names = _Numbers()
    for table in tables:
        for name in table.feature_names:
            names[name]
    features = np.zeros((sum(map(len, tables)), len(names)), np.float32)
    row = 0
    for table in tables:
        features[row : row + len(table), [names[name] for name in table.feature_names]] = table.features
        row += len(table)
    source_words, source_symbols = _joined([(table.source_words, table.source_symbols) for table in tables])
    target_words, target_symbols = _joined([(table.target_words, table.target_symbols) for table in tables])
    return RuleTable(
        source_words=source_words,
        target_words=target_words,
        feature_names=tuple(names),
        source_starts=_joined_starts([table.source_starts for table in tables]),
        source_symbols=source_symbols,
        target_starts=_joined_starts([table.target_starts for table in tables]),
        target_symbols=target_symbols,
        features=features,
        link_starts=_joined_starts([table.link_starts for table in tables]),
        links=np.concatenate([np.zeros((0, 2), np.int16), *(table.links for table in tables)]),
    )


def _joined(sides: list[tuple[tuple[str, ...], Int32Array]]) -> tuple[tuple[str, ...], Int32Array]:
    numbers = _Numbers()
    pieces = [np.zeros(0, np.int32)]
    for words, symbols in sides:
        new = np.array([*(numbers[word] for word in words), -2, -1], np.int32)  # -2 and -1 index the end, as they are
        pieces.append(new[symbols])
    return tuple(numbers), np.concatenate(pieces)


def _joined_starts(all_starts: list[Int64Array]) -> Int64Array:
    return starts_of(np.concatenate([np.zeros(0, np.int64), *map(np.diff, all_starts)]))


def select_rules(table: RuleTable, numbers: Int64Array) -> RuleTable:
    """Some rules of a table, in this order, with the words that they have and all features."""
    source_words, source_starts, source_symbols = _selected_side(
        table.source_words, table.source_starts, table.source_symbols, numbers
    )
    target_words, target_starts, target_symbols = _selected_side(
        table.target_words, table.target_starts, table.target_symbols, numbers
    )
    places, link_starts = selected_places(table.link_starts, numbers)
    return RuleTable(
        source_words=source_words,
        target_words=target_words,
        feature_names=table.feature_names,
        source_starts=source_starts,
        source_symbols=source_symbols,
        target_starts=target_starts,
        target_symbols=target_symbols,
        features=table.features[numbers],
        link_starts=link_starts,
        links=table.links[places],
    )


def _selected_side(
    words: Sequence[str], starts: Int64Array, symbols: Int32Array, numbers: Int64Array
) -> tuple[tuple[str, ...], Int64Array, Int32Array]:
    """A side of some rules, its words numbered as they appear."""
    places, new_starts = selected_places(starts, numbers)
    chosen = symbols[places]
    used, first = np.unique(chosen[chosen >= 0], return_index=True)
    used = used[np.argsort(first)]
    new = np.full(len(words) + MAX_GAPS, -1, np.int32)
    new[used] = np.arange(len(used))
    new[-MAX_GAPS:] = [-2, -1]  # gaps index the end, as they are
    return tuple(words[word] for word in used.tolist()), new_starts, new[chosen]


def selected_places(starts: Int64Array, numbers: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Where the items of some pieces are, and where each piece begins among them."""
    lengths = starts[numbers + 1] - starts[numbers]
    new_starts = starts_of(lengths)
    return np.repeat(starts[numbers] - new_starts[:-1], lengths) + np.arange(new_starts[-1]), new_starts


# ---------------------------------------------------------------- text


def _escaped(word: str) -> str:
    return "\\" + word if _MUST_BE_ESCAPED.fullmatch(word) else word


def _side(symbols: Symbols) -> str:
    return " ".join(_escaped(item) if isinstance(item, str) else f"[X,{item}]" for item in symbols)


def write_rules(path: str | Path, table: RuleTable) -> None:
    """Write a `table` of rules, compressed as its name says; '-' is standard output."""
    with atomic_writer(path) as file:
        for rule in table:
            file.write(f"{rule.to_line()}\n".encode())


def parse_rule(line: str) -> Rule:
    """Take a line of a grammar file apart; raises an InputError that does not know its place."""
    left, source_words, target_words, *rest = _fields(line)
    if left != [_LEFT]:
        raise InputError(f"the left side is {' '.join(left)!r}; {_LEFT} is the only non-terminal here, write that")
    source, numbering = _parse_source(source_words)
    target = tuple(_parse_target(word, numbering) for word in target_words)
    _check_sides(source, target)
    features = _parse_features(rest[0] if rest else [])
    links = tuple(_parse_link(text, source, target) for text in (rest[1] if len(rest) > 1 else []))
    return Rule(source, target, features, links)


def _fields(line: str) -> list[list[str]]:
    fields: list[list[str]] = [[]]
    for token in split_tokens(line):
        if token == _BAR:
            fields.append([])
        else:
            fields[-1].append(token)
    if not 3 <= len(fields) <= 5:
        problem = f"{counted(len(fields), 'field')}; a rule is "
        form = f"`[X] {_BAR} source {_BAR} target {_BAR} features {_BAR} links`, "
        raise InputError(problem + form + f"a word {_BAR} is written \\{_BAR}")
    return fields


def _parse_source(words: list[str]) -> tuple[Symbols, dict[int, int]]:
    """The symbols, and the number of each gap in the file -> its number in order of appearance."""
    numbering: dict[int, int] = {}
    symbols: list[str | int] = []
    for word in words:
        if not _IN_BRACKETS.fullmatch(word):
            symbols.append(_unescaped(word))
            continue
        gap = _SOURCE_GAP.fullmatch(word)
        if not gap:
            raise _no_gap(word)
        number = int(gap.group(1) or len(numbering) + 1)
        if number in numbering:
            raise InputError(f"the gap {word} is in the source twice; number the gaps")
        numbering[number] = len(numbering) + 1
        symbols.append(numbering[number])
    return tuple(symbols), numbering


def _parse_target(word: str, numbering: dict[int, int]) -> str | int:
    if not _IN_BRACKETS.fullmatch(word):
        return _unescaped(word)
    gap = _TARGET_GAP.fullmatch(word)
    if not gap:
        raise _no_gap(word)
    if int(gap.group(1)) not in numbering:
        raise InputError(f"the gap {word} of the target is not in the source; every gap is on both sides")
    return numbering[int(gap.group(1))]


def _unescaped(word: str) -> str:
    return word[1:] if _IS_ESCAPED.fullmatch(word) else word


def _no_gap(word: str) -> InputError:
    return InputError(f"{word} is no gap of a rule, they are [X,1] and [X,2]; a word in brackets is written \\{word}")


def _check_sides(source: Symbols, target: Symbols) -> None:
    gaps = [item for item in source if isinstance(item, int)]
    if len(gaps) > MAX_GAPS:
        raise InputError(f"{len(gaps)} gaps; a rule has at most {MAX_GAPS}")
    if sorted(item for item in target if isinstance(item, int)) != gaps:
        raise InputError("the target does not have every gap of the source once; write each on both sides")
    if not source or (len(source) == 1 and gaps):
        raise InputError("the source has no word, so that the rule could be used without end; give it one")
    if not target:
        raise InputError("the target is empty; give it a word")


def _parse_features(texts: list[str]) -> dict[str, float]:
    return dict(parse_feature(text, position) for position, text in enumerate(texts))


def parse_feature(text: str, position: int = 0) -> tuple[str, float]:
    """`name=value`; values without a name are PhraseModel_0 and so on, as in cdec."""
    name, _, value = text.rpartition("=")
    try:
        number = parse_number(value)
    except ValueError:
        number = math.nan
    if not abs(number) <= float(np.finfo(np.float32).max):
        raise InputError(f"the feature {text!r} has no finite number; write name=number")
    return name or f"PhraseModel_{position}", number


def _parse_link(text: str, source: Symbols, target: Symbols) -> tuple[int, int]:
    link = _LINK.fullmatch(text)
    ends = (int(link.group(1)), int(link.group(2))) if link else (len(source), 0)
    if not (_is_word(source, ends[0]) and _is_word(target, ends[1])):
        raise InputError(f"the link {text!r} does not join two words of the rule; write positions from 0, as 0-0")
    return ends


def _is_word(symbols: Symbols, position: int) -> bool:
    return position < len(symbols) and isinstance(symbols[position], str)
