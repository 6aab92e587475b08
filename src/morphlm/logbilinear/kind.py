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


GATHERING = ("gather",)  # the setting of classes that learn from several minibatches at once
NOISE = ("samples", "noise", "noise_block", "noise_accumulator")  # settings of noise-contrastive estimation


def _record(name: str) -> ModelKind:
    has_factors, has_classes = "+" in name, name.startswith("c")
    return ModelKind(
        name=name,
        description=DESCRIPTIONS[name],
        read="morphlm.logbilinear.model:logbilinear_from_files",
        schema="morphlm.logbilinear.schema:LOGBILINEAR",
        train="morphlm.training.logbilinear:train_logbilinear",
        options="morphlm.training.config:LogBilinearOptions",
        unused_options=(*(() if has_factors else ("surface_dropout",)), *(NOISE if has_classes else GATHERING)),
        writes_checkpoints=True,
        can_continue=True,
        modules=(
            "morphlm.logbilinear",
            "morphlm.training.batches",
            "morphlm.training.config",
            "morphlm.training.loop",
            "morphlm.training.rank_state",
        ),
        needs_factors=has_factors,
        needs_classes=has_classes,
        has_vectors=True,
        revision=3 if has_classes else 2,  # sums are over logical shards, along a tree
        family=name.partition("+")[0],
        decoder_scorer="morphlm.logbilinear.batch_scorer:LogBilinearScorer",
        cost="morphlm.logbilinear.cost:estimate_cost",
    )


KINDS = tuple(map(_record, DESCRIPTIONS))
