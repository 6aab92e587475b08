"""What tuning keeps: runs with the weights of each iteration, their state on disk, and files of k-best lists."""

from __future__ import annotations

from typing import Any

from morphlm.schema import (
    Document,
    Integer,
    ListOf,
    MapOf,
    Number,
    Record,
    Related,
    String,
    Tensor,
    TupleOf,
    nullable,
)

STATE_FORMAT = 3
LARGEST_WEIGHT = 1e9  # tuned ones are scaled, so that this is far away; sums of products stay finite
LARGEST_FEATURE = 1e30  # the decoder has a least log-probability, so none is infinite
LARGEST_ARRAY = 1 << 28  # bytes, of the translations of one sentence
LONGEST_LINE = 1 << 24  # bytes, of their words
_NAME = String(pattern=r"[^\x00-\x20\x7f-\x9f]{1,1000}")  # of a feature
_KEY = String(longest=200)
_WEIGHTS = ListOf(Number(-LARGEST_WEIGHT, LARGEST_WEIGHT), longest=100_000)
_ITERATION = Record(
    {
        "weights": _WEIGHTS,
        "bleu": Number(0, 100.001),
        "length_ratio": Number(0),
        "candidates": Integer(0),
        "new": Integer(0),
    }
)


def _has_weights(run: dict[str, Any]) -> str:
    """Every iteration has a weight for each feature."""
    features = run["features"]
    if len(set(features)) < len(features):
        return "two features have the same name"
    if any(len(iteration["weights"]) != len(features) for iteration in run["iterations"]):
        return f"an iteration has not {len(features)} weights, one for each feature"
    return ""


RUN = Related(
    Record(
        {
            "seed": Integer(0),
            "bleu": Number(),
            "weights": MapOf(Number(), keys=_NAME),
            "features": ListOf(_NAME, longest=100_000),
            "iterations": ListOf(_ITERATION, shortest=1, longest=100_000),
        }
    ),
    (_has_weights,),
)


def _goes_on_with_weights(state: dict[str, Any]) -> str:
    following, features = state["next"], state["run"]["features"]
    fits = following is None or len(following) == len(features)
    return "" if fits else "the next weights are not one for each feature"


STATE_FILE = Document(
    "the state of a tuning run",
    Related(
        Record({"format": Integer(), "key": _KEY, "run": RUN, "next": nullable(_WEIGHTS)}), (_goes_on_with_weights,)
    ),
    cure="remove it",
    version=STATE_FORMAT,
)
LISTS_KEY = Document("the key of k-best lists", _KEY, largest=1 << 10, cure="remove the file")
LIST_HEAD = Document(
    "the head of a k-best list",
    TupleOf(
        (
            ListOf(String()),  # the words that numbers stand for
            TupleOf((ListOf(Integer(0), 1, 1), ListOf(Integer(0), 1, 1), ListOf(Integer(0), 2, 2))),  # shapes, as below
        )
    ),
    largest=LONGEST_LINE,
    cure="remove the file",
)
LIST_ARRAYS = {
    "words": Tensor("<i4", ("words",), at_least=0, below="vocabulary"),
    "starts": Tensor("<i8", ("translations+1",), offsets_to="words"),
    "features": Tensor("<f4", ("translations", "features"), -LARGEST_FEATURE, LARGEST_FEATURE),
}
