"""The record of `morphlm learn`: what was asked for, what was read, every trial, what was chosen, what came out."""

from __future__ import annotations

from typing import Any

from morphlm.schema import (
    DIGEST,
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
    nullable,
)

FORMAT = 1
KNESER_NEY, CLBL, MIXTURE = "mkn", "clbl++", "mixture"  # the models, as the record names them
NEURAL_CACHE, MORPHEME_CACHE = CACHES = "neural-cache", "morpheme-cache"  # in the order in which they are tried
CACHED_KNESER_NEY, CACHED_MIXTURE = "mkn+cache", "mixture+caches"  # what they are measured with
_COUNT = Integer(0)
_SECONDS = Number(0, 1e12)
_PERPLEXITY = nullable(Number(0))
_NAME = String(longest=8192)
_WORD = String(longest=10_000)
_SHARE = Number(0, 1)

INPUT_FILE = Record(
    {
        "role": String(choices=("text", "dev", "test")),
        "name": _NAME,
        "bytes": nullable(_COUNT),
        "modified": nullable(Integer()),
        "sha256": nullable(DIGEST),
    }
)
SETTINGS = Record(
    {
        "language": nullable(String(longest=20)),
        "prepared": Boolean(),
        "allow_unknown": Boolean(),
        "field": nullable(_NAME),
        "case": String(choices=("lower", "keep")),
        "seed": Integer(0, 2**32 - 1),
    },
    optional={"encoding": String(longest=40), "caches": Boolean()},  # only where they were given
)
PART = Record({"sentences": _COUNT, "tokens": _COUNT, "sha256": DIGEST})
TEXT = Record(
    {
        "language": nullable(String(longest=20)),
        "documents": _COUNT,
        "whole_documents": Boolean(),
        "lost": MapOf(_COUNT, keys=String(longest=200), longest=100),
        "left_out": _COUNT,
        "repeated": _SHARE,
        "notes": ListOf(String(longest=4000), longest=1000),
        "parts": Record({"train": PART, "dev": PART, "test": PART}),
    }
)
NGRAM_CHOICE = Record({"kappa": _SHARE, "order": Integer(1, 100)})
MODEL_CHOICE = {
    "order": Integer(2, 100),
    "width": Integer(1, 100_000),
    "wide_context": Boolean(),
    "class_factor": Number(0, 1000),
}
TRIAL = Record(MODEL_CHOICE | {"perplexity": _PERPLEXITY, "seconds": _SECONDS, "tokens": _COUNT})
PERPLEXITIES = Record(dict.fromkeys(("development", "test", "development_spelled", "test_spelled"), _PERPLEXITY))
FIGURES = (KNESER_NEY, CLBL, MIXTURE, CACHED_KNESER_NEY, CACHED_MIXTURE)
RESULT = Record(
    {
        "kind": String(choices=(KNESER_NEY, MIXTURE)),
        "perplexities": MapOf(PERPLEXITIES, keys=String(choices=FIGURES)),
        "composable": nullable(_SHARE),
        "headline": String(longest=1000),
        "words": ListOf(_WORD, longest=100),
        "new_words": ListOf(_WORD, longest=100),
        "beginnings": ListOf(String(longest=100_000), longest=100),
        "commands": ListOf(String(longest=1 << 16), longest=100),
    },
    optional={
        "caches": ListOf(String(choices=CACHES), longest=len(CACHES))
    },  # of the model; only where they were tried
)


def _has_what_it_says(record: dict[str, Any]) -> str:
    """A stage that is done has found something; what is complete has a result, with figures of the model."""
    done = [name for name in ("text", "ngrams", "result") if record[name] is not None]
    if done != ["text", "ngrams", "result"][: len(done)]:
        return "a stage is missing"
    if record["complete"] and record["result"] is None:
        return "it is complete without a result"
    if record["choice"] is not None and record["ngrams"] is None:
        return "a stage is missing"
    result = record["result"]
    if result is not None and not {KNESER_NEY, result["kind"]} <= result["perplexities"].keys():
        return "the figures of the model are missing"
    if result is not None and result.get("caches") and CACHED_MIXTURE not in result["perplexities"]:
        return "the figures of the model with caches are missing"
    is_mixture = result is not None and result["kind"] == MIXTURE
    return "the settings of the mixture are missing" if is_mixture and record["choice"] is None else ""


RECORD = Record(
    {
        "format": Integer(),
        "version": String(longest=100),
        "settings": SETTINGS,
        "inputs": ListOf(INPUT_FILE),
        "minutes": nullable(Number(0)),
        "seconds": _SECONDS,
        "complete": Boolean(),
        "text": nullable(TEXT),
        "ngram_trials": ListOf(Record({"kappa": _SHARE, "order": Integer(1, 100), "perplexity": _PERPLEXITY})),
        "ngrams": nullable(NGRAM_CHOICE),
        "search_tokens": nullable(_COUNT),
        "trials": ListOf(TRIAL),
        "choice": nullable(Record(MODEL_CHOICE | {"classes": Integer(1), "stop_after": _COUNT})),
        "result": nullable(RESULT),
    },
    optional={"machine": MapOf(SHOWN_TEXT, keys=String(longest=100), longest=100)},
)
LEARNED = Document(
    "a record of `morphlm learn`",
    Related(RECORD, (_has_what_it_says,)),
    cure="give --restart to learn anew, or choose another place",
    version=FORMAT,
)
