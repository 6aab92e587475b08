"""A log-bilinear model of a compiled file: R and Q C_j are there, so that nothing is composed; parameters are not."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from morphlm.arguments import check_token, word_id, word_ids
from morphlm.arrays import Float32Array, Float64Array, Int32Array
from morphlm.errors import ConfigError
from morphlm.language_model.addition import Addition
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.guards import Words, asked_words, composed_ids, no_state, state_list, states_and_words
from morphlm.language_model.perplexity import UnknownContexts, composes
from morphlm.language_model.signature import Signature
from morphlm.lazy import cached_property
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.context_tables import ContextSide
from morphlm.logbilinear.kernels.prediction import ContextTable, WideTable, token_contexts
from morphlm.logbilinear.kernels.query import CompiledModel
from morphlm.logbilinear.model import SMALL_TEXT, full_signature
from morphlm.logbilinear.query import CachedQueries
from morphlm.logbilinear.state_queries import StateQueries
from morphlm.logbilinear.states import ComposedState, StateSpace
from morphlm.threads import available_cores, one_worker, workers
from morphlm.vectors.vectors import WordVectors
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, Vocabulary

State = tuple[int, ...] | ComposedState  # words beyond the vocabulary have the ids of `new_words` in the latter


class CompiledLogBilinear(LanguageModel, checks_itself=True):
    """Scores as the model that it was exported from. States are n - 1 words; a wide context is fixed.

    Unknown words are composed in contexts if they were listed when the file was written.
    """

    threads: int | None = None  # for scoring a text; None: all cores
    cache_megabytes: float = 32.0  # for each thread that asks queries; set it before the first query

    def __init__(
        self,
        config: LogBilinearConfig,
        tables: CompiledModel,
        vocabulary: Vocabulary,
        new_words: Mapping[str, int],
        training: dict[str, Any],
    ) -> None:
        """`tables` have rows for the words of the vocabulary, then for `new_words`, whose ids follow."""
        self.config, self.tables, self.vocabulary, self.training = config, tables, vocabulary, training
        self.new_words, self.order, self.kind = new_words, config.order, config.kind

    @property
    def signature(self) -> Signature:
        return full_signature(super().signature, self.config, self.training)

    # ------------------------------------------------------------ states

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> State:
        """The n - 1 words before are <s>, or with `sentence=False` there are none."""
        words: Any = self._space.begin(sentence=sentence, composed=False)
        return ComposedState(words, ()) if composes(unknown_contexts) and self.new_words else words

    def is_state(self, state: State) -> bool:
        """A tuple of n - 1 words, or a `ComposedState` of them."""
        return self._space.is_state(self._words_of(state))

    def _words_of(self, state: State) -> Any:
        """The tuple of a state's words; those of what is no state are refused later."""
        if not isinstance(state, ComposedState):
            return state
        is_one = self.new_words and state.before == () and state.unknown_contexts == "composed"
        return state.words if is_one else None

    def _plain(self, states: Sequence[State]) -> list[Any]:
        listed = state_list(states)
        return list(map(self._words_of, listed)) if self.new_words else listed

    def _after(self, state: State, word: int) -> State:
        if word == BEGIN_ID:
            return self.begin(unknown_contexts="composed" if isinstance(state, ComposedState) else "unk")
        if isinstance(state, ComposedState):
            return state._replace(words=(word, *state.words[:-1]))
        return (word, *state[:-1])

    def in_contexts(self, word: str) -> int:
        """An unknown word in states that compose: its own id if it was listed, else UNK."""
        return self.new_words.get(word, UNK_ID)

    @property
    def composes_contexts(self) -> bool:
        """Whether words that are not in the vocabulary were listed to be composed."""
        return bool(self.new_words)

    # ------------------------------------------------------------ scoring

    def score_id(self, state: State, word: int) -> tuple[float, State]:
        word = word_id(word, len(self.vocabulary)) if type(word) is not int or word >= len(self.vocabulary) else word
        words = self._words_of(state)
        if words is None:
            raise no_state(state)
        return self.queries.log_probability(words, word), self._after(state, word)

    def score(self, state: State, word: str) -> tuple[float, State]:
        number = self.vocabulary.ids.get(word) if isinstance(word, str) else None
        if number is not None:
            return self.score_id(state, number)
        check_token(word)
        logprob, after = self.score_id(state, UNK_ID)
        return logprob, self._after(state, self.in_contexts(word)) if isinstance(state, ComposedState) else after

    def score_many(self, states: Sequence[Any], words: Words) -> tuple[Float64Array, list[Any]]:
        listed, asked = states_and_words(states, words, self.vocabulary)
        logprobs = self.states.score_many(self._plain(listed), asked.ids)
        in_contexts: list[int] = asked.ids.tolist()
        for k, form in asked.unknown:
            if isinstance(listed[k], ComposedState):
                in_contexts[k] = self.in_contexts(form)
        return logprobs, list(map(self._after, listed, in_contexts))

    def score_grid(self, states: Sequence[Any], words: Words) -> Float64Array:
        return self.states.score_grid(self._plain(states), asked_words(words, self.vocabulary).ids)

    def distribution(self, state: Any) -> Float64Array:
        distribution: Float64Array = self.distributions([state])[0]
        return distribution

    def distributions(self, states: Sequence[Any]) -> Float64Array:
        """P of every word after every state; BEGIN has none."""
        of_all = self.states.distributions(self._plain(states), self.threads or available_cores())
        return of_all[:, : len(self.vocabulary)]

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        return self._score_text(word_ids(tokens, len(self.vocabulary)))

    def score_composed(self, tokens: Int32Array, forms: Sequence[str]) -> Float64Array:
        """`score_tokens` with id V + k for an unknown word forms[k]; contexts see it composed if it was listed."""
        ids = composed_ids(tokens, forms, len(self.vocabulary))
        listed = np.array([*range(len(self.vocabulary)), *map(self.in_contexts, forms)], np.int32)
        return self._score_text(listed[ids])

    def _score_text(self, ids: Int32Array) -> Float64Array:
        """Tokens as contexts see them; those beyond the vocabulary are predicted as UNK."""
        contexts, logprobs = token_contexts(ids, 0, self.config.distances, BEGIN_ID, END_ID), np.empty(len(ids))

        def score_range(begin: int, end: int) -> None:
            logprobs[begin:end] = self.queries.score_contexts(contexts[begin:end], ids[begin:end])

        with one_worker() if len(ids) < SMALL_TEXT else workers(self.threads or available_cores()) as pool:
            pool.run_ranges(score_range, len(ids), SMALL_TEXT)
        return logprobs

    def _compile_queries(self) -> None:
        _ = self.states

    @cached_property
    def queries(self) -> CachedQueries:
        """The tables for queries; threads share them, each has its own cache."""
        positions = self.tables.position_of[: len(self.vocabulary)]
        members = np.empty(len(self.tables.output), np.int32)
        members[np.delete(positions, BEGIN_ID)] = np.delete(np.arange(len(positions), dtype=np.int32), BEGIN_ID)
        if self.tables.unknown >= 0:
            members[self.tables.unknown] = UNK_ID  # which is there twice
        return CachedQueries(self.tables, members, self.cache_megabytes)

    @cached_property
    def states(self) -> StateQueries:
        """Queries by many states at once."""
        table = ContextTable(self.tables.context, self.tables.offset, self.tables.diagonals)
        nothing = np.zeros((0, self.config.width), np.float32)
        wide = WideTable(nothing, np.zeros(0), nothing, 1.0)
        # States never have factors, of which tables would be made.
        return StateQueries(self._space, self.queries, ContextSide(table, wide), None)  # type: ignore[arg-type]

    @cached_property
    def _space(self) -> StateSpace:
        return StateSpace(self.config, len(self.tables.position_of), 0, ())

    def score_plainly(self, words: Int32Array) -> Float64Array:
        """ln P of the words of one sentence by NumPy alone, which needs no kernel: for the self-test."""
        tables, contexts = self.tables, _contexts(words, self.config.distances)
        predictions = np.zeros((len(words), self.config.width), np.float32)
        for j in range(self.config.distances):
            rows = tables.context[contexts[:, j] + j * tables.offset]
            predictions += rows * tables.diagonals[j] if len(tables.diagonals) else rows
        positions, logprobs = tables.position_of[words], np.zeros(len(words))
        if tables.unknown >= 0 and (is_member := positions >= (first := tables.starts[-2])).any():
            scores = predictions[is_member] @ tables.output[first:].T + tables.biases[first:]
            logprobs[is_member] = _log_softmax(scores, positions[is_member] - first)
            positions = np.where(is_member, tables.unknown, positions)
        classes = tables.class_of[positions]
        if len(tables.class_biases):
            logprobs += _log_softmax(predictions @ tables.class_vectors.T + tables.class_biases, classes)
        for number in np.unique(classes):
            here, (first, last) = np.flatnonzero(classes == number), tables.starts[number : number + 2]
            scores = predictions[here] @ tables.output[first:last].T + tables.biases[first:last]
            logprobs[here] += _log_softmax(scores, positions[here] - first)
        return logprobs

    # ------------------------------------------------------------ what a compiled file has not

    @property
    def vectors(self) -> WordVectors:
        raise ConfigError(
            "a compiled model has no vectors of words and morphemes; ask the model that it was exported from"
        )

    def _with_addition(self, addition: Addition) -> NoReturn:
        raise ConfigError(
            "a compiled model has no factors to make new words of; extend the model that it was exported from, and "
            "export that again"
        )

    def save(self, directory: str | Path) -> NoReturn:
        raise ConfigError(
            "a compiled model has no parameters, so it cannot become a model directory; copy its file, or save the "
            "model that it was exported from"
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By the file, if it is still there, else by the tables."""
        transport = importlib.import_module("morphlm.scoring.transport")
        content = self.config, self.tables, self.vocabulary, self.new_words, self.training
        return transport.reduce_by_directory(self) or (type(self), content, transport.own_settings(self) or None)


def _contexts(words: Int32Array, distances: int) -> Int32Array:
    """The words before each word of a sentence, the nearest first."""
    before = np.concatenate([np.full(distances, BEGIN_ID, np.int32), words])
    return np.stack([before[distances - 1 - j :][: len(words)] for j in range(distances)], axis=1)


def _log_softmax(scores: Float32Array, chosen: Int32Array) -> Float64Array:
    """The logarithm of the softmax at the chosen column of each row."""
    precise = scores.astype(np.float64)
    precise -= precise.max(axis=1, keepdims=True)
    logprobs: Float64Array = precise[np.arange(len(scores)), chosen] - np.log(np.exp(precise).sum(axis=1))
    return logprobs
