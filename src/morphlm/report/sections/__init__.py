"""The sections of the report, in their order; each is a module that makes one of what a report is about."""

from __future__ import annotations

from collections.abc import Callable

from morphlm.report.scored_models import ScoredModels
from morphlm.report.sections.classes import classes
from morphlm.report.sections.corpus import corpus
from morphlm.report.sections.curves import curves
from morphlm.report.sections.frequency import frequency
from morphlm.report.sections.generated import generated
from morphlm.report.sections.morpheme_map import morpheme_map
from morphlm.report.sections.neighbours import neighbours
from morphlm.report.sections.perplexities import perplexities
from morphlm.report.sections.predictions import predictions
from morphlm.report.sections.section import PageSection
from morphlm.report.sections.segmentation import segmentation
from morphlm.report.sections.surprisal import surprisal

SECTIONS: tuple[Callable[[ScoredModels], PageSection], ...] = (
    perplexities,
    surprisal,
    predictions,
    generated,
    frequency,
    segmentation,
    neighbours,
    morpheme_map,
    classes,
    curves,
    corpus,
)
