"""What the directory of a log-bilinear model holds; which parts there are, the configuration tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from morphlm.language_model.addition import EXTENDED
from morphlm.language_model.schema import TRAINING
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.model import CLASS_OF, CLASSES_FILE, ENDING_OF, ENDING_VECTORS
from morphlm.logbilinear.parameters import LARGEST_PARAMETER
from morphlm.schema import ArtefactSchema, Contents, Tensor, Text, settings_record
from morphlm.segmentation.factors import FACTORS_FILE, MORPHEMES_FILE
from morphlm.segmentation.schema import ANALYSER_TEXTS, analyser_tensors
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import VOCABULARY_FILE


def _texts(configuration: Mapping[str, Any]) -> dict[str, Text]:
    config = LogBilinearConfig(**configuration)
    texts = {VOCABULARY_FILE: Text(lines="V")}
    if config.classes:
        texts[CLASSES_FILE] = Text()
    if config.context_factors or config.output_factors:
        texts |= {MORPHEMES_FILE: Text(lines="V"), FACTORS_FILE: Text(lines="F")}
    return texts


def _sizes(configuration: Mapping[str, Any]) -> dict[str, int]:
    config = LogBilinearConfig(**configuration)
    classes = {} if config.classes else {"classes": 0}
    return {"d": config.width, "transforms": config.distances + bool(config.wide), **classes}


def parameter(*shape: int | str) -> Tensor:
    """Numbers that a kernel can multiply and add without overflow."""
    return Tensor("float32", shape, -LARGEST_PARAMETER, LARGEST_PARAMETER)


def _tensors(contents: Contents) -> dict[str, Tensor]:
    config = LogBilinearConfig(**contents.configuration)
    tensors = {
        "Q": parameter("F" if config.context_factors else "V", "d"),
        "C": parameter("transforms", "d") if config.diagonal else parameter("transforms", "d", "d"),
        "R": parameter("F" if config.output_factors else "V", "d"),
        "b": parameter("V"),
        "S": parameter("classes", "d"),
        "t": parameter("classes"),
    }
    if config.classes:
        tensors[CLASS_OF] = Tensor("int32", ("V",), at_least=0, below="classes")
        if added := contents.training.get(EXTENDED, 0):
            tensors[ENDING_VECTORS] = parameter("endings", "d")
            tensors[ENDING_OF] = Tensor("int32", (added,), at_least=0, below="endings")
    return tensors | analyser_tensors(contents)


def _has_added_words(contents: Contents) -> str:
    """The words that were added are words of the vocabulary, whose vectors are made of factors."""
    added, config = contents.training.get(EXTENDED, 0), LogBilinearConfig(**contents.configuration)
    if added and not config.output_factors:
        return f"words were added to a {config.kind}, which has no factors to make their vectors of"
    return "" if added <= contents.sizes["V"] - len(RESERVED) else "more words were added than there are"


LOGBILINEAR = ArtefactSchema(
    configuration=settings_record(LogBilinearConfig),
    training=TRAINING,
    texts=_texts,
    optional_texts=ANALYSER_TEXTS,
    sizes=_sizes,
    tensors=_tensors,
    relations=(_has_added_words,),
)
