"""Exporting a model as a compiled file: everything that scoring would compute first is computed here, once.

A model becomes sections, as `schema` describes them. Before they are written they are checked as a reader does, and
must score as the model does; with vectors in half precision the difference is measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Array, Float64Array, Int32Array
from morphlm.cache.frozen_neural import FrozenNeuralCache
from morphlm.cache.model import CacheModel
from morphlm.cache.neural import NeuralCacheModel
from morphlm.compiled.logbilinear import CompiledLogBilinear
from morphlm.compiled.reading import model_of_parts, score_tests, sorting_of
from morphlm.compiled.schema import FEATURES, LARGEST_HALF, SMALLEST_HALF, ModelType, Part, check_parts
from morphlm.compiled.words import hash_table, pack_words
from morphlm.compiledfile import Container, Section, Sizes, write_container
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.files import COMPRESSIONS, check_can_write
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.context_tables import ContextTables
from morphlm.logbilinear.kernels.prediction import ContextTable
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.structure import with_new_words
from morphlm.ngram.model import NgramModel
from morphlm.schema import SchemaError, TensorLayout
from morphlm.scoring.mixture import MixtureModel
from morphlm.tables import counted
from morphlm.text.reading import RESERVED
from morphlm.threads import available_cores, workers
from morphlm.vectors.forms import word_forms
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID, Vocabulary
from morphlm.wording import option

SAMPLE = 500  # tokens on which a file is compared with its model
LARGEST_DIFFERENCE = 1e-5  # nats of a token, without half precision
VECTORS = ("context", "output", "class_vectors")  # sections that may have half precision


@dataclass(frozen=True)
class CompiledExport:
    """What an export has written, and how far its scores are from the model's."""

    path: str
    kind: str
    order: int
    words: int
    composed: int  # words beyond the vocabulary that contexts compose
    left_out: tuple[str, ...]  # words that were listed, but of which nothing is known
    size: int  # bytes
    float16: bool
    mean_difference: float  # of ln p, on words drawn at random
    largest_difference: float

    __repr__ = dataclass_repr

    def format(self) -> str:
        line = f"{self.path}: {self.kind}, order {self.order}, {counted(self.words, 'word')}"
        line += f" and {self.composed:,} composed" if self.composed else ""
        line += f", {self.size / 1e6:,.1f} MB"
        if self.float16:
            changes = f"by {self.mean_difference:.1e} on average, {self.largest_difference:.1e} at most"
            line += f"; float16 changes ln p {changes}"
        return line + (f"\nleft out, nothing is known of them: {' '.join(self.left_out)}" if self.left_out else "")

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"left_out": list(self.left_out)}


def export_compiled(
    model: LanguageModel,
    path: str | Path,
    *,
    float16: bool = False,
    extra_words: Iterable[str] = (),
    prepared: bool = False,
    after: Iterable[Sequence[str]] = (),
) -> CompiledExport:
    """Write a model as one file that `morphlm.load` and the C++ header `morphlm.hpp` map and score.

    `float16` stores vectors in half precision. `extra_words` that are not in the vocabulary are composed of their known
    factors in contexts; they are brought to the form of the model's text, unless they are `prepared`. `after` are the
    sentences before, lists of tokens, by which a wide context is fixed; without, it is empty.
    """
    check_compiled_export(model, path)
    model = model.after_text(after)
    _check_fixed(model)
    composed, left_out = _new_words(model, extra_words, prepared)
    sections = _Sections(composed, float16)
    sections.add_model(model, None)
    sections.add_words(model.vocabulary)
    sizes = Sizes(sections.models, len(model.vocabulary), len(model.vocabulary) + len(composed))
    compiled = model_of_parts(sections.parts(), sizes.words)
    sections.add_tests(compiled)
    differences = np.abs(_compare(model, compiled))
    largest = float(differences.max())
    if not float16 and not largest <= LARGEST_DIFFERENCE:
        raise ConfigError(f"the file would score a word {largest:.1e} otherwise than the model; please report this")
    sections.check(sizes)
    size = write_container(path, sizes, sections.sections)
    described = str(path), model.kind, model.order, len(model.vocabulary), len(composed), tuple(left_out)
    return CompiledExport(*described, size, float16, float(differences.mean()), largest)


def check_compiled_export(model: LanguageModel, path: str | Path) -> None:
    """Refuse what cannot be written, before any work is done."""
    check_compiled_path(path)
    for part in (model, *model.parts):
        if isinstance(part, CompiledLogBilinear):
            raise ConfigError("this model is compiled already; copy its file, or export what that was exported from")
        if not isinstance(part, NgramModel | LogBilinearModel | MixtureModel | CacheModel | NeuralCacheModel):
            raise ConfigError(
                f"a {type(part).__name__} of the kind {part.kind} cannot be compiled; export n-grams, log-bilinear "
                "models, caches or mixtures of them"
            )


