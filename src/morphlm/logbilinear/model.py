"""A log-bilinear model as a language model: scoring by words and states, saving, loading."""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from morphlm.arguments import word_ids
from morphlm.arrays import Array, Float32Array, Float64Array, Int32Array
from morphlm.classes.partition import Partition
from morphlm.errors import FormatError, InputError
from morphlm.language_model.base import LanguageModel, check_unknown_contexts
from morphlm.language_model.guards import check_sentences, composed_ids
from morphlm.language_model.origin import Origin
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.language_model.signature import Signature
from morphlm.lazy import cached_property
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.engine import Engine
from morphlm.logbilinear.kernels.query import CompiledModel
from morphlm.logbilinear.parameters import Parameters, check_shapes
from morphlm.logbilinear.plain import score_plainly
from morphlm.logbilinear.query import CachedQueries, compile_model
from morphlm.logbilinear.structure import Structure, build_structure, with_new_words
from morphlm.logbilinear.wide import WideQueries, WideState
from morphlm.modelfile import ModelFiles, check_self_test, write_model
from morphlm.segmentation.analyser import analyser_from_files
from morphlm.segmentation.factors import FACTORS_FILE, MORPHEMES_FILE, parse_factors
from morphlm.text.reading import END
from morphlm.threads import available_cores, workers
from morphlm.vectors.vectors import SideVectors, WordVectors
from morphlm.vocabulary.corpus import check_tokens
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, VOCABULARY_FILE, parse_vocabulary

CLASSES_FILE = "classes.tsv"
FIXED = "fixed_wide_context"  # in the training record of a model whose wide context was fixed: how many words it had
CLASS_OF = "class_of"  # the tensor that is read; classes.tsv is for people
SMALL_TEXT = 4096  # tokens; a shorter text is scored by one thread, which starts sooner

_compiling = threading.RLock()  # composing a model takes memory, so it is done by one thread at a time


def _renew_lock() -> None:
    """In a forked child: a thread that held the lock is not there."""
    global _compiling  # noqa: PLW0603
    _compiling = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

