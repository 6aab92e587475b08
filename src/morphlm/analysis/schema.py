"""Results of analyses that are kept as JSON and read again."""

from __future__ import annotations

from typing import Any

from morphlm.schema import Integer, ListOf, Number, Record, Related, String, nullable

MOST_SENTENCES = 1 << 24
LARGEST_LOG = 1e12  # of the probability of a sentence
_TEXT = String(longest=100_000)
_FINITE = nullable(Number())  # null: it was not finite


def _is_of_one_text(scores: dict[str, Any]) -> str:
    fits = len(scores["logprobs"]) == len(scores["tokens"])
    return "" if fits else "the log-probabilities and the numbers of tokens are not of the same sentences"


SENTENCE_SCORES = Related(
    Record(
        {
            "text": _TEXT,
            "logprobs": ListOf(nullable(Number(-LARGEST_LOG, 1)), shortest=1, longest=MOST_SENTENCES),
            "tokens": ListOf(Integer(1, 2**31 - 1), shortest=1, longest=MOST_SENTENCES),
            "signature": _TEXT,
            "vocabulary": Integer(0),
            "training_tokens": nullable(Integer(0)),
            "kappa": nullable(Number(0, 1)),
        }
    ),
    (_is_of_one_text,),
)  # of scores.SentenceScores
_GROUP = Record(
    {
        "name": _TEXT,
        "tokens": Integer(0),
        "share": Number(0, 1),
        "baseline": _FINITE,
        "other": _FINITE,
        "change": Record({"value": _FINITE, "low": _FINITE, "high": _FINITE}),
    }
)
GROUP_COMPARISON = Record(
    {
        "by": _TEXT,
        "text": _TEXT,
        "models": ListOf(_TEXT, 2, 2),
        "groups": ListOf(_GROUP, longest=10_000),
        "whole": _GROUP,
        "signatures": ListOf(_TEXT, 2, 2),
        "bootstrap": Record({"resamples": Integer(1), "seed": Integer(0)}, is_open=True),
        "notes": ListOf(_TEXT, longest=1000),
    }
)  # of groups.GroupComparison
