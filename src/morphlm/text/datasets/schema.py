"""What is written beside data: the description of a data set, and the record of a file that was received."""

from __future__ import annotations

from morphlm.schema import (
    DIGEST,
    FILE_NAME,
    SHOWN_TEXT,
    Boolean,
    Document,
    Integer,
    ListOf,
    MapOf,
    Null,
    Number,
    OneOf,
    Record,
    String,
)

FORMAT_VERSION = 1

DATASET = Document(
    "a description of a data set",
    Record(
        {
            "format": Integer(),
            "name": FILE_NAME,
            "languages": ListOf(FILE_NAME, shortest=1, longest=2),
            "options": MapOf(
                OneOf((Null(), Boolean(), Number(), SHOWN_TEXT, MapOf(SHOWN_TEXT, longest=1000))),
                keys=FILE_NAME,
                longest=100,
            ),
            "licence": String(longest=1000),
            "source": Record({}, is_open=True),
            "files": MapOf(
                Record({"sha256": DIGEST, "lines": Integer(0), "words": Integer(0)}), keys=FILE_NAME, longest=1000
            ),
        }
    ),
    largest=1 << 20,
    cure="remove the folder and get it again",
    version=FORMAT_VERSION,
)

RECEIVED = Document(
    "a record of a file that was received",
    Record({"size": Integer(0), "sha256": DIGEST}),
    largest=1 << 12,
    cure="remove it",
)
