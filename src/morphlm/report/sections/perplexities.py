"""The models: what each is, and the perplexity of the test text under it."""

from __future__ import annotations

import math

from morphlm.analysis.groups import GroupComparison, compare_members
from morphlm.report.descriptions import describe_model
from morphlm.report.html import Markup, joined, names, numbers, paragraph, table, tag, words
from morphlm.report.numbers import NOTHING, decimal, whole
from morphlm.report.scored_models import ScoredModel, ScoredModels, paired_scores
from morphlm.report.sections.section import PageSection

EXPLANATION = (
    "Perplexity says among how many words, on average, a model wavers at each token: lower is better. Unknown words "
    "are scored as UNK; one column leaves them out. The change is relative to the first model, with a 95 % interval by "
    "drawing the sentences again (paired bootstrap)."
)
DIFFERENT = (
    "These models do not have the same vocabulary. A model that knows fewer words has more unknown ones, which are "
    "easy to predict together, so the figures including unknown words cannot be compared."
)


def perplexities(scored_models: ScoredModels) -> PageSection:
    """A table with a row for each model."""
    first = scored_models.first
    rows = [
        [
            scored_model.name,
            describe_model(scored_model.model),
            tag("strong", decimal(scored_model.perplexity.including_unknown)),
            NOTHING if scored_model is first else compared(scored_models, scored_model).whole.change.format(),
            decimal(scored_model.perplexity.excluding_unknown),
            decimal(math.log2(scored_model.perplexity.including_unknown)),
            whole(scored_model.perplexity.unknown),
        ]
        for scored_model in scored_models.models
    ]
    titles = ["perplexity", f"change against {first.name}", "without unknown", "bits a token", "unknown"]
    alike = len(scored_models.groups(lambda scored_model: scored_model.words)) == 1
    warning = None if alike else paragraph(DIFFERENT, class_="note")
    columns = [*names("model"), *words("what it is"), *numbers(*titles)]
    return PageSection(
        "models",
        "Models",
        EXPLANATION,
        joined([table(columns, rows), warning, _signatures(scored_models)]),
    )


def compared(scored_models: ScoredModels, other: ScoredModel) -> GroupComparison:
    """A model against the first, on the text as a whole."""
    return compare_members(
        paired_scores(scored_models.text, scored_models.first, other),
        {},
        "all",
        (scored_models.first.name, other.name),
        seed=scored_models.seed,
    )


def _signatures(scored_models: ScoredModels) -> Markup:
    """The signatures that the figures belong to."""
    entries = [
        (tag("dt", scored_model.name), tag("dd", tag("code", str(scored_model.perplexity.signature))))
        for scored_model in scored_models.models
    ]
    note = "Compare figures only where these agree in all but the model."
    signatures = tag("dl", entries, class_="signatures")
    return tag("details", tag("summary", "Signatures of these figures"), paragraph(note, class_="note"), signatures)
