"""A log-bilinear model as a language model: scoring by words and states, saving, loading."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.classes.partition import Partition
from morphlm.errors import ConfigError, FormatError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.signature import Signature
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.engine import Engine
from morphlm.logbilinear.parameters import Parameters, shapes
from morphlm.logbilinear.structure import Structure, build_structure
from morphlm.modelfile import ModelFiles, check_self_test, write_model
from morphlm.segmentation.factors import FACTORS_FILE, MORPHEMES_FILE, parse_factors
from morphlm.text.processes import available_cores
from morphlm.text.reading import RESERVED
from morphlm.threads import workers
from morphlm.vocabulary.vocabulary import BEGIN_ID, parse_vocabulary

VOCABULARY_FILE, CLASSES_FILE = "vocabulary.tsv", "classes.tsv"
CLASS_OF = "class_of"  # the tensor behind classes.tsv, which is for people
SMALL_TEXT = 4096  # tokens; less are scored by one thread, which starts sooner

Array = NDArray[np.float32]
State = tuple[int, ...]  # the n - 1 words before, the nearest first


class LogBilinearModel(LanguageModel):
    """Any of the eight models of the paper. Word vectors are composed once, so that ++ scores as fast as plain."""

    def __init__(
        self,
        config: LogBilinearConfig,
        structure: Structure,
        parameters: Parameters,
        training: dict[str, Any],
        output: Array | None = None,
    ) -> None:
        """Take parameters whose rows belong to the factors and classes of a structure.

        `output`, the vectors of the words in the order of the classes, is composed when it is needed, if not given.
        """
        self.config, self.structure, self.parameters, self.training = config, structure, parameters, training
        self._given_output = output
        self.vocabulary, self.order, self.kind = structure.vocabulary, config.order, config.kind

    @property
    def signature(self) -> Signature:
        """As that of every model, with the width of the vectors and the recipe of the training."""
        plain = super().signature
        added = {"d": str(self.config.width), "recipe": str(self.training.get("recipe", "own"))}
        at = [name for name, _ in plain.fields].index("V")
        return Signature(plain.measure, (*plain.fields[:at], *added.items(), *plain.fields[at:]))

    # ------------------------------------------------------------ scoring

    def begin(self) -> State:
        """The state at the start of a sentence."""
        return (BEGIN_ID,) * (self.order - 1)

    def score_id(self, state: State, word: int) -> tuple[float, State]:
        """ln P(word | state) and the state after it."""
        if word == BEGIN_ID:
            return -np.inf, self.begin()
        prediction = self._prediction(state)
        c = int(self.structure.class_of[word])
        first, last = self.structure.layout.starts[c : c + 2]
        scores = self._output[first:last] @ prediction + self._biases[first:last]
        target = self.structure.layout.position_of[word] - first
        logprob = _log_softmax(scores)[target] + self._log_classes(prediction)[c]
        return float(logprob), (word, *state[:-1])

    def score_tokens(self, tokens: NDArray[np.int32]) -> NDArray[np.float64]:
        """ln P of every token of encoded sentences, each ending with END."""
        with workers(1 if len(tokens) < SMALL_TEXT else available_cores()) as threads:
            engine = Engine(self.config, self.structure, self.parameters, threads)
            return engine.log_probabilities(tokens, self._output, self._biases)

    def distribution(self, state: State) -> NDArray[np.float64]:
        """P of every word after a state, by id; BEGIN has none."""
        prediction = self._prediction(state)
        layout, log_classes = self.structure.layout, self._log_classes(prediction)
        scores = (self._output @ prediction + self._biases).astype(np.float64)
        result = np.zeros(len(self.vocabulary))
        for c, (first, last) in enumerate(zip(layout.starts[:-1], layout.starts[1:], strict=True)):
            result[layout.members[first:last]] = np.exp(log_classes[c] + _log_softmax(scores[first:last]))
        return result

    @cached_property
    def _output(self) -> Array:
        """R = M R^(f) by position."""
        if self._given_output is not None:
            return self._given_output
        with workers(1) as threads:
            return Engine(self.config, self.structure, self.parameters, threads).output_vectors()

    @cached_property
    def _biases(self) -> Array:
        return self.parameters.b[self.structure.layout.members]

    def _prediction(self, state: State) -> Array:
        """p = sum_j q_j C_j."""
        rows, prediction = self.structure.context.rows, np.zeros(self.config.width, np.float32)
        for transform, word in zip(self.parameters.C, state, strict=True):
            q = self.parameters.Q[rows.items[rows.starts[word] : rows.starts[word + 1]]].sum(axis=0)
            prediction += q * transform if self.config.diagonal else q @ transform
        return prediction

    def _log_classes(self, prediction: Array) -> NDArray[np.float64]:
        """ln P(c|h) of every class."""
        if not self.config.classes:
            return np.zeros(1)
        return _log_softmax(self.parameters.S @ prediction + self.parameters.t)

    # ------------------------------------------------------------ files

    def save(self, directory: str | Path, *, notes: Mapping[str, str] | None = None) -> None:
        """Write the model directory; one that is there is replaced in one step. Notes are files for people."""
        write_model(directory, self.to_files(notes or {}))

    def to_files(self, notes: Mapping[str, str]) -> ModelFiles:
        """All that the directory holds."""
        structure = self.structure
        tensors: dict[str, NDArray[Any]] = dict(self.parameters.named())
        texts = {VOCABULARY_FILE: self.vocabulary.to_tsv()}
        if structure.partition is not None:
            tensors[CLASS_OF] = structure.partition.class_of.astype(np.int32)
            texts[CLASSES_FILE] = structure.partition.to_tsv()
        if structure.factors is not None:
            texts |= structure.factors.to_texts()
        return ModelFiles(
            kind=self.kind,
            configuration=self.config.to_json(),
            training=self.training,
            tensors=tensors,
            texts=texts,
            self_test=[self._self_test_case(tokens) for tokens in self._self_test_sentences()],
            notes=notes,
        )

    def _self_test_sentences(self) -> list[list[str]]:
        """Some likely words, some rare ones, and one that cannot be known."""
        words = self.vocabulary.words[len(RESERVED) :]
        return [[], list(words[:5]), list(words[-5:]), ["\N{SNOWMAN}\N{SNOWMAN}"]]

    def _self_test_case(self, tokens: list[str]) -> dict[str, Any]:
        return {"tokens": tokens, "logprobs": [round(logprob, 5) for logprob in self.sentence(tokens)]}


def _log_softmax(scores: NDArray[Any]) -> NDArray[np.float64]:
    shifted = scores.astype(np.float64) - scores.max()
    result: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum())
    return result


def logbilinear_from_files(directory: str | Path, files: ModelFiles) -> LogBilinearModel:
    """The model that a checked directory holds; its self-test is run."""
    try:
        config = LogBilinearConfig(**files.configuration)
        structure = _read_structure(directory, config, files)
        parameters = Parameters(*(files.tensors[name] for name in Parameters._fields))
    except (KeyError, TypeError, ValueError, IndexError, ConfigError) as error:
        raise FormatError(f"{directory}: parts are missing or do not fit ({error}); make the model again") from error
    if files.kind != config.kind:
        raise FormatError(f"{directory}: it says {files.kind!r} but is {config.kind!r}; make the model again")
    for name, shape in shapes(config, structure).items():
        array = getattr(parameters, name)
        if array.shape != shape or array.dtype != np.float32:
            raise FormatError(f"{directory}: {name} does not fit the vocabulary; make the model again")
    model = LogBilinearModel(config, structure, parameters, files.training)
    check_self_test(directory, files.self_test, model.sentence)
    return model


def _read_structure(directory: str | Path, config: LogBilinearConfig, files: ModelFiles) -> Structure:
    vocabulary = parse_vocabulary(files.texts[VOCABULARY_FILE], f"{directory}/{VOCABULARY_FILE}")
    partition = factors = None
    if config.classes:
        class_of = np.array(files.tensors[CLASS_OF])
        partition = Partition(vocabulary, class_of, len(files.tensors["S"]), "model")
    if config.context_factors or config.output_factors:
        texts = {name: files.texts[name] for name in (MORPHEMES_FILE, FACTORS_FILE)}
        factors = parse_factors(texts, vocabulary, source=str(directory))
    return build_structure(config, vocabulary, partition, factors)