State = tuple[int, ...] | WideState  # the n - 1 words before, the nearest first; more with wide contexts


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

    @property
    def signature(self) -> Signature:
        """The common signature with the width of the vectors, the wide context and the recipe of the training."""
        common = super().signature
        reach = f"fixed{self.training[FIXED]}" if FIXED in self.training else str(self.config.wide or "")
        wide = {"wide": reach} if reach else {}
        added = {"d": str(self.config.width), **wide, "recipe": str(self.training.get("recipe", "own"))}
        index = [name for name, _ in common.fields].index("V")
        return Signature(common.measure, (*common.fields[:index], *added.items(), *common.fields[index:]))

    # ------------------------------------------------------------ scoring

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> State:
        """The n - 1 words before are <s>, or with `sentence=False` UNK; a wide context is empty."""
        check_unknown_contexts(self.kind, unknown_contexts)
        words = (BEGIN_ID if sentence else UNK_ID,) * self.config.distances
        return WideState(words, ()) if self.config.wide else words

    def next_sentence(self, state: State) -> State:
        """The state at the start of the sentence after a state: wide contexts go on."""
        self.check_state(state)
        begin = self.begin()
        if isinstance(begin, WideState) and isinstance(state, WideState):
            return begin._replace(before=state.before)
        return begin

    def is_state(self, state: State) -> bool:
        """States are `n - 1` ids of words; with wide contexts, also those of at most `wide` words before."""
        if type(state) is not (WideState if self.config.wide else tuple):
            return False
        parts = state if isinstance(state, WideState) else WideState(state, ())
        if not parts.fits(self.config):
            return False
        try:
            ids = array("I", parts.words + parts.before)  # not made of what is negative or no whole number
        except (TypeError, OverflowError):
            return False
        return max(ids) < len(self.vocabulary)

    @property
    def reach(self) -> int:
        return self.config.wide

    def score_id(self, state: State, word: int) -> tuple[float, State]:
        queries: Any = self.wide_queries if self.config.wide else self.queries  # they refuse each other's states
        logprob: float = queries.log_probability(state, word)
        if word == BEGIN_ID:
            return -np.inf, self.begin()
        if isinstance(state, WideState):
            return logprob, self.wide_queries.after(state, word)
        return logprob, (word, *state[:-1])

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
        before = tuple(self.vocabulary.encode(text[-self.config.wide :]).tolist()[::-1])
        config, training = replace(self.config, wide=0), self.training | {FIXED: self.config.wide}
        return LogBilinearModel(config, self.structure, self.wide_queries.fixed(before), training, self._output)

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        return self._score(word_ids(tokens, len(self.vocabulary)), self.structure)

    def score_composed(self, tokens: Int32Array, forms: Sequence[str]) -> Float64Array:
        """`score_tokens` with id V + k for an unknown word forms[k], composed of its known factors in contexts."""
        if not self.composes_contexts or self.structure.factors is None:
            return super().score_composed(tokens, forms)
        tokens = composed_ids(tokens, forms, len(self.vocabulary))
        structure = with_new_words(self.structure, self.structure.factors.of_new_words(forms))
        known = np.where(tokens < len(self.vocabulary), tokens, np.int32(UNK_ID))
        return self._score(known, structure, tokens)

    @property
    def partition(self) -> Partition | None:
        """The word classes; None for LBL models, which predict words directly."""
        return self.structure.partition

    @property
    def composes_contexts(self) -> bool:
        """Whether words that are not in the vocabulary can be composed of their factors in contexts."""
        factors = self.structure.factors
        return self.config.context_factors and factors is not None and factors.analyser is not None

    def _score(self, tokens: Int32Array, structure: Structure, contexts: Int32Array | None = None) -> Float64Array:
        with workers(1 if len(tokens) < SMALL_TEXT else self.threads or available_cores()) as threads:
            engine = Engine(self.config, structure, self.parameters, threads)
            return engine.log_probabilities(tokens, self._output, self._biases, contexts)

    def distribution(self, state: Any) -> Float64Array:
        """P of every word after a state, by id; BEGIN has none."""
        if self.config.wide:
            return self.wide_queries.distribution(state)
        return self.queries.distribution(state, self.threads or available_cores())

    @cached_property
    def queries(self) -> CachedQueries:
        """The model compiled for queries, at the first use; threads share it."""
        with _compiling:
            if "queries" in self.__dict__:  # another thread was faster
                return self.__dict__["queries"]  # type: ignore[no-any-return]
            members = self.structure.layout.members
            queries = self.__dict__["queries"] = CachedQueries(self._compiled, members, self.cache_megabytes)
        return queries

    @cached_property
    def _compiled(self) -> CompiledModel:
        with workers(self.threads or available_cores()) as threads:
            return compile_model(self.config, self.structure, self.parameters, threads, self._output)

    @cached_property
    def wide_queries(self) -> WideQueries:
        return WideQueries(self.config, self.structure, self.parameters, self._output, self._biases)

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
            self.__dict__["_output"] = output
        return output

    @cached_property
    def _biases(self) -> Float32Array:
        return self.parameters.b[self.structure.layout.members]

    def _score_few(self, tokens: Sequence[str]) -> list[float]:
        """`sentence` that composes only the words it needs, so that a model just loaded stays small."""
        if self.config.wide:
            return self.sentence(tokens)
        ids = [*self.vocabulary.encode(tokens).tolist(), END_ID]
        return list(map(float, score_plainly(self.config, self.structure, self.parameters, ids)))

    def __copy__(self) -> Self:
        """With queries of its own, but what was composed for them is not composed again."""
        other = super().__copy__()
        composed = ("_compiled", "_output", "_biases", "wide_queries")
        vars(other).update({name: vars(self)[name] for name in composed if name in vars(self)})
        return other

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
    return build_structure(config, vocabulary, partition, factors)
