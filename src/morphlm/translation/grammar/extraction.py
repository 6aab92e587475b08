"""The rules for a sentence, found in the training text when they are needed (Chiang 2007; Lopez 2007).

All patterns of words and gaps of the sentence are looked up in the source side's suffix array. A *place* of a pattern
is where its words stand in the training text; a rule follows from a place if its links allow it, with outer gaps of
any length. From a sample of n of the N places of a source side f, c of which the rule with target side e follows from:

    EgivenF       log c / n                       places from which no rule follows count in n ("coherent")
    FgivenE       log J / (max(N_e, J) + 1)       J = c N / n; N_e: the places of e in the target text; + 1 smooths
    LexEgivenF    sum over words of e: log max over words of f, or none: p(word of e | word of f)
    LexFgivenE    the other way round
    CountEF       log c
    SampleCountF  log (1 + n)
    IsSingletonF  1 if N = 1
    IsSingletonFE 1 if c = 1

All logarithms are natural, and higher is better. Outer gaps do not matter for n, N and N_e.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np

from morphlm.arrays import Array, Float32Array
from morphlm.threads import workers
from morphlm.translation.alignment.parallel_text import starts_of
from morphlm.translation.grammar.bitext import Bitext
from morphlm.translation.grammar.buffers import run_extraction
from morphlm.translation.grammar.config import UNLIMITED, GrammarConfig
from morphlm.translation.grammar.kernels.assembly import renumber, source_sides, take_rows
from morphlm.translation.grammar.kernels.features import count_patterns, weigh_rules
from morphlm.translation.grammar.kernels.patterns import find_patterns
from morphlm.translation.grammar.rules import FEATURES, RuleTable, empty_table

_AHEAD = 4  # sentences for each thread that are extracted before the first of them is handed over


@dataclass(frozen=True, eq=False)
class PatternRules:
    """The rules of one or several patterns, in ids of the bitext; their source sides are the patterns'."""

    edges: Array  # uint8 (R): which outer gaps
    target_lengths: Array  # int64 (R)
    target_symbols: Array  # int32
    link_lengths: Array  # int64 (R)
    links: Array  # int16 (., 2)
    features: Array  # float32 (R, K)

    def __len__(self) -> int:
        """The number of rules."""
        return len(self.edges)


