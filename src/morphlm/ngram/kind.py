"""The record of modified Kneser-Ney among the kinds of models, and of what is read from ARPA files."""

from __future__ import annotations

from morphlm.kinds import ModelKind

MKN = ModelKind(
    name="mkn",
    description="Interpolated modified Kneser-Ney, equal to KenLM's lmplz.",
    read="morphlm.ngram.model:ngram_from_files",
    train="morphlm.training.kneser_ney:train_mkn",
    options="morphlm.ngram.training:NgramOptions",
    modules=("morphlm.ngram",),
    command="morphlm.cli.train_mkn:command",
)
ARPA = ModelKind(
    name="arpa", description="A back-off model from an ARPA file.", read="morphlm.ngram.model:ngram_from_files"
)
KINDS = (MKN, ARPA)
