"""A log-bilinear model as a language model: scoring by words and states, saving, loading."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from morphlm.arguments import check_token, word_id, word_ids
from morphlm.arrays import Array, Float32Array, Float64Array, Int32Array
from morphlm.classes.partition import Partition
from morphlm.errors import FormatError, InputError
from morphlm.language_model.addition import EXTENDED, Addition
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.guards import (
    Words,
    asked_words,
    check_sentences,
    composed_ids,
    states_and_words,
)
from morphlm.language_model.origin import Origin
from morphlm.language_model.perplexity import UnknownContexts, composes
from morphlm.language_model.signature import Signature
from morphlm.lazy import cached_property
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.context_tables import ContextSide, ContextTables
from morphlm.logbilinear.engine import Engine
from morphlm.logbilinear.kernels.query import CompiledModel
from morphlm.logbilinear.parameters import Parameters, check_shapes
from morphlm.logbilinear.plain import score_plainly
from morphlm.logbilinear.query import CachedQueries, compile_output, complete_output, with_contexts
from morphlm.logbilinear.state_queries import StateQueries
from morphlm.logbilinear.states import ComposedState, NewWords, State, StateSpace, StateWord, WideState
from morphlm.logbilinear.structure import Endings, Structure, build_structure, with_new_words
from morphlm.logbilinear.text_scoring import TextPredictor, TokenScorer
from morphlm.logbilinear.wide import content_weights
from morphlm.modelfile import ModelFiles, check_self_test, write_model
from morphlm.segmentation.analyser import analyser_from_files
from morphlm.segmentation.factors import FACTORS_FILE, MORPHEMES_FILE, parse_factors
from morphlm.text.reading import END
from morphlm.threads import available_cores, one_worker, workers
from morphlm.vectors.vectors import SideVectors, WordVectors
from morphlm.vocabulary.corpus import check_tokens
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, NOTHING, UNK_ID, VOCABULARY_FILE, parse_vocabulary

CLASSES_FILE = "classes.tsv"
ENDING_VECTORS, ENDING_OF = "ending_vectors", "ending_of"  # tensors of a model that was extended by words
FIXED = "fixed_wide_context"  # in the training record of a model whose wide context was fixed: how many words it had
CLASS_OF = "class_of"  # the tensor that is read; classes.tsv is for people
SMALL_TEXT = 4096  # tokens; a shorter text is scored by one thread, which starts sooner

ONE_BY_ONE = 4  # tokens; a longer sentence is scored in order of classes

_compiling = threading.RLock()  # composing a model takes memory, so it is done by one thread at a time


def _renew_lock() -> None:
    """In a forked child: a thread that held the lock is not there."""
    global _compiling  # noqa: PLW0603
    _compiling = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class LogBilinearModel(LanguageModel, checks_itself=True):
    """Any of the eight models of the paper. Word vectors are composed once, so that CLBL++ scores as fast as CLBL."""

    threads: int | None = None  # for scoring a text; None: all cores
    cache_megabytes: float = 32.0  # for each thread that asks queries; set it before the first query

    def __init__(
        self,
        config: LogBilinearConfig,
        structure: Structure,
        parameters: Parameters,
        training: dict[str, Any],
        output: Float32Array | None = None,
    ) -> None:
        """`output`, the vectors of the words in the order of the classes, is composed when needed, if not given."""
        self.config, self.structure, self.parameters, self.training = config, structure, parameters, training
        self._precomposed_output = output
        self.vocabulary, self.order, self.kind = structure.vocabulary, config.order, config.kind
        self._one_by_one = 0 if config.wide else ONE_BY_ONE

    @property
    def signature(self) -> Signature:
        """The common signature with the width of the vectors, the wide context and the recipe of the training."""
        return full_signature(super().signature, self.config, self.training)

    # ------------------------------------------------------------ scoring

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> State:
        """The n - 1 words before are <s>, or with `sentence=False` there are none; a wide context is empty."""
        return self._space.begin(sentence=sentence, composed=composes(unknown_contexts))

    def next_sentence(self, state: State) -> State:
        """The state at the start of the sentence after a state: wide contexts go on."""
        self.check_state(state)
        return self._space.next_sentence(state)

    def is_state(self, state: State) -> bool:
        """States are `n - 1` words; with wide contexts, also at most `wide` words before."""
        return self._space.is_state(state)

    @cached_property
    def _space(self) -> StateSpace:
        factors = self.structure.context.factors if self.composes_contexts else 0
        weights = content_weights(self.structure).tolist() if self.config.wide else []
        return StateSpace(self.config, len(self.vocabulary), factors, weights)

    @property
    def reach(self) -> int:
        return self.config.wide

    def score_id(self, state: State, word: int) -> tuple[float, State]:
        if type(state) is tuple and not self.config.wide:
            logprob = self.queries.log_probability(state, word)  # type: ignore[arg-type]
            return logprob, ((word, *state[:-1]) if word != BEGIN_ID else self.begin())
        word = word_id(word, len(self.vocabulary))
        return self._score_other(state, word, word)

    def score(self, state: State, word: str) -> tuple[float, State]:
        number = self.vocabulary.ids.get(word) if isinstance(word, str) else None
        if number is not None:
            return self.score_id(state, number)
        check_token(word)
        if isinstance(state, ComposedState):
            return self._score_other(state, UNK_ID, self.in_contexts(word))
        return self.score_id(state, UNK_ID)

    def _score_other(self, state: State, word: int, in_contexts: StateWord) -> tuple[float, State]:
        """A word after a state with a wide context or composed words; contexts may see another word."""
        logprob = self.states.score_many([state], np.array([word], np.int32))[0]
        return float(logprob), self._space.after(state, in_contexts)

    def in_contexts(self, word: str) -> StateWord:
        """An unknown word in states that compose: its known factors, UNK if there are none."""
        assert self.structure.factors is not None
        return self._new_words.of(word, self.structure.factors)

    def score_many(self, states: Sequence[Any], words: Words) -> tuple[Float64Array, list[Any]]:
        listed, asked = states_and_words(states, words, self.vocabulary)
        logprobs = self.states.score_many(listed, asked.ids)
        in_contexts: list[StateWord] = asked.ids.tolist()
        for k, form in asked.unknown:
            if isinstance(listed[k], ComposedState):
                in_contexts[k] = self.in_contexts(form)
        return logprobs, self._space.all_after(listed, in_contexts)

    def score_grid(self, states: Sequence[Any], words: Words) -> Float64Array:
        return self.states.score_grid(states, asked_words(words, self.vocabulary).ids)

    def after_text(self, sentences: Iterable[Sequence[str]]) -> LogBilinearModel:
        """The model for one more sentence after a text: the wide context is fixed, so that states are n - 1 words.

        Made for decoders: queries are as fast as without wide contexts. The first word of the sentence has the same
        probability as under this model; the wide context of later words does not include the sentence itself.
        """
        check_sentences(sentences)
        if not self.config.wide:
            return self
        text: list[str] = []
        for number, sentence in enumerate(sentences, 1):
            check_tokens(sentence, allow_unknown=True, number=number)
            text += [*sentence, END]
        before = self.vocabulary.encode(text[-self.config.wide :])[::-1]
        config, training = replace(self.config, wide=0), self.training | {FIXED: self.config.wide}
        return LogBilinearModel(config, self.structure, self._fixed_parameters(before), training, self._output)

    def _fixed_parameters(self, before: Int32Array) -> Parameters:
        """Parameters of a model without wide contexts that agrees with this one as long as `before` does not change.

        With p = p' + u C, p . r_w + b_w = p' . r_w + (u C . r_w + b_w): the constant part becomes part of the biases.
        """
        nothing, parameters = (NOTHING,) * self.config.distances, self.parameters
        part = self.states.predictions([WideState(nothing, tuple(before.tolist()))])[0]
        biases = parameters.b.copy()
        np.add.at(biases, self.structure.layout.members, self._output @ part)  # UNK may be there twice
        return parameters._replace(
            C=parameters.C[: self.config.distances], b=biases, t=parameters.t + parameters.S @ part
        )

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        ids = word_ids(tokens, len(self.vocabulary))
        if len(ids) < SMALL_TEXT and "states" in vars(self):
            return self.states.score_text(ids)
        return self._score_text(ids, ids, self.structure)

    def score_composed(self, tokens: Int32Array, forms: Sequence[str]) -> Float64Array:
        """`score_tokens` with id V + k for an unknown word forms[k], composed of its known factors in contexts."""
        if not self.composes_contexts or self.structure.factors is None:
            return super().score_composed(tokens, forms)
        tokens = composed_ids(tokens, forms, len(self.vocabulary))
        factors = self.structure.factors.of_new_words(forms)
        structure = with_new_words(self.structure, list(map(np.sort, factors)))
        known = np.where(tokens < len(self.vocabulary), tokens, np.int32(UNK_ID))
        return self._score_text(known, tokens, structure)

    def score_sentences(
        self, tokens: Int32Array, forms: Sequence[str] = (), *, after: Int32Array | None = None
    ) -> Float64Array:
        if not self.config.wide or len(forms) or (after is not None and len(after)):
            return super().score_sentences(tokens, forms, after=after)
        ids = word_ids(tokens, len(self.vocabulary))
        return self._score_text(ids, ids, self.structure, separate=True)

    def score_and_predict(self, tokens: Int32Array) -> tuple[Float64Array, Float32Array]:
        """ln P of every token of a text, and p, the vector that predicts it, (tokens, d)."""
        ids = word_ids(tokens, len(self.vocabulary))
        predictions = np.zeros((len(ids), self.config.width), np.float32)
        return self._score_text(ids, ids, self.structure, predictions=predictions), predictions

    def predictions(self, tokens: Int32Array) -> Float32Array:
        """p, the vector that predicts a token, of every token of a text, (tokens, d)."""
        ids = word_ids(tokens, len(self.vocabulary))
        with one_worker() as alone:
            return TextPredictor(self._context_tables, alone).predict(ids, self.structure)

    @property
    def partition(self) -> Partition | None:
        """The word classes; None for LBL models, which predict words directly."""
        return self.structure.partition

    @property
    def composes_contexts(self) -> bool:
        """Whether words that are not in the vocabulary can be composed of their factors in contexts."""
        factors = self.structure.factors
        return self.config.context_factors and factors is not None and factors.analyser is not None

    def _score_text(self, tokens: Int32Array, contexts: Int32Array, structure: Structure, **how: Any) -> Float64Array:
        """`contexts` are the tokens as contexts see them, ids of the structure's context side; `how` is for `score`."""
        with one_worker() if len(tokens) < SMALL_TEXT else workers(self.threads or available_cores()) as pool:
            scorer = TokenScorer(self._context_tables, self._output_side, pool)
            return scorer.score(tokens, contexts, structure, **how)

    def _compile_queries(self) -> None:
        _ = self.states

    def _score_in_turn(self, words: Sequence[int], state: State) -> list[float]:
        if type(state) is not tuple or self.config.wide:
            return super()._score_in_turn(words, state)
        return self.queries.score_in_turn(cast(tuple[int, ...], state), words)

    def distribution(self, state: Any) -> Float64Array:
        """P of every word after a state, by id; BEGIN has none."""
        distribution: Float64Array = self.distributions([state])[0]
        return distribution

    def distributions(self, states: Sequence[Any]) -> Float64Array:
        return self.states.distributions(states, self.threads or available_cores())

    @cached_property
    def queries(self) -> CachedQueries:
        """The model compiled for queries, at the first use; threads share it."""
        with _compiling:
            if "queries" in self.__dict__:  # another thread was faster
                return self.__dict__["queries"]  # type: ignore[no-any-return]
            members = self.structure.layout.members
            compiled = with_contexts(self._output_side, self._context_side.table)
            queries = self.__dict__["queries"] = CachedQueries(compiled, members, self.cache_megabytes)
        return queries

    @cached_property
    def states(self) -> StateQueries:
        """Queries by many states at once."""
        return StateQueries(self._space, self.queries, self._context_side, self._context_tables)

    @cached_property
    def _context_side(self) -> ContextSide:
        with _compiling:
            if "_context_side" in self.__dict__:
                return self.__dict__["_context_side"]  # type: ignore[no-any-return]
            with workers(self.threads or available_cores()) as threads:
                side = self.__dict__["_context_side"] = self._context_tables.of_vocabulary(threads)
        return side

    @cached_property
    def _context_tables(self) -> ContextTables:
        return ContextTables(self.config, self.structure, self.parameters)

    @cached_property
    def _output_side(self) -> CompiledModel:
        return compile_output(self.structure, self.parameters, self._output)

    @cached_property
    def _new_words(self) -> NewWords:
        return NewWords()

    @cached_property
    def _output(self) -> Float32Array:
        """R = M R^(f) by position."""
        if self._precomposed_output is not None:
            return self._precomposed_output
        with _compiling:
            if "_output" in self.__dict__:  # another thread was faster
                return self.__dict__["_output"]  # type: ignore[no-any-return]
            with workers(self.threads or available_cores()) as threads:
                output = Engine(self.config, self.structure, self.parameters, threads).output_vectors()
                complete_output(self.structure, output)
            self.__dict__["_output"] = output
        return output

    def _score_for_test(self, tokens: Sequence[str]) -> list[float]:
        """By the engine that trained the model, unless words were added to it."""
        if self.structure.added:
            return super()._score_for_test(tokens)
        ids = np.append(self.vocabulary.encode(tokens), np.int32(END_ID))
        biases = self.parameters.b[self.structure.layout.members]
        with workers(1) as alone:
            engine = Engine(self.config, self.structure, self.parameters, alone)
            logprobs: list[float] = engine.log_probabilities(ids, self._output, biases).tolist()
        return logprobs

    def _score_few(self, tokens: Sequence[str]) -> list[float]:
        """`sentence` that composes only the words it needs, so that a model just loaded stays small."""
        if self.config.wide:
            return self._score_for_test(tokens)
        ids = [*self.vocabulary.encode(tokens).tolist(), END_ID]
        return list(map(float, score_plainly(self.config, self.structure, self.parameters, ids)))

    def __copy__(self) -> Self:
        """With queries of its own, but what was composed for them is not composed again."""
        other = super().__copy__()
        composed = ("_context_side", "_context_tables", "_output_side", "_output")
        vars(other).update({name: vars(self)[name] for name in composed if name in vars(self)})
        return other

    def _with_addition(self, addition: Addition) -> LogBilinearModel:
        extending = importlib.import_module("morphlm.logbilinear.extending")  # it makes models, so it stands above
        extended: LogBilinearModel = extending.extend_logbilinear(self, addition)
        return extended

    # ------------------------------------------------------------ vectors

    @cached_property
    def vectors(self) -> WordVectors:
        """The vectors [q; r] of words and morphemes, also of words never seen."""
        context = SideVectors(self.parameters.Q, self.structure.factors if self.config.context_factors else None)
        output = SideVectors(self.parameters.R, self.structure.factors if self.config.output_factors else None)
        return WordVectors(self.vocabulary, context, output, dict(self.signature.fields))

    # ------------------------------------------------------------ files

    def save(self, directory: str | Path, *, notes: Mapping[str, str] | None = None) -> None:
        """Write the model directory; one that is there is replaced in one step. Notes are files for people."""
        self.origin = Origin.of(self, directory, write_model(directory, self.to_files(notes or {})))

    def to_files(self, notes: Mapping[str, str]) -> ModelFiles:
        structure = self.structure
        tensors: dict[str, Array] = dict(self.parameters.named())
        texts = {VOCABULARY_FILE: self.vocabulary.to_tsv()}
        if structure.partition is not None:
            tensors[CLASS_OF] = structure.partition.class_of.astype(np.int32)
            texts[CLASSES_FILE] = structure.partition.to_tsv()
        if structure.endings is not None:
            tensors |= {ENDING_VECTORS: structure.endings.vectors, ENDING_OF: structure.endings.ending_of}
        if structure.factors is not None:
            texts |= structure.factors.to_texts()
            if structure.factors.analyser is not None:
                texts |= structure.factors.analyser.to_texts()
                tensors |= structure.factors.analyser.to_tensors()
        return ModelFiles(
            kind=self.kind,
            configuration=self.config.to_json(),
            training=self.training,
            tensors=tensors,
            texts=texts,
            self_test=self.self_test(),
            notes=notes,
        )


