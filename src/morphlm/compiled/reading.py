"""Loading a compiled file: mapped, checked against its schema, and made a model without computing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from morphlm.arrays import Array, Float32Array, Float64Array, Int32Array, Int64Array, read_only, release_pages
from morphlm.compiled.logbilinear import CompiledLogBilinear
from morphlm.compiled.schema import ModelType, Part, Sorting, check_parts
from morphlm.compiled.words import unpack_words
from morphlm.compiledfile import map_container
from morphlm.errors import ConfigError, FormatError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.origin import Origin
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels.query import CompiledModel
from morphlm.ngram.model import NgramModel
from morphlm.ngram.trie import NgramTrie
from morphlm.schema import SchemaError
from morphlm.scoring.contexts import ComponentContexts, Contexts, LastWordContexts
from morphlm.scoring.mixture import Component, MixtureModel, WeightsBy, numbered
from morphlm.vocabulary.vocabulary import Vocabulary

TOLERANCE = 1e-4  # of the self-test, in nats, and relative


def load_compiled(path: str | Path) -> LanguageModel:
    """The model of a compiled file. Its digest, its content and its self-test are checked."""
    container = map_container(path)
    try:
        parts = check_parts(container)
        release_pages(container.arrays[0]["models"])  # all are maps of one file
        model = model_of_parts(parts, container.sizes.words)
        check_tests(model, parts[0])
    except (SchemaError, ConfigError) as problem:
        raise FormatError(f"{path}: {problem}; export the model again") from problem
    model.origin = Origin.of(model, path, container.digest)
    return model


def model_of_parts(parts: Sequence[Part], words: int) -> LanguageModel:
    """The model that the first part is."""
    root = parts[0].arrays
    forms = unpack_words(root["word_bytes"], root["word_starts"])
    vocabulary = Vocabulary(forms[:words], root["counts"])
    new_words = dict(zip(forms[words:], range(words, len(forms)), strict=True))
    if len(new_words) < len(forms) - words or any(word in vocabulary.ids for word in new_words):
        raise SchemaError("a new word is there twice, or in the vocabulary")
    return _Builder(parts, new_words).model(0, vocabulary)


class _Builder:
    """Makes the models of one file."""

    def __init__(self, parts: Sequence[Part], new_words: Mapping[str, int]) -> None:
        self._parts, self._new_words = parts, new_words

    def model(self, number: int, vocabulary: Vocabulary) -> LanguageModel:
        """One of the models, with the vocabulary of the one that it is part of."""
        part = self._parts[number]
        if part.type == ModelType.MIXTURE:
            return self._mixture(part, vocabulary)
        training = dict(part.record["training"])
        if part.type == ModelType.NGRAM:
            return NgramModel(_trie(part.arrays), vocabulary, training)
        config, tables = LogBilinearConfig(**part.record["configuration"]), _tables(part.arrays)
        composes = len(tables.position_of) > len(vocabulary)
        return CompiledLogBilinear(config, tables, vocabulary, self._new_words if composes else {}, training)

    def _mixture(self, part: Part, vocabulary: Vocabulary) -> MixtureModel:
        models = [self.model(k, self._own_vocabulary(self._parts[k], vocabulary)) for k in part.components]
        names = numbered([model.kind for model in models])
        ids = [self._parts[k].arrays.get("ids") for k in part.components]
        if ids[0] is not None:
            raise SchemaError("the first component of a mixture has other ids than the mixture")
        components = [Component(*given) for given in zip(names, models, ids, strict=True)]
        weights_by: WeightsBy = "none" if part.sorting == Sorting.ALL_ALIKE else "context"
        weights = np.array(part.arrays["weights"])
        mixture = MixtureModel(components, weights, weights_by, dict(part.record["training"]))
        if sorting_of(mixture.contexts) != part.sorting or mixture.order != part.order:
            raise SchemaError(f"the weights of the model {part.number} do not fit its components")
        return mixture

    def _own_vocabulary(self, part: Part, vocabulary: Vocabulary) -> Vocabulary:
        """The same words, perhaps with other ids or counts."""
        if "counts" not in part.arrays:
            if "ids" in part.arrays:
                raise SchemaError(f"the model {part.number} has ids of its own but no counts")
            return vocabulary
        words, counts = vocabulary.words, part.arrays["counts"]
        if "ids" in part.arrays:
            words = _permuted(words, part.arrays["ids"])
        return Vocabulary(words, counts)


def _permuted(words: tuple[str, ...], ids: Int32Array) -> tuple[str, ...]:
    """The words in the order of other ids."""
    order = np.full(len(words), -1, np.int64)
    order[ids] = np.arange(len(words))
    if (order < 0).any():
        raise SchemaError("the ids of a component are not all different")
    return tuple(words[number] for number in order.tolist())


def sorting_of(contexts: Contexts) -> int:
    """How the contexts of a mixture are sorted, as the table of models has it."""
    if isinstance(contexts, ComponentContexts):
        return Sorting.SORTED_BY + contexts.index
    return Sorting.LAST_WORD if isinstance(contexts, LastWordContexts) else Sorting.ALL_ALIKE


def _trie(arrays: Mapping[str, Array]) -> NgramTrie:
    names = ("words", "logprob", "suffix", "backoff", "first_child")
    return NgramTrie(sizes=tuple(arrays["sizes"].tolist()), **{name: arrays[name] for name in names})


def _tables(arrays: Mapping[str, Array]) -> CompiledModel:
    """For the kernels. Vectors in half precision are widened, which takes memory."""
    context = _single(arrays["context"])
    width = context.shape[-1]
    return CompiledModel(
        context=context.reshape(-1, width),
        offset=context.shape[1] if context.ndim == 3 else 0,
        diagonals=read_only(arrays.get("diagonals", np.zeros((0, width), np.float32))),
        output=_single(arrays["output"]),
        biases=read_only(arrays["biases"]),
        class_vectors=_single(arrays["class_vectors"]),
        class_biases=read_only(arrays["class_biases"]),
        position_of=read_only(arrays["position_of"]),
        class_of=read_only(arrays["class_of"]),
        starts=read_only(arrays["starts"]),
        unknown=int(arrays["unknown"][0]) if "unknown" in arrays else -1,
    )


def _single(vectors: Array) -> Float32Array:
    return read_only(vectors.astype(np.float32, copy=False))


# ---------------------------------------------------------------- the self-test


def check_tests(model: LanguageModel, root: Part) -> None:
    """The sentences of the self-test must have the scores that they had when the file was written."""
    words, starts, expected = (root.arrays[f"test_{name}"] for name in ("words", "starts", "logprobs"))
    if not np.allclose(score_tests(model, words, starts), expected, rtol=TOLERANCE, atol=TOLERANCE):
        raise SchemaError("the self-test failed; the model and this version of morphlm do not agree")


def score_tests(model: LanguageModel, words: Int32Array, starts: Int64Array) -> Float64Array:
    """ln p of the tokens of sentences, by the ways that compile least."""
    if isinstance(model, MixtureModel):
        columns = [score_tests(part.model, part.own_ids(words), starts) for part in model.components]
        return model.combine(np.stack(columns, axis=1), model.contexts.before(words))
    if isinstance(model, CompiledLogBilinear):
        sentences = np.split(words, starts[1:-1])
        return np.concatenate([model.score_plainly(sentence) for sentence in sentences])
    return model.score_tokens(words)
