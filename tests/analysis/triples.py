"""The three models of the paper by their perplexities alone, without intervals."""

from __future__ import annotations

from morphlm.analysis.model_triple import ModelTriple
from morphlm.analysis.scores import plain_change


def model_triple(mkn: float, clbl: float, additive: float) -> ModelTriple:
    changes = plain_change(mkn, clbl), plain_change(clbl, additive), plain_change(mkn, additive)
    return ModelTriple(mkn, clbl, additive, *changes)
