"""Perplexity by how often a token was seen in training (paper, figure 3)."""

from __future__ import annotations

from collections.abc import Sequence

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
ALONE = "There is one model, so nothing to compare it with; these are its own perplexities."


def frequency(scored_models: ScoredModels) -> PageSection:
    """Compare the first model with each of the others; a single model is shown alone."""
    first, *others = scored_models.models
    if has_counts(first.model.vocabulary):
        body = _comparisons(scored_models, others) if others else _alone(scored_models, first)
    else:
        body = missing(_no_counts(first))
    return PageSection("frequency", "Rare and frequent words", EXPLANATION, body)


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


def _comparisons(scored_models: ScoredModels, others: Sequence[ScoredModel]) -> Markup:
    """A chart for each model, and one table for all: the bins are the same."""
    results = [by_frequency(scored_models, other) for other in others]
    first = scored_models.first.name
    charts = [_chart(first, other, result) for other, result in zip(others, results, strict=True)]
    titles = [title for other in others for title in (other.name, "change")]
    columns = [*names("seen in training"), *numbers("tokens", "share", first, *titles)]
    notes = [paragraph(note, class_="note") for note in dict.fromkeys(note for one in results for note in one.notes)]
    return joined([tag("div", charts, class_="charts"), table(columns, _rows(results)), *notes])


def _chart(first: str, other: ScoredModel, result: GroupComparison) -> Markup:
    name = f"Change of perplexity by training frequency, {other.name} against {first}"
    heading = tag("h3", f"{other.name} against {first}")
    return tag("div", heading, change_bars(name, result.groups, result.whole))


def _rows(results: Sequence[GroupComparison]) -> list[list[str]]:
    """A row for each bin: what all share, then the figures of each comparison."""
    bins = zip(*([*result.groups, result.whole] for result in results), strict=True)
    rows = []
    for groups in bins:
        shared = groups[0]
        own = [(decimal(one.other if one.tokens else None), one.change.format()) for one in groups]
        baseline = decimal(shared.baseline if shared.tokens else None)
        cells = [cell for pair in own for cell in pair]
        rows.append([shared.name, whole(shared.tokens), percent(shared.share), baseline, *cells])
    return rows


def _alone(scored_models: ScoredModels, first: ScoredModel) -> Markup:
    result = by_frequency(scored_models, first)
    rows = [
        [group.name, whole(group.tokens), percent(group.share), decimal(group.baseline if group.tokens else None)]
        for group in (*result.groups, result.whole)
    ]
    columns = [*names("seen in training"), *numbers("tokens", "share", first.name)]
    return joined([table(columns, rows), missing(ALONE)])
