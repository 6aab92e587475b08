"""The record of modified Kneser-Ney among the kinds of models, and of what is read from ARPA files."""

from __future__ import annotations

from morphlm.kinds import ModelKind

MKN = ModelKind(
    name="mkn",
    description="Interpolated modified Kneser-Ney, equal to KenLM's lmplz.",
    read="morphlm.ngram.model:ngram_from_files",
    modules=("morphlm.ngram",),
    cost="morphlm.ngram.cost:estimate_cost",
)
ARPA = ModelKind(
    name="arpa", description="A back-off model from an ARPA file.", read="morphlm.ngram.model:ngram_from_files"
)
KINDS = (MKN, ARPA)
