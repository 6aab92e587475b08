"""What is kept of segmentation: the directory of a segmenter, and the analyser of new words in that of a model."""

from __future__ import annotations

from morphlm.schema import (
    ArtefactSchema,
    Boolean,
    Contents,
    Integer,
    JsonText,
    ListOf,
    OneOf,
    Record,
    String,
    Tensor,
    Text,
    parse_json,
    settings_record,
)
from morphlm.segmentation.analyser import MORPHS_FILE, PREFIX
from morphlm.segmentation.kernels.paths import CATEGORIES, NEVER
from morphlm.segmentation.segmenter import MORPHEMES, SEGMENTATION, SegmenterConfig
from morphlm.segmentation.sources.factorisation import KIND_FILE
from morphlm.segmentation.sources.ngrams import LONGEST_NGRAM
from morphlm.segmentation.sources.pieces import MODEL

ROUNDING = -1e-6  # the logarithm of a probability of 1, as it may come out


def _path_tensors(prefix: str = "") -> dict[str, Tensor]:
    """Costs, negative logarithms up to NEVER: below 0, the search would follow paths that it never reached."""

    def costs(*shape: int | str) -> Tensor:
        return Tensor("float64", shape, ROUNDING, NEVER)

    return {
        f"{prefix}emissions": costs("morphs", CATEGORIES),
        f"{prefix}transitions": costs(CATEGORIES + 1, CATEGORIES + 1),
        f"{prefix}new_stem": costs(1),
    }


def _has_morphs(contents: Contents) -> str:
    return "" if contents.sizes["morphs"] else "there are no morphs"


SEGMENTER = ArtefactSchema(
    configuration=settings_record(SegmenterConfig),
    self_test=ListOf(Record({"word": String(longest=10_000), "best_path": String()}), longest=100),
    texts={MORPHEMES: Text(lines="morphs"), SEGMENTATION: Text()},
    tensors=_path_tensors(),
    relations=(_has_morphs,),
)

_ANALYSERS = OneOf(
    (
        Record({"kind": String(choices=("morphemes",)), "labels": Boolean()}),
        Record(
            {
                "kind": String(choices=("ngrams",)),
                "shortest": Integer(1, LONGEST_NGRAM),
                "longest": Integer(1, LONGEST_NGRAM),
            }
        ),
        Record({"kind": String(choices=("pieces",)), "source": String(longest=1000)}),
        Record(
            {
                "kind": String(choices=("source",)),
                "name": String(longest=1000),
                "settings": Record({}, is_open=True),
            }
        ),
    )
)
ANALYSER_TEXTS: dict[str, Text] = {KIND_FILE: JsonText(value=_ANALYSERS), MORPHS_FILE: Text(lines="morphs")}


def analyser_tensors(contents: Contents) -> dict[str, Tensor]:
    """Those of the analyser that a model has, if it has one."""
    kind = parse_json(contents.texts[KIND_FILE].encode(), KIND_FILE)["kind"] if KIND_FILE in contents.texts else ""
    if kind == "morphemes":
        return _path_tensors(PREFIX)
    if kind == "pieces":
        return {MODEL: Tensor("uint8", ("bytes of the pieces",))}
    return {}