def _check_fixed(model: LanguageModel) -> None:
    """A neural cache looks at vectors, which compiled files do not have; one that is empty leaves nothing behind."""
    if any(isinstance(part, FrozenNeuralCache) for part in model.parts):
        raise ConfigError(
            f"a neural cache cannot be compiled; leave {option('--after')} out, so that it is empty, or export a "
            "mixture of the other models"
        )


def check_compiled_path(path: str | Path) -> None:
    """A compiled file is mapped, so it can neither be compressed nor go to a pipe."""
    if str(path) == "-" or Path(path).suffix in COMPRESSIONS:
        raise ConfigError(f"{path}: a compiled file is mapped as it is; name a file that is not compressed")
    check_can_write(path)


def _new_words(model: LanguageModel, words: Iterable[str], prepared: bool) -> tuple[list[str], list[str]]:
    """Words beyond the vocabulary, each once: those with known factors, and those of which nothing is known."""
    given = list(words)
    if not given:
        return [], []
    composing = [part for part in model.parts if isinstance(part, LogBilinearModel) and part.composes_contexts]
    if not composing:
        raise ConfigError(
            f"a model of the kind {model.kind} does not compose words in contexts; leave the extra words out, or "
            "export one with factors there (lbl+c, lbl++, clbl+c, clbl++)"
        )
    form, known = word_forms(model.vectors, prepared=prepared), model.vocabulary.ids
    forms = [word for word in dict.fromkeys(map(form, given)) if word not in known and word not in RESERVED]
    has_factors = {word for part in composing for word in forms if part.in_contexts(word) != UNK_ID}
    return [word for word in forms if word in has_factors], [word for word in forms if word not in has_factors]


class _Sections:
    """Collects the sections of a file."""

    def __init__(self, new_words: Sequence[str], float16: bool) -> None:
        self.sections: list[Section] = []
        self._rows: list[list[int]] = []
        self._records: list[dict[str, Any]] = []
        self._new_words, self._float16 = new_words, float16

    @property
    def models(self) -> int:
        return len(self._rows)

    def add_model(self, model: LanguageModel, parent: int | None, ids: Int32Array | None = None) -> int:
        """A model with those that it is made of; gives its number."""
        number, kind = self.models, _type_of(model)
        sorting = sorting_of(model.contexts) if isinstance(model, MixtureModel) else 0
        self._rows.append([kind, parent or 0, model.order, sorting])
        record: dict[str, Any] = {"kind": model.kind, "training": model.training}
        if isinstance(model, LogBilinearModel):
            record["configuration"] = model.config.to_json()
        self._records.append(record)
        self._add(number, "record", np.frombuffer(json.dumps(record, ensure_ascii=False).encode(), np.uint8))
        if ids is not None:
            self._add(number, "ids", ids)
        if isinstance(model, NgramModel):
            self._add_ngrams(number, model)
        elif isinstance(model, LogBilinearModel):
            self._add_logbilinear(number, model)
        elif isinstance(model, MixtureModel):
            self._add_mixture(number, model)
        return number

    def _add_mixture(self, number: int, model: MixtureModel) -> None:
        self._add(number, "weights", model.weights)
        for component in model.components:
            own = self.add_model(component.model, number, component.ids)
            counts = component.model.vocabulary.counts
            if component.ids is not None or not np.array_equal(counts, model.vocabulary.counts):
                self._add(own, "counts", counts)

    def _add_ngrams(self, number: int, model: NgramModel) -> None:
        trie = model.trie
        self._add(number, "sizes", np.array(trie.sizes, np.int64))
        for name in ("words", "logprob", "suffix", "backoff", "first_child"):
            self._add(number, name, getattr(trie, name))
        if number:  # a mixture may sort contexts by them
            self._add(number, "buckets", model.bucket_of(np.arange(-1, trie.contexts)).astype(np.uint16))

    def _add_logbilinear(self, number: int, model: LogBilinearModel) -> None:
        tables, context = model.queries.model, _context_table(model, self._new_words)
        position_of = tables.position_of
        words = len(context.rows) // (model.config.distances if context.offset else 1)
        added = np.full(words - len(position_of), position_of[UNK_ID], np.int32)
        rows = context.rows if model.config.diagonal else context.rows.reshape(model.config.distances, words, -1)
        self._add(number, "context", rows)
        if model.config.diagonal:
            self._add(number, "diagonals", context.diagonals)
        for name in ("output", "biases", "class_vectors", "class_biases", "class_of", "starts"):
            self._add(number, name, getattr(tables, name))
        self._add(number, "position_of", np.concatenate([position_of, added]))
        if tables.unknown >= 0:
            self._add(number, "unknown", np.array([tables.unknown], np.int32))

    def add_words(self, vocabulary: Vocabulary) -> None:
        """What all models share; the table of models, which is complete now, comes first."""
        rows = [row + [0] * (FEATURES - len(row)) for row in self._rows]
        pool, starts = pack_words([*vocabulary.words, *self._new_words])
        self._add(0, "word_bytes", pool)
        self._add(0, "word_starts", starts)
        self._add(0, "word_table", hash_table(pool, starts))
        self._add(0, "counts", vocabulary.counts)
        self.sections.insert(0, Section(0, "models", np.array(rows, np.uint32)))

    def add_tests(self, model: LanguageModel) -> None:
        """The sentences of the model's self-test that have a probability, with what the file gives for them."""
        sentences = _test_sentences(model.vocabulary)
        scored = [score_tests(model, words, np.array([0, len(words)])) for words in sentences]
        chosen = [(words, logprobs) for words, logprobs in zip(sentences, scored, strict=True) if _is_finite(logprobs)]
        if not chosen:
            raise ConfigError("the model gives no sentence of its self-test a probability; train it again")
        self._add(0, "test_starts", np.cumsum([0, *(len(words) for words, _ in chosen)], dtype=np.int64))
        self._add(0, "test_words", np.concatenate([words for words, _ in chosen]))
        self._add(0, "test_logprobs", np.concatenate([logprobs for _, logprobs in chosen]))

    def arrays(self) -> list[dict[str, Array]]:
        """Of each model, by name."""
        arrays: list[dict[str, Array]] = [{} for _ in self._rows]
        for section in self.sections:
            arrays[section.model][section.name] = section.array
        return arrays

    def check(self, sizes: Sizes) -> None:
        """Refuse what every reader would refuse."""
        arrays = self.arrays()
        layouts = [{name: _layout(array) for name, array in of_model.items()} for of_model in arrays]
        try:
            check_parts(Container(sizes, layouts, arrays, ""))
        except SchemaError as problem:
            raise ConfigError(f"this model cannot be compiled ({problem}); train it again") from problem

    def parts(self) -> list[Part]:
        """What a reader of the file would get."""
        arrays = self.arrays()
        return [
            Part(number, ModelType(kind), parent, order, sorting, self._records[number], arrays[number], components)
            for number, (kind, parent, order, sorting) in enumerate(self._rows)
            for components in [tuple(k for k, row in enumerate(self._rows) if k and row[1] == number)]
        ]

    def _add(self, number: int, name: str, array: Array) -> None:
        if self._float16 and name in VECTORS:
            if array.size and not np.abs(array).max() <= LARGEST_HALF:
                raise ConfigError(f"the vectors are too large for half precision; leave {option('--float16')} out")
            # What has no full precision in float16 becomes 0: processors take long over such numbers.
            array = np.where(np.abs(array) < SMALLEST_HALF, np.float32(0), array).astype(np.float16)
        self.sections.append(Section(number, name, array))


