"""What the sections of a compiled model may hold: types, shapes, ranges and relations, for each type of model.

The models in a file form a tree, listed so that each stands before those that it is made of. The first one has the
sections that all share: the words and the self-test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from morphlm.arrays import Array
from morphlm.compiledfile import Container, Sizes
from morphlm.display import dataclass_repr
from morphlm.language_model.schema import TRAINING
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.parameters import LARGEST_PARAMETER
from morphlm.modelfile import DEEPEST_PARTS, LARGEST_MANIFEST, MOST_PARTS
from morphlm.ngram.counting import MAX_ORDER
from morphlm.ngram.model import NGRAM_KINDS, kind_of_source
from morphlm.ngram.schema import NGRAM
from morphlm.schema import (
    Contents,
    Record,
    SchemaError,
    String,
    Tensor,
    TensorLayout,
    check_layout,
    check_values,
    parse_json,
    settings_record,
)
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID

LONGEST_TEST = 1000  # tokens of the self-test, which is scored whenever a model is loaded
SMALLEST_HALF, LARGEST_HALF = 2.0**-14, 65504.0  # that float16 holds with its full precision
FEATURES = 8  # numbers in a row of the table of models


class ModelType(IntEnum):
    """How a model is computed."""

    NGRAM = 1
    LOGBILINEAR = 2
    MIXTURE = 3


class Sorting(IntEnum):
    """How a mixture chooses its weights; SORTED_BY + k: by the buckets of its component k."""

    ALL_ALIKE = 0
    LAST_WORD = 1
    SORTED_BY = 2


@dataclass(frozen=True, eq=False)
class Part:
    """One of the models of a file, checked."""

    number: int
    type: ModelType
    parent: int
    order: int
    sorting: int  # of a mixture
    record: Mapping[str, Any]  # kind, training, and what else Python needs to know
    arrays: Mapping[str, Array]
    components: tuple[int, ...]  # numbers of the models that a mixture is made of

    __repr__ = dataclass_repr


_RECORDS = {
    ModelType.NGRAM: Record({"kind": String(choices=NGRAM_KINDS), "training": TRAINING}),
    ModelType.LOGBILINEAR: Record(
        {"kind": String(longest=20), "training": TRAINING, "configuration": settings_record(LogBilinearConfig)}
    ),
    ModelType.MIXTURE: Record({"kind": String(choices=("mixture",)), "training": TRAINING}),
}


def check_parts(container: Container) -> list[Part]:
    """All models of a file. Raises SchemaError for what does not fit."""
    sizes = container.sizes
    if not len(RESERVED) <= sizes.words <= sizes.listed < 2**31:
        raise SchemaError(f"{sizes.words:,} words, {sizes.listed:,} with new ones")
    rows = _model_rows(container)
    return [_check_part(container, rows, number) for number in range(sizes.models)]


# ---------------------------------------------------------------- the table of models


def _model_rows(container: Container) -> list[list[int]]:
    layout, models = container.layouts[0].get("models"), container.sizes.models
    if layout is None or np.dtype(layout.dtype) != np.uint32 or layout.shape != (models, FEATURES):
        raise SchemaError("the table of models is missing, or has another size than the header says")
    if models > MOST_PARTS:
        raise SchemaError(f"it is made of {models:,} models, of at most {MOST_PARTS}")
    rows: list[list[int]] = container.arrays[0]["models"].tolist()
    depths = [0]
    for number, (kind, parent, order, _, *zeros) in enumerate(rows):
        if kind not in set(ModelType) or not 1 <= order <= MAX_ORDER or any(zeros):
            raise SchemaError(f"the model {number} has the type {kind} and the order {order}")
        if number == 0 and parent != 0:
            raise SchemaError("the first model is part of another")
        if number:
            if parent >= number or rows[parent][0] != ModelType.MIXTURE:
                raise SchemaError(f"the model {number} is part of the model {parent}, which is none of those before")
            depths.append(depths[parent] + 1)
    if max(depths) > DEEPEST_PARTS:
        raise SchemaError(f"mixtures of mixtures of more than {DEEPEST_PARTS} levels")
    return rows


def _check_part(container: Container, rows: list[list[int]], number: int) -> Part:
    kind, parent, order, sorting, *_ = rows[number]
    components = tuple(k for k, row in enumerate(rows) if k and row[1] == number)
    layouts, arrays = container.layouts[number], dict(container.arrays[number])
    record = _parse_record(number, ModelType(kind), layouts, arrays)
    part = Part(number, ModelType(kind), parent, order, sorting, record, arrays, components)
    declared, sizes = _tensors(part, layouts, container.sizes), _known_sizes(part, container.sizes)
    try:
        check_layout(declared, layouts, sizes)
        for name, tensor in declared.items():
            _check_values(name, tensor, arrays[name], sizes)
        for relation in _RELATIONS[part.type]:
            if problem := relation(part, sizes):
                raise SchemaError(problem)
        if number == 0 and (problem := _shared_problem(part, sizes)):
            raise SchemaError(problem)
    except SchemaError as problem:
        raise SchemaError(f"model {number}: {problem}") from problem
    return part


def _check_values(name: str, tensor: Tensor, array: Array, sizes: Mapping[str, int]) -> None:
    """`check_values`; of float16 by its bits, as NumPy takes long to compare it. What is finite is in range."""
    if tensor.dtype != "float16":
        check_values(name, tensor, array, sizes)
    elif ((array.view(np.uint16) & 0x7C00) == 0x7C00).any():
        raise SchemaError(f"the tensor {name} has values that are not finite")


def _parse_record(
    number: int, kind: ModelType, layouts: Mapping[str, TensorLayout], arrays: Mapping[str, Array]
) -> Mapping[str, Any]:
    layout = layouts.get("record")
    if layout is None or layout.dtype != "|u1" or layout.end - layout.begin > LARGEST_MANIFEST:
        raise SchemaError(f"the record of the model {number} is missing or too large")
    record = parse_json(arrays["record"].tobytes(), f"the record of the model {number}")
    _RECORDS[kind].check(record, f"the record of the model {number}")
    return dict(record)


# ---------------------------------------------------------------- sections


def _known_sizes(part: Part, sizes: Sizes) -> dict[str, int]:
    known = {"V": sizes.words, "listed": sizes.listed, "models": sizes.models, "order": part.order}
    if part.type == ModelType.LOGBILINEAR:
        config = _config(part)
        is_extended = "unknown" in part.arrays  # UNK has one more position, in one more group
        positions = sizes.words - 1 + is_extended
        known |= {"d": config.width, "distances": config.distances, "positions": positions}
        known |= {} if config.classes else {"classes": 0, "groups": 1 + is_extended}
    if part.type == ModelType.MIXTURE:
        known |= {"components": len(part.components)}
    return known


def _config(part: Part) -> LogBilinearConfig:
    return LogBilinearConfig(**part.record["configuration"])


def _tensors(part: Part, layouts: Mapping[str, TensorLayout], sizes: Sizes) -> dict[str, Tensor]:
    """All sections of a model."""
    tensors = {"record": Tensor("uint8", ("characters",))}
    if part.number == 0:
        tensors |= _SHARED
    if part.number == 0 or "counts" in layouts:
        tensors["counts"] = Tensor("int64", ("V",), at_least=0, at_most=1 << 53)
    if part.number and "ids" in layouts:
        tensors["ids"] = Tensor("int32", ("V",), at_least=0, below="V")
    return tensors | _OWN_TENSORS[part.type](part, layouts)


_SHARED = {
    "models": Tensor("uint32", ("models", FEATURES)),
    "word_bytes": Tensor("uint8", ("bytes",)),
    "word_starts": Tensor("int64", ("listed+1",), offsets_to="bytes"),
    "word_table": Tensor("int32", ("slots", 2)),
    "test_words": Tensor("int32", ("test tokens",), at_least=0, below="V"),
    "test_starts": Tensor("int64", ("tests+1",), offsets_to="test tokens"),
    "test_logprobs": Tensor("float64", ("test tokens",), at_most=1e-4),
}


def _ngram_tensors(part: Part, layouts: Mapping[str, TensorLayout]) -> dict[str, Tensor]:
    tensors = {"sizes": Tensor("int64", ("order",), at_least=0, below=2**31), **NGRAM.tensors_of(Contents({}))}
    if "buckets" in layouts:
        tensors["buckets"] = Tensor("uint16", ("inner+1",))
    return tensors


def _logbilinear_tensors(part: Part, layouts: Mapping[str, TensorLayout]) -> dict[str, Tensor]:
    config = _config(part)
    tensors = {
        "context": _vectors("context", layouts, *(() if config.diagonal else ("distances",)), "context words", "d"),
        "output": _vectors("output", layouts, "positions", "d"),
        "biases": _parameter("float32", "positions"),
        "class_vectors": _vectors("class_vectors", layouts, "classes", "d"),
        "class_biases": _parameter("float32", "classes"),
        "position_of": Tensor("int32", ("context words",), at_least=-1, below="positions"),
        "class_of": Tensor("int32", ("positions",), at_least=0, below="groups"),
        "starts": Tensor("int64", ("groups+1",), offsets_to="positions"),
    }
    if "unknown" in layouts:
        tensors["unknown"] = Tensor("int32", (1,), at_least=0, below="positions")
    return tensors | ({"diagonals": _parameter("float32", "distances", "d")} if config.diagonal else {})


def _vectors(name: str, layouts: Mapping[str, TensorLayout], *shape: int | str) -> Tensor:
    """Vectors, which may be stored in half precision."""
    layout = layouts.get(name)
    is_half = layout is not None and np.dtype(layout.dtype) == np.float16
    return Tensor("float16", shape) if is_half else _parameter("float32", *shape)


def _parameter(dtype: str, *shape: int | str) -> Tensor:
    return Tensor(dtype, shape, -LARGEST_PARAMETER, LARGEST_PARAMETER)


def _mixture_tensors(part: Part, layouts: Mapping[str, TensorLayout]) -> dict[str, Tensor]:
    return {"weights": Tensor("float64", ("buckets", "components"), 0, 1)}


_OWN_TENSORS: dict[ModelType, Callable[[Part, Mapping[str, TensorLayout]], dict[str, Tensor]]] = {
    ModelType.NGRAM: _ngram_tensors,
    ModelType.LOGBILINEAR: _logbilinear_tensors,
    ModelType.MIXTURE: _mixture_tensors,
}


# ---------------------------------------------------------------- relations


def _shared_problem(part: Part, sizes: Mapping[str, int]) -> str:
    """The table of words leads to words; the sentences of the self-test end."""
    ids = part.arrays["word_table"][:, 1]
    if not len(ids) or len(ids) & (len(ids) - 1) or ids.min() < -1 or ids.max() >= sizes["listed"]:
        return "the table of words is none"
    words, starts = part.arrays["test_words"], part.arrays["test_starts"]
    if not 0 < len(words) <= LONGEST_TEST:
        return f"the self-test has {len(words):,} tokens, of 1 to {LONGEST_TEST}"
    if (words == BEGIN_ID).any() or not np.array_equal(np.flatnonzero(words == END_ID) + 1, starts[1:]):
        return "the sentences of the self-test do not end where they should"
    return ""


def _ngram_problem(part: Part, sizes: Mapping[str, int]) -> str:
    """The trie of a model directory."""
    if part.sorting:
        return "n-grams have no weights"
    own = part.arrays["sizes"].tolist()
    if own[0] != sizes["V"] or sum(own) != sizes["nodes"] or sum(own[:-1]) != sizes["inner"]:
        return "the numbers of n-grams do not fit the trie"
    if part.record["kind"] != kind_of_source(part.record["training"]):
        return f"the n-grams are of the kind {part.record['kind']}, which their training record denies"
    contents = Contents({"order": part.order, "sizes": own}, tensors=part.arrays)
    return next((problem for relation in NGRAM.relations if (problem := relation(contents))), "")


def _logbilinear_problem(part: Part, sizes: Mapping[str, int]) -> str:
    """Words by class, each at its position; new words are predicted as UNK."""
    config, arrays = _config(part), part.arrays
    if part.sorting or config.kind != part.record["kind"] or config.order != part.order or config.wide:
        return f"it says {part.record['kind']} of the order {part.order} but is something else"
    if sizes["context words"] not in (sizes["V"], sizes["listed"]) or (config.classes and not sizes["classes"]):
        return "contexts have other words than the file, or there are no classes"
    is_extended, groups = "unknown" in arrays, sizes["groups"]
    is_placed = np.array_equal(arrays["class_of"], np.repeat(np.arange(groups), np.diff(arrays["starts"])))
    if not is_placed or (config.classes and groups != sizes["classes"] + is_extended):
        return "the classes are not where they begin, or there are words of other classes than there are"
    known, added = np.split(arrays["position_of"], [sizes["V"]])
    others = np.concatenate([np.delete(known, BEGIN_ID), arrays.get("unknown", [])])  # which is there twice
    if is_extended and not arrays["unknown"][0] < known[UNK_ID] == arrays["starts"][-2]:
        return "UNK is not in a class and the first of its members"
    if known[BEGIN_ID] != -1 or not np.array_equal(np.sort(others), np.arange(sizes["positions"])):
        return "the words do not have a position each"
    return "" if (added == known[UNK_ID]).all() else "a new word is not predicted as UNK"


def _mixture_problem(part: Part, sizes: Mapping[str, int]) -> str:
    if not part.components:
        return "a mixture of nothing"
    sums = part.arrays["weights"].sum(axis=1)
    return "" if len(sums) and np.allclose(sums, 1, rtol=0, atol=1e-6) else "the weights do not add up to 1"


_RELATIONS: dict[ModelType, tuple[Callable[[Part, Mapping[str, int]], str], ...]] = {
    ModelType.NGRAM: (_ngram_problem,),
    ModelType.LOGBILINEAR: (_logbilinear_problem,),
    ModelType.MIXTURE: (_mixture_problem,),
}
