"""A rule table prepared for the search: source sides as a trie, target sides in numbers of words, rules by promise.

The rules that the decoder adds for a sentence come after those of the table: one for each word that leaves it as it
is, two that glue, and one that ends the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from morphlm.arguments import check_words
from morphlm.arrays import Float64Array, Int32Array, Int64Array, starts_of
from morphlm.errors import ConfigError, InputError
from morphlm.translation.decoder.config import (
    COUNTED,
    GLUE,
    PASS_THROUGH,
    RULE_PENALTY,
    WORD_PENALTY,
    Weights,
    check_features,
    names_of_models,
)
from morphlm.translation.decoder.kernels.heuristic import estimate_rules
from morphlm.translation.decoder.kernels.matching import build_trie
from morphlm.translation.decoder.kernels.records import FIRST_GAP, SECOND_GAP, RuleArrays, SourceTrie
from morphlm.translation.decoder.models import IMPOSSIBLE, Caches, SearchModels
from morphlm.translation.grammar.rules import RuleTable
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, NOTHING, UNK_ID

UNSEEN = np.iinfo(np.int32).max - 1  # the number of source words that no rule has


@dataclass(frozen=True, eq=False)
class PreparedRules:
    """A rule table that can be used for any number of sentences."""

    table: RuleTable
    models: SearchModels
    weights: Weights
    feature_names: tuple[str, ...]  # of the table, then COUNTED, then of the language models
    features: Float64Array  # (R, F): of each rule; ln p comes with the edges, but for shares of unknown words
    estimates: Float64Array  # (R, columns): ln p of the words of each rule alone
    source_ids: Mapping[str, int]  # numbers of source words
    ids: Int32Array  # (columns, words): numbers of the words in the models; the last two are END and BEGIN
    numbers: Mapping[tuple[int, ...], int]  # the number of a word by its ids in the models
    symbols: Int32Array  # target sides in these numbers
    trie: SourceTrie
    group_of: Int32Array  # (R,): rules of one source side are a group
    group_starts: Int64Array
    # What depends on weights:
    weight_of: Float64Array  # (F,)
    scores: Float64Array  # (R,): features times weights
    corrections: Float64Array  # (R,): see RuleArrays
    group_rules: Int32Array  # the rules of each group, the most promising first

    def __len__(self) -> int:
        return len(self.table)

    def with_weights(self, weights: Weights) -> PreparedRules:
        """The same rules under other weights, which is much less work than to prepare the table again."""
        if len(self):
            weights.check(self.feature_names)
        weight_of = weights.of(self.feature_names)
        scores = self.features @ weight_of
        of_models = model_weights(self.models, weights)
        corrections = (self.estimates - self.estimates[:, :1]) @ of_models
        promise = scores + self.estimates @ of_models
        order = np.lexsort((-promise, self.group_of)).astype(np.int32)
        return replace(
            self, weights=weights, weight_of=weight_of, scores=scores, corrections=corrections, group_rules=order
        )


def model_weights(models: SearchModels, weights: Weights) -> Float64Array:
    """The weights of the columns of the search; 0 for a heuristic that is none of the models."""
    values = weights.values
    return np.array(
        [values.get(models.names[model], 0.0) if model >= 0 else 0.0 for model in models.columns], np.float64
    )


def prepare_rules(table: RuleTable, models: SearchModels, weights: Weights, caches: Caches) -> PreparedRules:
    """Do all the work on rules that does not depend on the sentence."""
    names = (*table.feature_names, *COUNTED, *names_of_models(models.names))
    check_features(names)
    _check_rules(table)
    ids, numbers = _number_words(models, table.target_words)
    symbols = np.where(table.target_symbols >= 0, numbers[table.target_symbols], table.target_symbols).astype(np.int32)
    trie, group_of = build_trie(table.source_starts, table.source_symbols)
    unset = np.zeros(0)  # comes with the weights
    return PreparedRules(
        table=table,
        models=models,
        weights=weights,
        feature_names=names,
        features=_features(table, models, names, ids, symbols),
        estimates=_estimates(models, ids, table.target_starts, symbols, caches),
        source_ids={word: number for number, word in enumerate(table.source_words)},
        ids=ids,
        numbers={column: number for number, column in enumerate(map(tuple, ids.T.tolist()))},
        symbols=symbols,
        trie=trie,
        group_of=group_of,
        group_starts=starts_of(np.bincount(group_of)),
        weight_of=unset,
        scores=unset,
        corrections=unset,
        group_rules=unset.astype(np.int32),
    ).with_weights(weights)


def _estimates(
    models: SearchModels, ids: Int32Array, starts: Int64Array, symbols: Int32Array, caches: Caches
) -> Float64Array:
    """ln p of the words of each rule, each after those that stand next to it, (R, columns)."""
    by_heuristic = estimate_rules(models.heuristic, ids[0], starts, symbols)
    estimates = np.repeat(by_heuristic[:, None], len(models.columns), axis=1)
    rule_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    words = np.flatnonzero(symbols >= 0)
    for column, scorer in enumerate(models.scorers, 1):
        if scorer.gives_estimates:
            contexts = _contexts_in_rules(rule_of, symbols, ids[column], scorer.order - 1)[words]
            logprobs = scorer.estimate(contexts, ids[column][symbols[words]], caches[column - 1])
            estimates[:, column] = np.bincount(rule_of[words], np.maximum(logprobs, IMPOSSIBLE), len(starts) - 1)
    return estimates


def _contexts_in_rules(rule_of: Int64Array, symbols: Int32Array, ids: Int32Array, size: int) -> Int32Array:
    """The words before each symbol up to a gap or the beginning of its rule, (symbols, size), then NOTHING."""
    contexts = np.full((len(symbols), size), NOTHING, np.int32)
    known = np.ones(len(symbols), bool)
    for distance in range(1, min(size, len(symbols) - 1) + 1):
        known[:distance] = False
        known[distance:] &= (rule_of[distance:] == rule_of[:-distance]) & (symbols[:-distance] >= 0)
        at = np.flatnonzero(known)
        contexts[at, distance - 1] = ids[symbols[at - distance]]
    return contexts


def _check_rules(table: RuleTable) -> None:
    """A rule whose source is nothing or one gap could be used without end."""
    lengths = np.diff(table.source_starts)
    single = np.flatnonzero(lengths == 1)
    endless = [*np.flatnonzero(lengths == 0), *single[table.source_symbols[table.source_starts[single]] < 0]]
    if endless:
        raise ConfigError(f"rule {int(endless[0])} has no word in its source, it could be used without end; remove it")


def _number_words(models: SearchModels, words: Sequence[str]) -> tuple[Int32Array, Int32Array]:
    """The words that the models tell apart, with END and BEGIN at the end: their ids, and the number of each word."""
    # Without models, all words are one to them.
    of_words = models.ids(words) if words else np.full((len(models.columns), 1), UNK_ID)
    different, numbers = np.unique(of_words, axis=1, return_inverse=True)
    marks = np.tile([END_ID, BEGIN_ID], (len(models.columns), 1))
    # One number more, so that gaps have something to look up.
    return np.concatenate([different, marks], axis=1).astype(np.int32), np.append(numbers.ravel(), 0).astype(np.int32)


def _features(
    table: RuleTable, models: SearchModels, names: Sequence[str], ids: Int32Array, symbols: Int32Array
) -> Float64Array:
    features = np.zeros((len(table), len(names)))
    features[:, : len(table.feature_names)] = table.features
    column = {name: number for number, name in enumerate(names)}
    rule_of = np.repeat(np.arange(len(table)), np.diff(table.target_starts))
    is_word = symbols >= 0
    features[:, column[WORD_PENALTY]] = np.bincount(rule_of[is_word], minlength=len(table))
    features[:, column[RULE_PENALTY]] = 1.0
    is_unknown, words = models.is_unknown(ids), table.target_symbols[is_word]
    for row, model in enumerate(models.columns):
        if model >= 0:
            unknown = is_word & is_unknown[row][symbols]
            of_model = len(names) - 2 * (len(models.models) - model)
            shares = models.log_shares(model, table.target_words)
            features[:, of_model] = np.bincount(rule_of[is_word], shares[words], len(table))
            features[:, of_model + 1] = np.bincount(rule_of[unknown], minlength=len(table))
    return features


# ---------------------------------------------------------------- one sentence


@dataclass(frozen=True, eq=False)
class SentenceGrammar:
    """The rules of a table with those that the decoder adds for a sentence."""

    rules: PreparedRules
    tokens: tuple[str, ...]
    sentence: Int32Array  # numbers of the source words
    added: Float64Array  # (added, F): features of the rules that are added
    ids: Int32Array  # (columns, words + tokens)
    arrays: RuleArrays  # of all rules

    @property
    def first_pass(self) -> int:
        """The rule that leaves the first word as it is."""
        return len(self.rules.table)

    @property
    def first_glue(self) -> int:
        """S -> X."""
        return self.first_pass + len(self.tokens)

    @property
    def glue(self) -> int:
        """S -> S X."""
        return self.first_glue + 1

    @property
    def goal(self) -> int:
        """The rule that ends the sentence."""
        return self.first_glue + 2

    @property
    def begin_word(self) -> int:
        """The number of BEGIN."""
        return int(self.rules.ids.shape[1]) - 1

    def group_of(self, rule: int) -> int:
        """The group of an added rule, which is alone in it."""
        return len(self.rules.group_starts) - 1 + rule - len(self.rules.table)


def sentence_grammar(rules: PreparedRules, tokens: Sequence[str]) -> SentenceGrammar:
    """Add the rules that only this sentence has."""
    if isinstance(tokens, str):
        raise InputError("a sentence is a list of tokens, not a string; split it")
    check_words(tokens)
    count, words = len(tokens), rules.ids.shape[1]
    token_ids = rules.models.ids(tokens) if count else np.zeros((len(rules.models.columns), 0), np.int32)
    added_features = _added_features(rules, tokens, token_ids)
    numbers = [rules.numbers.get(tuple(column), words + number) for number, column in enumerate(token_ids.T.tolist())]
    added_symbols = [*numbers, FIRST_GAP, SECOND_GAP, FIRST_GAP, SECOND_GAP, FIRST_GAP, words - 2]
    starts = rules.table.target_starts
    added_starts = starts[-1] + np.cumsum([1] * count + [2, 2, 2])
    added = np.arange(len(rules.table), len(rules.table) + count + 3)
    arrays = RuleArrays(
        np.concatenate([starts, added_starts]).astype(np.int64),
        np.concatenate([rules.symbols, np.array(added_symbols, np.int32)]),
        np.concatenate([rules.scores, added_features @ rules.weight_of]),
        np.concatenate([rules.corrections, np.zeros(len(added))]),
        np.concatenate([rules.group_starts, rules.group_starts[-1] + 1 + np.arange(len(added))]).astype(np.int64),
        np.concatenate([rules.group_rules, added]).astype(np.int32),
    )
    sentence = np.array([rules.source_ids.get(token, UNSEEN) for token in tokens], np.int32)
    ids = np.ascontiguousarray(np.concatenate([rules.ids, token_ids], axis=1), np.int32)
    return SentenceGrammar(rules, tuple(tokens), sentence, added_features, ids, arrays)


def _added_features(rules: PreparedRules, tokens: Sequence[str], ids: Int32Array) -> Float64Array:
    """The features of the rules that leave words as they are, of the two glue rules and of the end."""
    names, count = rules.feature_names, ids.shape[1]
    features = np.zeros((count + 3, len(names)))
    for name in (WORD_PENALTY, RULE_PENALTY, PASS_THROUGH):
        features[:count, names.index(name)] = 1.0
    features[count + 1, names.index(GLUE)] = 1.0
    is_unknown = rules.models.is_unknown(ids)
    for row, model in enumerate(rules.models.columns):
        if model >= 0:
            of_model = len(names) - 2 * (len(rules.models.models) - model)
            features[:count, of_model] = rules.models.log_shares(model, tokens)
            features[:count, of_model + 1] = is_unknown[row]
    return features
