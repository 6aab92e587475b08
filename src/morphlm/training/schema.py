"""What a training keeps: its log and its checkpoint.

A checkpoint has the parameters, AdaGrad's sums of squares, and how far the training has come.
"""

from __future__ import annotations

from morphlm.language_model.schema import MACHINE
from morphlm.logbilinear.schema import parameter
from morphlm.schema import (
    SHOWN_TEXT,
    ArtefactSchema,
    Boolean,
    Contents,
    Document,
    Integer,
    ListOf,
    Null,
    Number,
    Record,
    String,
    Tensor,
    nullable,
)
from morphlm.training.checkpoint import LARGEST_SQUARES

EVALUATION = Record(
    {
        "epoch": Integer(0),
        "minibatch": Integer(0),
        "tokens": Integer(0),
        "seconds": Number(0),
        "objective": nullable(Number()),
        "development_perplexity": nullable(Number(0)),
        "step": Number(0),
        "best": Boolean(),
    },
    optional={"ended": SHOWN_TEXT},
)
LOG_LINE = Document("an evaluation in the log of a training", EVALUATION, largest=1 << 16)
PROGRESS = Record(
    {},
    optional={
        "epoch": Integer(0),
        "batch": Integer(0),
        "due": Boolean(),
        "objective": Number(),
        "tokens": Integer(0),
        "total_tokens": Integer(0),
        "undecayed": Integer(0),
        "seconds": Number(0),
        "step": Number(0),
        "best": nullable(Number(0)),
        "worse": Integer(0),
        "ended": SHOWN_TEXT,
        "log": ListOf(EVALUATION),
        "machines": ListOf(MACHINE, longest=1000),
    },
)


def _tensors(contents: Contents) -> dict[str, Tensor]:
    """None when a training has only been started; the model's configuration is not kept, so C may be either."""
    if not contents.layouts:
        return {}
    is_full = "C" in contents.layouts and len(contents.layouts["C"].shape) == 3
    shapes: dict[str, tuple[str, ...]] = {
        "Q": ("context factors", "d"),
        "C": ("transforms", "d", "d") if is_full else ("transforms", "d"),
        "R": ("output factors", "d"),
        "b": ("V",),
        "S": ("classes", "d"),
        "t": ("classes",),
    }
    squares = {f"squares.{name}": Tensor("float32", shape, 0, LARGEST_SQUARES) for name, shape in shapes.items()}
    return {name: parameter(*shape) for name, shape in shapes.items()} | squares


def _can_go_on(contents: Contents) -> str:
    progress = contents.training
    return "an evaluation of no tokens is due" if progress.get("due") and not progress.get("tokens") else ""


CHECKPOINT = ArtefactSchema(
    configuration=Record({"identity": String(longest=200)}),
    training=PROGRESS,
    self_test=ListOf(Null(), longest=0),
    tensors=_tensors,
    relations=(_can_go_on,),
)
