"""What the training record of any language model may hold; fields that no code reads are not listed."""

from __future__ import annotations

from morphlm.schema import DIGEST, Integer, ListOf, MapOf, Number, Record, String, nullable
from morphlm.schema.values import Value
from morphlm.text.schema import LINE_STEPS

_NAME = String(pattern=r"[\w.+-]{0,100}")
PREPARATION = Record(
    {},
    optional={
        "tokeniser": nullable(_NAME),
        "normalisation": nullable(_NAME),
        "options": nullable(Record({}, optional=LINE_STEPS)),
    },
    is_open=True,
)
MACHINE = MapOf(String(longest=1000), longest=20)  # the type of machine, see machine.py
CONTINUED = Record({"manifest_sha256": DIGEST, "words": Integer(0), "tokens": nullable(Integer(0))})
_READ: dict[str, Value] = {
    "version": String(longest=100),
    "seed": nullable(Integer(0)),
    "kappa": nullable(Number(0, 1)),
    "vocabulary": nullable(String(longest=100)),
    "tokens": nullable(Integer(0)),
    "sentences": Integer(0),
    "batch": Integer(1),
    "preparation": nullable(PREPARATION),
    "discounts": ListOf(Record({"warning": nullable(String(longest=1000))}, is_open=True), longest=255),
    "source": String(longest=1000),
    "identity": String(longest=200),
    "recipe": String(longest=100),
    "fixed_wide_context": Integer(0),
    "extended": Integer(0, 2**31),
    "continued_from": ListOf(CONTINUED, longest=10_000),
    "best_epoch": nullable(Integer(0)),
    "best_minibatch": nullable(Integer(0)),
    "development_perplexity": nullable(Number(0)),
    "development_unknown": nullable(Number(0, 1)),
    "machine": MACHINE,
    "earlier_machines": ListOf(MACHINE, longest=1000),
    "weights": ListOf(Number(0, 1), longest=100),
}
TRAINING = Record({}, optional=_READ, is_open=True)
