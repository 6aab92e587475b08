"""Perplexity by how often a token was seen in training (paper, figure 3)."""

from __future__ import annotations

from morphlm.analysis.frequency import compare_by_frequency, has_counts
from morphlm.analysis.groups import GroupComparison
from morphlm.report.charts import change_bars
from morphlm.report.html import Markup, joined, missing, names, numbers, paragraph, table, tag
from morphlm.report.numbers import decimal, whole
from morphlm.report.scored_models import ScoredModel, ScoredModels, paired_scores
from morphlm.report.sections.section import PageSection
from morphlm.tables import percent

EXPLANATION = (
    "The tokens of the test text in bins by how often they were seen in training. Models that know the parts of words "
    "should gain most where a word was seen rarely: bars to the left mean a lower perplexity than that of the first "
    "model, and the thin lines are 95 % intervals by paired bootstrap over sentences."
)


def frequency(scored_models: ScoredModels) -> PageSection:
    """Compare the first model with each of the others; a single model is shown alone."""
    first, *others = scored_models.models
    if has_counts(first.model.vocabulary):
        parts = [_comparison(scored_models, other) for other in others] or [_alone(scored_models, first)]
    else:
        parts = [missing(_no_counts(first))]
    return PageSection("frequency", "Perplexity by frequency", EXPLANATION, joined(parts))


def _no_counts(first: ScoredModel) -> str:
    return (
        f"{first.name} does not tell how often its words were seen (an ARPA file has no counts), so there are no bins. "
        "Name a model with counts first."
    )


def by_frequency(scored_models: ScoredModels, other: ScoredModel) -> GroupComparison:
    """The comparison with the first model, from scores that are there already."""
    first = scored_models.first
    scored = paired_scores(scored_models.text, first, other)
    return compare_by_frequency(scored, first.model.vocabulary, (first.name, other.name), seed=scored_models.seed)


def _comparison(scored_models: ScoredModels, other: ScoredModel) -> Markup:
    result = by_frequency(scored_models, other)
    first = scored_models.first.name
    name = f"Change of perplexity by training frequency, {other.name} against {first}"
    rows = [
        [
            group.name,
            whole(group.tokens),
            percent(group.share),
            decimal(group.baseline if group.tokens else None),
            decimal(group.other if group.tokens else None),
            group.change.format(),
        ]
        for group in (*result.groups, result.whole)
    ]
    columns = [*names("seen in training"), *numbers("tokens", "share", first, other.name, "change")]
    notes = [paragraph(note, class_="note") for note in result.notes]
    return joined(
        [
            tag("h3", f"{other.name} against {first}"),
            change_bars(name, result.groups, result.whole),
            table(columns, rows),
            *notes,
        ]
    )


def _alone(scored_models: ScoredModels, first: ScoredModel) -> Markup:
    result = by_frequency(scored_models, first)
    rows = [
        [group.name, whole(group.tokens), percent(group.share), decimal(group.baseline if group.tokens else None)]
        for group in (*result.groups, result.whole)
    ]
    columns = [*names("seen in training"), *numbers("tokens", "share", first.name)]
    note = "There is one model, so nothing to compare it with; these are its own perplexities."
    return joined([table(columns, rows), missing(note)])