class GrammarExtractor:
    """Finds the rules for sentences; what it has found it keeps for the next ones, as far as there is room."""

    def __init__(self, bitext: Bitext, config: GrammarConfig | None = None) -> None:
        """May be used by several threads at once."""
        self.bitext, self.config = bitext, config or GrammarConfig()
        self._cache: dict[bytes, PatternRules | None] = {}
        self._cached = 0

    def extract(self, tokens: Sequence[str]) -> RuleTable:
        """The rules whose source sides are in this sentence; empty if it has no known word."""
        patterns, allowed = self._patterns(list(tokens))
        if not patterns:
            return empty_table()
        found = self._look_up(patterns)
        numbers = [number for number, rules in enumerate(found) if rules is not None]
        if not numbers:
            return empty_table()
        rows = _rows_of([patterns[number] for number in numbers], self.config.max_symbols)
        return self._table(rows, allowed[numbers], [rules for rules in found if rules is not None])

    def extract_all(self, sentences: Iterable[Sequence[str]], threads: int = 1) -> Iterator[RuleTable]:
        """The rules for each sentence, in order."""
        remaining = iter(sentences)
        while batch := list(islice(remaining, threads * _AHEAD)):
            tables: list[RuleTable | None] = [None] * len(batch)

            def work(number: int, _: int, batch: list[Sequence[str]] = batch, to: Any = tables) -> None:
                to[number] = self.extract(batch[number])

            with workers(threads) as some:
                some.run_pieces(work, len(batch))
            yield from (table for table in tables if table is not None)

    def _patterns(self, tokens: list[str]) -> tuple[list[bytes], Array]:
        """The patterns of a sentence, each once, and the outer gaps that they may have somewhere in it."""
        config, sentence = self.config, self.bitext.encode(tokens)
        count, room = 1, 0
        while count > room:
            room = max(count, 64 * len(tokens) * config.max_symbols)
            rows, masks = np.empty((room, config.max_symbols), np.int32), np.empty(room, np.int64)
            count = find_patterns(self.bitext.source, sentence, config.min_gap, config.max_input_span, rows, masks)
        size, raw = rows.shape[1] * rows.itemsize, rows[:count].tobytes()
        allowed: dict[bytes, int] = {}
        for number, mask in enumerate(masks[:count].tolist()):
            key = raw[number * size : (number + 1) * size]
            allowed[key] = allowed.get(key, 0) | mask
        return list(allowed), np.array(list(allowed.values()), np.int64)

    def _look_up(self, patterns: list[bytes]) -> list[PatternRules | None]:
        """The rules of each pattern, None if there are none."""
        cache = self._cache
        new = [pattern for pattern in patterns if pattern not in cache]
        fresh: dict[bytes, PatternRules | None] = {}
        if new:
            rows = _rows_of(new, self.config.max_symbols)
            fresh = dict(zip(new, self._extract(rows), strict=True))
        found = [fresh[pattern] if pattern in fresh else cache[pattern] for pattern in patterns]
        self._keep(fresh)
        return found

    def _keep(self, fresh: dict[bytes, PatternRules | None]) -> None:
        """Remember; when there is no room, begin anew (a new dictionary: other threads may still read the old one)."""
        size = sum(8 + len(rules.target_symbols) + 16 * len(rules) for rules in fresh.values() if rules is not None)
        size += 16 * len(fresh)
        if self._cached + size > self.config.cached_symbols:
            self._cache, self._cached = {}, 0
        if size <= self.config.cached_symbols:
            self._cache.update(fresh)
            self._cached += size

    def _extract(self, rows: Array) -> list[PatternRules | None]:
        """Find the rules of some patterns in the training text."""
        bitext, config = self.bitext, self.config
        rules, used, sampled, totals = run_extraction(bitext, rows, config.limits())
        patterns, counts = rules.patterns[:used], rules.counts[:used]
        starts, link_starts = rules.target_starts[: used + 1], rules.link_starts[: used + 1]
        symbols, links = rules.target_symbols[: starts[-1]].copy(), rules.links[: link_starts[-1]].copy()
        in_target = count_patterns(
            bitext.target, starts, symbols, config.target_anchors or UNLIMITED, config.max_training_span
        )
        lexical = weigh_rules(bitext.lexicon, rows, patterns, starts, symbols)
        features = _features(counts, sampled[patterns], totals[patterns], in_target, lexical)
        edges = rules.edges[:used].copy()
        lengths, link_lengths = np.diff(starts), np.diff(link_starts)
        bounds = np.searchsorted(patterns, np.arange(len(rows) + 1)).tolist()
        at, link_at = starts[bounds].tolist(), link_starts[bounds].tolist()
        return [
            PatternRules(
                edges[begin:end],
                lengths[begin:end],
                symbols[at[k] : at[k + 1]],
                link_lengths[begin:end],
                links[link_at[k] : link_at[k + 1]],
                features[begin:end],
            )
            if begin < end
            else None
            for k, (begin, end) in enumerate(pairwise(bounds))
        ]

    def _table(self, rows: Array, allowed: Array, pieces: list[PatternRules]) -> RuleTable:
        """One table of the rules of all patterns that can be used in this sentence, in words of their own numbering."""
        patterns = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
        edges = np.concatenate([piece.edges for piece in pieces])
        usable = np.flatnonzero((allowed[patterns] >> edges) & 1)
        target_starts, target_symbols = take_rows(
            starts_of(np.concatenate([piece.target_lengths for piece in pieces])),
            np.concatenate([piece.target_symbols for piece in pieces]),
            usable,
        )
        link_starts, links = take_rows(
            starts_of(np.concatenate([piece.link_lengths for piece in pieces])),
            np.concatenate([piece.links for piece in pieces]).view(np.int32).reshape(-1),
            usable,
        )
        source_starts, source_symbols = source_sides(rows, patterns[usable], edges[usable])
        source_ids = renumber(source_symbols, len(self.bitext.source_words))
        target_ids = renumber(target_symbols, len(self.bitext.target_words))
        return RuleTable(
            source_words=tuple(self.bitext.source_words[number] for number in source_ids),
            target_words=tuple(self.bitext.target_words[number] for number in target_ids),
            feature_names=FEATURES,
            source_starts=source_starts,
            source_symbols=source_symbols,
            target_starts=target_starts,
            target_symbols=target_symbols,
            features=np.concatenate([piece.features for piece in pieces])[usable],
            link_starts=link_starts,
            links=links.view(np.int16).reshape(-1, 2),
        )


def _rows_of(patterns: list[bytes], symbols: int) -> Array:
    return np.frombuffer(b"".join(patterns), np.int32).reshape(len(patterns), symbols).copy()


def _features(
    counts: Array, sampled: Array, totals: Array, in_target: Array, lexical: tuple[Array, Array]
) -> Float32Array:
    """The equations above, a column each, in the order of FEATURES."""
    joint = counts * (totals / np.maximum(sampled, 1))
    columns = [
        np.log(counts / np.maximum(sampled, 1)),
        np.log(joint / (np.maximum(in_target, joint) + 1)),
        *lexical,
        np.log(counts),
        np.log1p(sampled),
        totals == 1,
        counts == 1,
    ]
    return np.stack(columns, axis=1).astype(np.float32)
