"""Learning curves, from the logs of the trainings."""

from __future__ import annotations

from collections.abc import Mapping

from morphlm.analysis.learning_curves import curve_of
from morphlm.report.charts import Points, line_chart
from morphlm.report.html import Markup, missing, names, numbers, paragraph, table, tag
from morphlm.report.numbers import decimal, whole
from morphlm.report.scored_models import ScoredModel, ScoredModels
from morphlm.report.sections.section import PageSection
from morphlm.training.log import end_reason

EXPLANATION = (
    "The perplexity of the development text after each epoch, that is, each time that training has gone through the "
    "training text. The best point is the model that was kept; a curve that still falls at its end could have been "
    "trained longer."
)
NONE = (
    "None of these models has a log of its training. Log-bilinear models that `morphlm train` wrote have one, in "
    "log.jsonl; n-gram models and mixtures are not trained in epochs."
)


def curves(scored_models: ScoredModels) -> PageSection:
    """One chart for all models that have a training log."""
    all_curves = {s: curve_of(s.log, tokens=s.model.training.get("tokens")) for s in scored_models.models}
    drawn = {scored_model: points for scored_model, points in all_curves.items() if points}
    body = missing(NONE) if not drawn else _body(drawn, [s for s in scored_models.models if s not in drawn])
    return PageSection("curves", "Learning curves", EXPLANATION, body)


def _body(drawn: Mapping[ScoredModel, Points], others: list[ScoredModel]) -> Markup:
    series = {scored_model.name: points for scored_model, points in drawn.items()}
    picture = line_chart(
        f"Learning curves of {', '.join(series)}", series, "epochs", "perplexity of the development text"
    )
    rows = [_row(scored_model, points) for scored_model, points in drawn.items()]
    figures = numbers("evaluations", "best epoch", "best perplexity")
    columns = [*names("model"), *figures, *names("ended because")]
    note = (
        f"Without a log of a training: {', '.join(scored_model.name for scored_model in others)}." if others else None
    )
    figures_table = tag("div", table(columns, rows), paragraph(note, class_="note") if note else None)
    return tag("div", tag("div", picture), figures_table, class_="pair wide")


def _row(scored_model: ScoredModel, points: Points) -> list[str]:
    epoch, perplexity = min(points, key=lambda point: (point[1], point[0]))
    return [scored_model.name, whole(len(points)), f"{epoch:.3g}", decimal(perplexity), end_reason(scored_model.log)]
