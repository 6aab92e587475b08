"""What the directory of a cache holds, and that of a model with a neural cache."""

from __future__ import annotations

from typing import get_args

import numpy as np

from morphlm.cache.config import CacheConfig, NeuralCacheConfig, Unit
from morphlm.cache.model import BACKGROUND, UNITS, WEIGHTS
from morphlm.cache.neural import CENTRE, PART
from morphlm.cache.units import Units, units_problem
from morphlm.language_model.addition import EXTENDED
from morphlm.language_model.schema import TRAINING
from morphlm.logbilinear.parameters import LARGEST_PARAMETER
from morphlm.schema import ArtefactSchema, Contents, String, Tensor, Text, settings_record
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import BEGIN_ID, UNK_ID, VOCABULARY_FILE


def _tensors(contents: Contents) -> dict[str, Tensor]:
    """The units of words, unless they are the words themselves; P_0 where words were added."""
    tensors = {WEIGHTS: Tensor("float64", ("V",), 0, 1)}
    if EXTENDED in contents.training:
        tensors[BACKGROUND] = Tensor("float64", ("V",), 0, 1)
    elif contents.configuration.get("unit", "words") == "words":
        return tensors
    return tensors | {
        "starts": Tensor("int64", ("V+1",), at_least=0, at_most="entries"),
        "items": Tensor("int32", ("entries",), at_least=0, below="entries"),
        "shares": Tensor("float64", ("entries",), 0, 1),
        "emissions": Tensor("float64", ("entries",), 0, 1),
    }


def _is_distribution(contents: Contents) -> str:
    tensors = contents.tensors
    if BACKGROUND in tensors and (problem := _background_problem(contents)):
        return problem
    if "items" in tensors:
        return units_problem(Units(*(tensors[name] for name in UNITS)), tensors[WEIGHTS])
    return "<s> is counted" if tensors[WEIGHTS][BEGIN_ID] else ""


def _background_problem(contents: Contents) -> str:
    background = contents.tensors[BACKGROUND]
    if contents.training[EXTENDED] > len(background) - len(RESERVED):
        return "more words were added than there are"
    if background[BEGIN_ID]:
        return "<s> is predicted"
    is_open = background[UNK_ID] > 0 and np.isclose(background.sum(), 1.0, rtol=0, atol=1e-6)
    return "" if is_open else "the word frequencies do not add up to 1, or leave nothing for unknown words"


CACHE = ArtefactSchema(
    configuration=settings_record(CacheConfig, unit=String(choices=get_args(Unit))),
    training=TRAINING,
    texts={VOCABULARY_FILE: Text(lines="V")},
    tensors=_tensors,
    relations=(_is_distribution,),
)


def _has_its_model(contents: Contents) -> str:
    return "" if contents.parts == (PART,) else f"the model in it is not {PART!r}"


NEURAL_CACHE = ArtefactSchema(
    configuration=settings_record(NeuralCacheConfig),
    training=TRAINING,
    tensors={CENTRE: Tensor("float32", ("d",), -LARGEST_PARAMETER, LARGEST_PARAMETER)},
    relations=(_has_its_model,),
    has_parts=True,
)
