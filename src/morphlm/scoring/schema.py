"""What the directory of a mixture holds, besides its components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from morphlm.language_model.schema import TRAINING
from morphlm.modelfile import MOST_PARTS
from morphlm.schema import ArtefactSchema, Contents, Integer, ListOf, Record, String, Tensor, Text
from morphlm.scoring.mixture import DEV_TOKENS, WEIGHTS, WEIGHTS_FILE, WeightsBy


def _sizes(configuration: Mapping[str, Any]) -> dict[str, int]:
    return {"components": len(configuration["components"])}


def _names_its_parts(contents: Contents) -> str:
    names = contents.configuration["components"]
    return "" if sorted(names) == sorted(contents.parts) else "the components are not those that are named"


def _weights_add_up(contents: Contents) -> str:
    sums = contents.tensors[WEIGHTS].sum(axis=1)
    return "" if len(sums) and np.allclose(sums, 1, rtol=0, atol=1e-6) else "the weights do not add up to 1"


MIXTURE = ArtefactSchema(
    configuration=Record(
        {
            "components": ListOf(String(shortest=1, longest=255), shortest=1, longest=MOST_PARTS),
            "weights_by": String(choices=get_args(WeightsBy)),
            "order": Integer(1),
        }
    ),
    training=TRAINING,
    texts={WEIGHTS_FILE: Text()},
    sizes=_sizes,
    tensors={
        WEIGHTS: Tensor("float64", ("buckets", "components"), 0, 1),
        DEV_TOKENS: Tensor("int64", ("buckets",), at_least=0),
    },
    relations=(_names_its_parts, _weights_add_up),
    has_parts=True,
)