def _layout(array: Array) -> TensorLayout:
    return TensorLayout(array.dtype.newbyteorder("<").str, array.shape, 0, array.nbytes)


def _type_of(model: LanguageModel) -> ModelType:
    if isinstance(model, MixtureModel):
        return ModelType.MIXTURE
    return ModelType.NGRAM if isinstance(model, NgramModel) else ModelType.LOGBILINEAR


def _context_table(model: LogBilinearModel, new_words: Sequence[str]) -> ContextTable:
    """Q C_j of all words, then of the new ones if the model composes them."""
    factors = model.structure.factors
    if not new_words or not model.composes_contexts or factors is None:
        return model._context_side.table
    structure = with_new_words(model.structure, [np.sort(items) for items in factors.of_new_words(new_words)])
    words = np.arange(len(model.vocabulary) + len(new_words), dtype=np.int32)
    with workers(model.threads or available_cores()) as pool:
        return ContextTables(model.config, structure, model.parameters).of_words(words, structure, pool).table


def _test_sentences(vocabulary: Vocabulary) -> list[Int32Array]:
    """As those of a model directory: nothing, frequent words, rare ones, and an unknown one."""
    words = list(range(len(RESERVED), len(vocabulary)))
    sentences: list[list[int]] = [[], words[:5], words[-5:], [UNK_ID]]
    return [np.array([*sentence, END_ID], np.int32) for sentence in sentences]


def _is_finite(logprobs: Float64Array) -> bool:
    return bool(np.isfinite(logprobs).all() and logprobs.max() <= 1e-4)


def _compare(model: LanguageModel, compiled: LanguageModel) -> Float64Array:
    """Differences of ln p on sentences of words that are drawn as often as the training text has them."""
    shares = np.maximum(model.vocabulary.counts.astype(np.float64), 0.01)
    shares[: len(RESERVED)] = [1.0, 0.0, 0.0]
    drawn = np.random.default_rng(1).choice(len(shares), SAMPLE, p=shares / shares.sum()).astype(np.int32)
    drawn[9::10] = END_ID
    expected, scored = model.score_tokens(drawn), compiled.score_tokens(drawn)
    with np.errstate(invalid="ignore"):
        return np.where(expected == scored, 0.0, scored - expected)  # equal ones may be infinite
