"""What stands beside a prepared text: the record of how it was prepared."""

from __future__ import annotations

from morphlm.schema import Boolean, Document, Integer, MapOf, Number, Record, String, Value, nullable

RECORD_FORMAT = 1
LANGUAGE_CODE = r"[a-z]{2,3}"  # ISO 639
COUNT = Integer(0)
_FATES = ("kept", "empty", "too_long", "length_ratio")
COUNTS = dict.fromkeys(("lines", *_FATES, "tokens", "sentences", "lost_tokens"), COUNT)  # of `preparation.Counts`
_VERSION = String(longest=100)

LINE_STEPS: dict[str, Value] = {  # of `PrepareOptions`: what is done to a line
    "language": nullable(String(pattern=LANGUAGE_CODE)),
    "nfc": Boolean(),
    "tokeniser": String(pattern="words|moses|none"),
    "case": String(pattern="lower|keep"),
    "digits": Boolean(),
    "cyrillic_share": nullable(Number(0, 1)),
}

PREPARATION = Document(
    "a record of `morphlm prepare`",
    Record(
        {
            "format": Integer(),
            "options": Record(
                {},
                optional={
                    **LINE_STEPS,
                    **dict.fromkeys(("tokenise", "lowercase"), Boolean()),  # of version 0.1
                    "max_tokens": COUNT,
                    "long_sentences": String(pattern="split|drop"),
                },
            ),
            "counts": Record({}, optional=COUNTS),
            "bytes": COUNT,
            "repairs": MapOf(COUNT, keys=String(longest=200), longest=100),
        },
        optional={"max_ratio": nullable(Number(0)), "version": _VERSION, "sacremoses": nullable(_VERSION)},
    ),
    largest=1 << 16,
    cure="prepare the text again",
    version=RECORD_FORMAT,
)
