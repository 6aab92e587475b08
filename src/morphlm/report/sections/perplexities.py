"""The models: what each is, and the perplexity of the test text under it."""

from __future__ import annotations

import math

from morphlm.analysis.groups import GroupComparison, compare_members
from morphlm.report.descriptions import describe_model
from morphlm.report.html import Child, Markup, joined, names, numbers, paragraph, table, tag, words
from morphlm.report.numbers import NOTHING, decimal
from morphlm.report.scored_models import ScoredModel, ScoredModels, paired_scores
from morphlm.report.sections.section import PageSection

EXPLANATION = (
    "Perplexity says among how many words, on average, a model wavers at each token: lower is better. Unknown words "
    "are scored as UNK; one column leaves them out."
)
CHANGE = (
    " The change is relative to the first model, with a 95 % interval by drawing the sentences again (paired "
    "bootstrap)."
)
DIFFERENT = (
    "These models do not have the same vocabulary. A model that knows fewer words has more unknown ones, which are "
    "easy to predict together, so the figures including unknown words cannot be compared."
)


def perplexities(scored_models: ScoredModels) -> PageSection:
    """A table with a row for each model."""
    rows = [_row(scored_models, scored_model) for scored_model in scored_models.models]
    change = [f"change against {scored_models.first.name}"] if len(rows) > 1 else []
    columns = numbers("perplexity", *change, "without unknown", "bits a token")
    alike = len(scored_models.groups(lambda scored_model: scored_model.words)) == 1
    warning = None if alike else paragraph(DIFFERENT, class_="note")
    shown = table([*names("model"), *words("what it is"), *columns], rows)
    explanation = EXPLANATION + (CHANGE if change else "")
    return PageSection("models", "Models", explanation, joined([shown, warning, _signatures(scored_models)]))


def _row(scored_models: ScoredModels, scored_model: ScoredModel) -> list[Child]:
    perplexity, change = scored_model.perplexity, []
    if len(scored_models.models) > 1:
        is_first = scored_model is scored_models.first
        change = [NOTHING if is_first else compared(scored_models, scored_model).whole.change.format()]
    return [
        scored_model.name,
        describe_model(scored_model.model),
        tag("strong", decimal(perplexity.including_unknown)),
        *change,
        decimal(perplexity.excluding_unknown),
        decimal(math.log2(perplexity.including_unknown)),
    ]


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