def full_signature(common: Signature, config: LogBilinearConfig, training: Mapping[str, Any]) -> Signature:
    """The common signature with the width of the vectors, the wide context and the recipe."""
    reach = f"fixed{training[FIXED]}" if FIXED in training else str(config.wide or "")
    wide = {"wide": reach} if reach else {}
    added = {"d": str(config.width), **wide, "recipe": str(training.get("recipe", "own"))}
    index = [name for name, _ in common.fields].index("V")
    return Signature(common.measure, (*common.fields[:index], *added.items(), *common.fields[index:]))


def logbilinear_from_files(directory: str | Path, files: ModelFiles) -> LogBilinearModel:
    """The model that a checked directory holds; its self-test is run."""
    try:
        config = LogBilinearConfig(**files.configuration)
        structure = _read_structure(directory, config, files)
    except (FormatError, InputError):
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FormatError(f"{directory}: parts are missing or do not fit ({error}); make the model again") from error
    if files.kind != config.kind:
        raise FormatError(f"{directory}: it says {files.kind!r} but is {config.kind!r}; make the model again")
    parameters = Parameters(*(files.tensors[name] for name in Parameters._fields))
    check_shapes(parameters, config, structure, directory)
    model = LogBilinearModel(config, structure, parameters, files.training)
    check_self_test(directory, files.self_test, model._score_few)
    return model


def _read_structure(directory: str | Path, config: LogBilinearConfig, files: ModelFiles) -> Structure:
    vocabulary = parse_vocabulary(files.texts[VOCABULARY_FILE], f"{directory}/{VOCABULARY_FILE}")
    partition = factors = None
    if config.classes:
        class_of = np.array(files.tensors[CLASS_OF])
        partition = Partition(vocabulary, class_of, len(files.tensors["S"]), "model")
    if config.context_factors or config.output_factors:
        texts = {name: files.texts[name] for name in (MORPHEMES_FILE, FACTORS_FILE)}
        analyser = analyser_from_files(files.texts, files.tensors)
        factors = parse_factors(texts, vocabulary, source=str(directory), analyser=analyser)
    added = files.training.get(EXTENDED, 0)
    endings = Endings(files.tensors[ENDING_VECTORS], files.tensors[ENDING_OF]) if added and config.classes else None
    return build_structure(config, vocabulary, partition, factors, added, endings)
