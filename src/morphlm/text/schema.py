"""What stands beside a prepared text: the record of how it was prepared."""

from __future__ import annotations

from morphlm.schema import Boolean, Document, Integer, MapOf, Number, Record, String, nullable

RECORD_FORMAT = 1
LANGUAGE_CODE = r"[a-z]{2,3}"  # ISO 639
COUNT = Integer(0)
COUNTS = dict.fromkeys(("lines", "kept", "empty", "too_long", "length_ratio", "tokens"), COUNT)  # of `prepare.Counts`
_VERSION = String(longest=100)

PREPARATION = Document(
    "a record of `morphlm prepare`",
    Record(
        {
            "format": Integer(),
            "options": Record(
                {},
                optional={
                    "language": nullable(String(pattern=LANGUAGE_CODE)),
                    **dict.fromkeys(("nfc", "tokenise", "lowercase", "digits"), Boolean()),
                    "max_tokens": COUNT,
                    "cyrillic_share": nullable(Number(0, 1)),
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
