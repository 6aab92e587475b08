"""The map of morphemes, drawn by map.js."""

from __future__ import annotations

from morphlm.analysis.morpheme_map import MorphemeMap, map_morphemes
from morphlm.errors import ConfigError
from morphlm.report.html import Markup, joined, json_script, missing, paragraph, tag
from morphlm.report.scored_models import ScoredModel, ScoredModels, names_of
from morphlm.report.sections.neighbours import same_vectors
from morphlm.report.sections.section import PageSection
from morphlm.report.sections.segmentation import factors_of

EXPLANATION = (
    "Morphemes whose vectors are alike lie near each other. Distances within a cluster can be trusted more than those "
    "between clusters (the map is made by t-SNE). Zoom with the wheel, two fingers or the buttons, drag to move, and "
    "search for a morpheme or a word; point at a morpheme to read about it."
)
NONE = "None of these models has morphemes, so there is nothing to map; models with factors (+c, +o, ++) have some."


def morpheme_map(scored_models: ScoredModels) -> PageSection:
    """The map of the first model that has enough morphemes."""
    groups = [group for group in same_vectors(scored_models) if factors_of(group[0]) is not None]
    reason = NONE
    for scored_model in (group[0] for group in groups):
        try:
            result = map_of(scored_model, scored_models.seed)
        except ConfigError as error:
            reason = f"{scored_model.name}: {error}."
            continue
        data = json_script("map-data", {"points": [point.to_json() for point in result.points]})
        return PageSection("map", "Map of morphemes", EXPLANATION, _body(scored_model, groups, result), data)
    return PageSection("map", "Map of morphemes", EXPLANATION, missing(reason))


def map_of(scored_model: ScoredModel, seed: int) -> MorphemeMap:
    """Compute the map of a model."""
    assert scored_model.vectors is not None
    return map_morphemes(scored_model.vectors, seed=seed)


def _body(scored_model: ScoredModel, groups: list[list[ScoredModel]], result: MorphemeMap) -> Markup:
    own = next(group for group in groups if scored_model in group)
    others = [other for group in groups if group is not own for other in group]
    also = f" Not shown: those of {names_of(others)}." if others else ""
    note = f"The {len(result)} most frequent morphemes of {names_of(own)}.{also}"
    script = tag("noscript", missing("The map is drawn by a script in this page; allow it to see the map."))
    return joined([paragraph(note, class_="note"), tag("div", id="map-here", data_model=scored_model.name), script])
