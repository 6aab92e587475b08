"""Perplexities of the test text under all models, with signatures."""

from __future__ import annotations

import math

from morphlm.analysis.groups import GroupComparison, ScoredBoth, compare_members
from morphlm.report.html import Markup, joined, names, numbers, paragraph, table, tag
from morphlm.report.numbers import NOTHING, decimal, whole
from morphlm.report.scored_models import ScoredModel, ScoredModels
from morphlm.report.sections.section import Section

EXPLANATION = (
    "Perplexity says among how many words, on average, a model wavers at each token: lower is better. Unknown words "
    "are scored as UNK in the first column of figures, and left out in the second. The change is relative to the "
    "first model, with a 95 % interval by drawing the sentences again (paired bootstrap)."
)
DIFFERENT = (
    "These models do not have the same vocabulary. A model that knows fewer words has more unknown ones, which are "
    "easy to predict together, so the figures including unknown words cannot be compared."
)


def perplexities(subjects: ScoredModels) -> Section:
    """A row a model."""
    first = subjects.first
    rows = [
        [
            subject.name,
            decimal(subject.perplexity.including_unknown),
            decimal(subject.perplexity.excluding_unknown),
            decimal(_bits(subject)),
            NOTHING if subject is first else compared(subjects, subject).whole.change.format(),
            whole(subject.perplexity.unknown),
        ]
        for subject in subjects.models
    ]
    titles = ["perplexity", "without unknown", "bits a token", f"change against {first.name}", "unknown"]
    alike = len(subjects.groups(lambda subject: subject.model.vocabulary.words)) == 1
    warning = None if alike else paragraph(DIFFERENT, class_="note")
    return Section(
        "perplexity",
        "Perplexity",
        EXPLANATION,
        joined([table([*names("model"), *numbers(*titles)], rows), warning, _signatures(subjects)]),
    )


def _bits(subject: ScoredModel) -> float:
    perplexity = subject.perplexity.including_unknown
    return math.log2(perplexity) if math.isfinite(perplexity) else math.inf


def compared(subjects: ScoredModels, other: ScoredModel) -> GroupComparison:
    """A model against the first, on the text as a whole."""
    return compare_members(both(subjects, other), {}, "all", (subjects.first.name, other.name), seed=subjects.seed)


def both(subjects: ScoredModels, other: ScoredModel) -> ScoredBoth:
    """The scores of the first model and of another, for the analyses."""
    one, two = subjects.first, other
    return ScoredBoth(
        subjects.text.name,
        subjects.text.forms,
        one.scored.corpus.tokens,
        two.scored.corpus.tokens,
        one.scored.logprobs,
        two.scored.logprobs,
        (one.perplexity.signature, two.perplexity.signature),
    )


def _signatures(subjects: ScoredModels) -> Markup:
    """All that defines the figures."""
    entries = [
        (tag("dt", subject.name), tag("dd", tag("code", str(subject.perplexity.signature))))
        for subject in subjects.models
    ]
    note = "Signatures: compare figures only where these agree in all but the model."
    return joined([paragraph(note, class_="note"), tag("dl", entries, class_="signatures")])
