"""What the store of experiments keeps as JSON: records of steps with their results, translations, reports."""

from __future__ import annotations

from typing import Any

from morphlm.analysis.schema import GROUP_COMPARISON, SENTENCE_SCORES
from morphlm.schema import (
    DIGEST,
    FILE_NAME,
    RELATIVE_PATH,
    SHOWN_TEXT,
    Boolean,
    Document,
    Integer,
    ListOf,
    MapOf,
    Number,
    Record,
    Related,
    String,
    Value,
    nullable,
)
from morphlm.text.schema import COUNTS
from morphlm.vectors.similarity import POLICIES

RECORD_FORMAT = 1
_KEY = String(longest=200)
_COUNT = Integer(0)
_SECONDS = Number(0, 1e12)
_RUN_SCORES = Record({"runs": ListOf(Number(), 1, 10_000), "mean": Number(), "deviation": Number()})
_CORRELATION = Record(dict.fromkeys(("rho", "low", "high"), nullable(Number())), is_open=True)


def _has_intervals(correlation: dict[str, Any]) -> str:
    return "" if (correlation["low"] is None) == (correlation["high"] is None) else "half of an interval is missing"


# What a step of each kind has found; other kinds, of other packages, check theirs when they read them.
RESULTS: dict[str, Value] = {
    "texts": Record({"counts": Record(dict.fromkeys(("train", "dev", "test"), Record(dict(COUNTS))))}),
    "inputs": Record(
        {
            "vocabulary": _COUNT,
            "tokens": _COUNT,
            "factors": nullable(Record({}, is_open=True)),
            "classes": nullable(Record({}, is_open=True)),
        }
    ),
    "model": Record({"place": RELATIVE_PATH}, is_open=True),
    "scores": SENTENCE_SCORES,
    "frequency": GROUP_COMPARISON,
    "tags": GROUP_COMPARISON,
    "similarity": Record(
        {
            "sets": ListOf(
                Record(
                    {
                        "set": FILE_NAME,
                        "pairs": _COUNT,
                        "known": _COUNT,
                        "covered": _COUNT,
                        "rho_x_100": Record(dict.fromkeys(POLICIES, Related(_CORRELATION, (_has_intervals,)))),
                        "signature": SHOWN_TEXT,
                    }
                ),
                longest=1000,
            )
        }
    ),
    "bitext": Record({"pair": SHOWN_TEXT, "stages": MapOf(Record({}, is_open=True), longest=100)}),
    "tuning": Record(
        {
            "place": RELATIVE_PATH,
            "runs": ListOf(Record({"seed": _COUNT, "bleu": Number(), "iterations": _COUNT}), longest=10_000),
            "weights": MapOf(Number()),
        }
    ),
    "comparison": Record(
        {
            "pair": SHOWN_TEXT,
            "place": RELATIVE_PATH,
            "systems": ListOf(
                Record(
                    {
                        "name": SHOWN_TEXT,
                        "bleu": _RUN_SCORES,
                        "chrf": _RUN_SCORES,
                        "length_ratio": Number(0),
                        "p": nullable(Number(0, 1)),
                        "p_before": nullable(Number(0, 1)),
                    },
                    is_open=True,
                ),
                shortest=1,
                longest=1000,
            ),
            "sentences": _COUNT,
            "shuffles": _COUNT,
            "bleu_signature": SHOWN_TEXT,
            "chrf_signature": SHOWN_TEXT,
        }
    ),
}


def _result_fits(record: dict[str, Any]) -> str:
    try:
        RESULTS.get(record["kind"], Record({}, is_open=True)).check(record["result"], "the result")
    except ValueError as problem:
        return str(problem)
    return ""


STEP_RECORD = Document(
    "the record of a step",
    Related(
        Record(
            {
                "format": Integer(),
                "key": _KEY,
                "kind": SHOWN_TEXT,
                "name": SHOWN_TEXT,
                "seconds": _SECONDS,
                "expected": _SECONDS,
                "fresh": Boolean(),
                "result": Record({}, is_open=True),
                "files": MapOf(DIGEST, keys=RELATIVE_PATH, longest=10_000),
                "digest": DIGEST,
            },
            optional={"group": SHOWN_TEXT},
        ),
        (_result_fits,),
    ),
    largest=1 << 29,
    version=RECORD_FORMAT,
)
BATCH = Document(
    "translations of a part of a text",
    Record(
        {
            "key": _KEY,
            # system, seed of the run, and a translation for each sentence
            "translations": MapOf(MapOf(ListOf(String(pattern=r"[^\n\r]*")), longest=10_000), longest=1000),
        }
    ),
)
REPORT_FILE = Document(
    "the results of a report",
    Record({"recipe": String(), "pictures": ListOf(FILE_NAME, longest=100_000)}, is_open=True),
)
