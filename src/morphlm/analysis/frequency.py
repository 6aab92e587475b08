"""Perplexity by how often a token was seen in training: where one model is better than another (paper, 4.2).

The bins are [10^x, 10^(x+1)) of the count in the baseline's training text, and one for what was never seen or became
UNK there.
"""

from __future__ import annotations

import numpy as np

from morphlm.analysis.bootstrap import RESAMPLES
from morphlm.analysis.groups import GroupComparison, PairedScores, Positions, compare_members, model_names, score_both
from morphlm.arrays import Int64Array
from morphlm.errors import ConfigError
from morphlm.language_model.base import LanguageModel
from morphlm.vocabulary.corpus import Source
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID, Vocabulary
from morphlm.wording import option

TITLE = "seen in training"
UNSEEN = "unseen"


def frequency_comparison(
    baseline: LanguageModel,
    other: LanguageModel,
    source: Source,
    *,
    ends: bool = True,
    vocabulary: Vocabulary | None = None,
    names: tuple[str, str] | None = None,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> GroupComparison:
    """Compare two models on a text, by the training count of its tokens.

    The counts are the baseline's, or those of the `vocabulary` that is given. With `ends` sentence ends count like a
    word that was seen once a sentence; without, they are left out of all figures.
    """
    _check_counts(vocabulary or baseline.vocabulary, baseline.kind)  # before the work
    scored = score_both(baseline, other, source, allow_unknown=allow_unknown, prepared=prepared, encoding=encoding)
    return compare_by_frequency(
        scored,
        baseline.vocabulary,
        names or model_names(baseline, other),
        ends=ends,
        vocabulary=vocabulary,
        seed=seed,
        resamples=resamples,
    )


def compare_by_frequency(
    scored: PairedScores,
    known: Vocabulary,
    names: tuple[str, str],
    *,
    ends: bool = True,
    vocabulary: Vocabulary | None = None,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> GroupComparison:
    """Compare two models on a text that has been scored already; `known` is the baseline's vocabulary."""
    _check_counts(vocabulary or known, names[0])
    counts = _counts_of(scored, known, vocabulary)
    whole = np.arange(len(counts)) if ends else np.flatnonzero(scored.tokens != END_ID)
    if not len(whole):
        raise ConfigError("the text has no words, only sentence ends, which are left out; give sentences with words")
    return compare_members(
        scored,
        _bins(counts, whole),
        TITLE,
        names,
        whole=whole,
        seed=seed,
        resamples=resamples,
        notes=[] if ends else ["sentence ends are left out"],
    )


def has_counts(vocabulary: Vocabulary) -> bool:
    """Whether the vocabulary has training counts; that of an ARPA file has none."""
    return bool(vocabulary.counts[END_ID:].any())


def _check_counts(vocabulary: Vocabulary, name: str) -> None:
    if not has_counts(vocabulary):
        raise ConfigError(
            f"the {name} model does not tell how often its words were seen (an ARPA file has no counts); "
            f"give a vocabulary with counts ({option('--vocab')}), or another baseline"
        )


def _counts_of(scored: PairedScores, known: Vocabulary, vocabulary: Vocabulary | None) -> Int64Array:
    """The training count of each token; 0 for those that are UNK."""
    if vocabulary is None or vocabulary is known:
        return np.where(scored.tokens == UNK_ID, 0, known.counts[scored.tokens])
    ids = np.fromiter((vocabulary.ids.get(form.decode(), UNK_ID) for form in scored.forms), np.int64)
    return np.where(ids == UNK_ID, 0, vocabulary.counts[ids])


def _bins(counts: Int64Array, whole: Positions) -> dict[str, Positions]:
    """The places of the tokens in each bin, up to the last that has any."""
    seen = counts[whole]
    bins, low = {UNSEEN: whole[seen == 0]}, 1
    while low <= seen.max():
        bins[f"{low:,}-{10 * low - 1:,}"] = whole[(seen >= low) & (seen < 10 * low)]
        low *= 10
    return bins
