"""What the directory of a translation system says of itself: its manifest and its tuned weights."""

from __future__ import annotations

from typing import Any

from morphlm.schema import (
    DIGEST,
    FILE_NAME,
    RELATIVE_PATH,
    Document,
    Integer,
    ListOf,
    MapOf,
    Record,
    Related,
    String,
    nullable,
    settings_record,
)
from morphlm.text.schema import LANGUAGE_CODE
from morphlm.translation.alignment.config import AlignmentConfig
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.tuning.schema import RUN

FORMAT, KIND = 1, "translation system"
MOST_MODELS = 100
# What a system that was built may ask for, and so may cost whoever decodes with it; 0, for all, is none of it.
SEARCH_LIMITS = {
    "decoder": {"pop_limit": 10_000},
    "grammar": {"sample": 10_000, "anchors": 10_000, "max_targets": 1000},
}
AGAIN = "copy or build the system again"
_VERSION, _KEY = String(longest=100), String(longest=200)
_SIGNED = {"format": Integer(), "version": _VERSION, "sha256": DIGEST}


def _limited(part: str) -> dict[str, Integer]:
    return {name: Integer(1, largest) for name, largest in SEARCH_LIMITS[part].items()}


_CONFIG = settings_record(
    SystemConfig,
    languages=ListOf(nullable(String(pattern=LANGUAGE_CODE)), shortest=2, longest=2),
    alignment=settings_record(AlignmentConfig),
    grammar=settings_record(GrammarConfig, **_limited("grammar")),
    decoder=settings_record(DecoderConfig, **_limited("decoder")),
)
_STAGE = Record(
    {"key": _KEY, "files": MapOf(DIGEST, keys=RELATIVE_PATH, longest=1000)},
    optional={"figures": Record({}, is_open=True)},  # for people
)

SYSTEM = Document(
    "the manifest of a translation system",
    Record(
        {
            **_SIGNED,
            "kind": String(choices=(KIND,)),
            "config": _CONFIG,
            "models": ListOf(FILE_NAME, longest=MOST_MODELS),
            "stages": MapOf(_STAGE, keys=FILE_NAME, longest=100),
        }
    ),
    largest=1 << 24,
    cure=AGAIN,
    version=FORMAT,
)


def _seeds_differ(content: dict[str, Any]) -> str:
    seeds = [run["seed"] for run in content["runs"]]
    return "" if len(set(seeds)) == len(seeds) else "two runs have the same seed"


WEIGHTS_FILE = Document(
    "the weights of a translation system",
    Related(
        Record({**_SIGNED, "key": _KEY, "system": _KEY, "runs": ListOf(RUN, longest=10_000)}),
        (_seeds_differ,),
    ),
    cure="remove the file and tune again",
    version=FORMAT,
)
