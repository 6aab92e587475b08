"""The record of mixtures among the kinds of models."""

from __future__ import annotations

from morphlm.kinds import ModelKind

KINDS = (
    ModelKind(
        name="mixture",
        description="A linear interpolation of other models, made by `morphlm mix`.",
        read="morphlm.scoring.loading:mixture_from_directory",
        schema="morphlm.scoring.schema:MIXTURE",
        decoder_scorer="morphlm.scoring.mixture_scorer:MixtureScorer",
        decoder_heuristic="morphlm.scoring.mixture_scorer:mixture_heuristic",
    ),
)
