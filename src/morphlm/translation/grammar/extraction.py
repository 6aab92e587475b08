"""The rules for a sentence, found in the training text when they are needed (Chiang 2007; Lopez 2007).

All patterns of words and gaps of the sentence are looked up in the source side's suffix array. A rule follows from an
occurrence of a pattern in the training text if its links allow it, with outer gaps of any length. From a sample of n of
the N occurrences of a source side f, c of which the rule with target side e follows from:

    EgivenF       log c / n                       occurrences from which no rule follows count in n ("coherent")
    FgivenE       log J / (max(N_e, J) + 1)       J = c N / n; N_e: the occurrences of e in the target; + 1 smooths
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
from itertools import pairwise
from typing import Any

import numpy as np

from morphlm.arguments import check_words
from morphlm.arrays import Array, Float32Array, starts_of
from morphlm.display import described
from morphlm.threads import map_in_order
from morphlm.translation.grammar.bitext import Bitext
from morphlm.translation.grammar.buffers import run_extraction
from morphlm.translation.grammar.config import UNLIMITED, GrammarConfig
from morphlm.translation.grammar.kernels.assembly import renumber, source_sides, take_rows
from morphlm.translation.grammar.kernels.features import count_sides, weigh_rules
from morphlm.translation.grammar.kernels.patterns import find_patterns
from morphlm.translation.grammar.rules import FEATURES, RuleTable, table_of

_AHEAD = 4  # sentences for each thread that are extracted before the first of them is handed over


@dataclass(frozen=True, eq=False)
class PatternRules:
    """The rules of one or several patterns, in ids of the bitext; their source sides are the patterns'."""

    outer_gaps: Array  # uint8 (R)
    target_lengths: Array  # int64 (R)
    target_symbols: Array  # int32
    link_lengths: Array  # int64 (R)
    links: Array  # int16 (., 2)
    features: Array  # float32 (R, K)

    def __len__(self) -> int:
        return len(self.outer_gaps)


class GrammarExtractor:
    """Finds the rules for sentences, with a bounded cache of the rules of patterns; any thread may use it."""

    def __init__(self, bitext: Bitext, config: GrammarConfig | None = None) -> None:
        self.bitext, self.config = bitext, config or GrammarConfig()
        self._cache: dict[bytes, PatternRules | None] = {}
        self._cached = 0

    def __repr__(self) -> str:
        return described(self, bitext=self.bitext, config=self.config)

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the cache."""
        return GrammarExtractor, (self.bitext, self.config)

    def extract(self, tokens: Sequence[str]) -> RuleTable:
        """The rules whose source sides are in this sentence; empty if it has no known word."""
        check_words(tokens)
        patterns, allowed = self._patterns(list(tokens))
        if not patterns:
            return table_of([], FEATURES)
        with_rules = [(k, rules) for k, rules in enumerate(self._look_up(patterns)) if rules is not None]
        if not with_rules:
            return table_of([], FEATURES)
        numbers = [k for k, _ in with_rules]
        rows = _rows_of([patterns[k] for k in numbers], self.config.max_symbols)
        return self._table(rows, allowed[numbers], [rules for _, rules in with_rules])

    def extract_all(self, sentences: Iterable[Sequence[str]], threads: int = 1) -> Iterator[RuleTable]:
        """The rules for each sentence, in order."""
        return map_in_order(self.extract, sentences, threads, ahead=_AHEAD)

    def _patterns(self, tokens: list[str]) -> tuple[list[bytes], Array]:
        """The patterns of a sentence, each once, and the outer gaps that they may have somewhere in it."""
        config, sentence = self.config, self.bitext.encode(tokens)
        count, size = 1, 0
        while count > size:
            size = max(count, 64 * len(tokens) * config.max_symbols)
            rows, masks = np.empty((size, config.max_symbols), np.int32), np.empty(size, np.int64)
            count = find_patterns(self.bitext.source, sentence, config.min_gap, config.max_input_span, rows, masks)
        width, raw = rows.shape[1] * rows.itemsize, rows[:count].tobytes()
        allowed: dict[bytes, int] = {}
        for number, mask in enumerate(masks[:count].tolist()):
            key = raw[number * width : (number + 1) * width]
            allowed[key] = allowed.get(key, 0) | mask
        return list(allowed), np.array(list(allowed.values()), np.int64)

    def _look_up(self, patterns: list[bytes]) -> list[PatternRules | None]:
        """The rules of each pattern, None if there are none."""
        cache = self._cache
        missing = [pattern for pattern in patterns if pattern not in cache]
        fresh: dict[bytes, PatternRules | None] = {}
        if missing:
            rows = _rows_of(missing, self.config.max_symbols)
            fresh = dict(zip(missing, self._extract(rows), strict=True))
        rules = [fresh[pattern] if pattern in fresh else cache[pattern] for pattern in patterns]
        self._cache_rules(fresh)
        return rules

    def _cache_rules(self, fresh: dict[bytes, PatternRules | None]) -> None:
        """When the cache is full, begin a new one (a new dictionary: other threads may still read the old one)."""
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
        rules, used, occurrences = run_extraction(bitext, rows, config.limits())
        patterns, counts = rules.patterns[:used], rules.counts[:used]
        starts, link_starts = rules.target_starts[: used + 1], rules.link_starts[: used + 1]
        symbols, links = rules.target_symbols[: starts[-1]].copy(), rules.links[: link_starts[-1]].copy()
        in_target = count_sides(
            bitext.target, starts, symbols, config.target_anchors or UNLIMITED, config.max_training_span
        )
        lexical = weigh_rules(bitext.lexicon, rows, patterns, starts, symbols)
        features = _features(counts, occurrences.sampled[patterns], occurrences.total[patterns], in_target, lexical)
        outer_gaps = rules.outer_gaps[:used].copy()
        lengths, link_lengths = np.diff(starts), np.diff(link_starts)
        bounds = np.searchsorted(patterns, np.arange(len(rows) + 1)).tolist()
        begins, link_begins = starts[bounds].tolist(), link_starts[bounds].tolist()
        return [
            PatternRules(
                outer_gaps[begin:end],
                lengths[begin:end],
                symbols[begins[k] : begins[k + 1]],
                link_lengths[begin:end],
                links[link_begins[k] : link_begins[k + 1]],
                features[begin:end],
            )
            if begin < end
            else None
            for k, (begin, end) in enumerate(pairwise(bounds))
        ]

    def _table(self, rows: Array, allowed: Array, pattern_rules: list[PatternRules]) -> RuleTable:
        """One table of the rules of all patterns that can be used in this sentence, in words of their own numbering."""
        patterns = np.repeat(np.arange(len(pattern_rules)), [len(rules) for rules in pattern_rules])
        outer_gaps = np.concatenate([rules.outer_gaps for rules in pattern_rules])
        usable = np.flatnonzero((allowed[patterns] >> outer_gaps) & 1)
        target_starts, target_symbols = take_rows(
            starts_of(np.concatenate([rules.target_lengths for rules in pattern_rules])),
            np.concatenate([rules.target_symbols for rules in pattern_rules]),
            usable,
        )
        link_starts, links = take_rows(
            starts_of(np.concatenate([rules.link_lengths for rules in pattern_rules])),
            np.concatenate([rules.links for rules in pattern_rules]).view(np.int32).reshape(-1),
            usable,
        )
        source_starts, source_symbols = source_sides(rows, patterns[usable], outer_gaps[usable])
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
            features=np.concatenate([rules.features for rules in pattern_rules])[usable],
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
