"""The records of the eight log-bilinear models among the kinds of models."""

from __future__ import annotations

from morphlm.kinds import ModelKind

DESCRIPTIONS = {
    "lbl": "The log-bilinear model: one softmax over all words, trained by noise-contrastive estimation.",
    "lbl+c": "LBL whose context words are sums of their factors.",
    "lbl+o": "LBL whose output words are sums of their factors.",
    "lbl++": "LBL whose words are sums of their factors on both sides.",
    "clbl": "The class-based log-bilinear model: P(w|h) = P(c|h) P(w|h,c).",
    "clbl+c": "CLBL whose context words are sums of their factors.",
    "clbl+o": "CLBL whose output words are sums of their factors.",
    "clbl++": "CLBL whose words are sums of their factors, morphemes by default, on both sides.",
}


def _record(name: str) -> ModelKind:
    return ModelKind(
        name=name,
        description=DESCRIPTIONS[name],
        read="morphlm.logbilinear.model:logbilinear_from_files",
        modules=("morphlm.logbilinear", "morphlm.training.batches", "morphlm.training.loop"),
        needs_factors="+" in name,
        needs_classes=name.startswith("c"),
        has_vectors=True,
        family=name.partition("+")[0],
        cost="morphlm.logbilinear.cost:estimate_cost",
    )


KINDS = tuple(map(_record, DESCRIPTIONS))
