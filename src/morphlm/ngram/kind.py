"""The record of modified Kneser-Ney among the kinds of models, and of what is read from ARPA files."""

from __future__ import annotations

from morphlm.kinds import ModelKind

SCORER, HEURISTIC = "morphlm.ngram.batch_scorer:NgramScorer", "morphlm.ngram.batch_scorer:ngram_heuristic"

MKN = ModelKind(
    name="mkn",
    description="Interpolated modified Kneser-Ney, equal to KenLM's lmplz.",
    read="morphlm.ngram.model:ngram_from_files",
    schema="morphlm.ngram.schema:NGRAM",
    train="morphlm.training.kneser_ney:train_mkn",
    options="morphlm.ngram.training:NgramOptions",
    modules=("morphlm.ngram",),
    decoder_scorer=SCORER,
    decoder_heuristic=HEURISTIC,
    command="morphlm.cli.train_mkn:command",
    cost="morphlm.ngram.cost:estimate_cost",
)
ARPA = ModelKind(
    name="arpa",
    description="A back-off model from an ARPA file.",
    read="morphlm.ngram.model:ngram_from_files",
    schema="morphlm.ngram.schema:NGRAM",
    decoder_scorer=SCORER,
    decoder_heuristic=HEURISTIC,
)
KINDS = (MKN, ARPA)
