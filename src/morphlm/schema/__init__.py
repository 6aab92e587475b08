"""What every artefact must look like, declared once and checked before anything of it reaches a kernel.

An artefact may come from a stranger: its hashes are right, its content may be anything. A *schema* says which JSON
values, tensors and texts it has, with types, ranges and the relations between their sizes (`values`, `tensors`,
`artefact`). `modelfile` checks every directory against the schema of its kind; `documents` checks single JSON files. A
module named `schema` in each folder declares those of its artefacts; the tests forge every field of all of them.
"""

from __future__ import annotations

from morphlm.schema.artefact import ArtefactSchema, Contents, JsonText, Text
from morphlm.schema.documents import Document, parse_json, read_document
from morphlm.schema.names import DIGEST, FILE_NAME, RELATIVE_PATH, SHOWN_TEXT
from morphlm.schema.records import settings_record
from morphlm.schema.tensors import Tensor, TensorLayout, check_layout, check_values
from morphlm.schema.values import (
    Anything,
    Boolean,
    Integer,
    ListOf,
    MapOf,
    Null,
    Number,
    OneOf,
    Record,
    Related,
    SchemaError,
    String,
    TupleOf,
    Value,
    nullable,
)

__all__ = [
    "DIGEST",
    "FILE_NAME",
    "RELATIVE_PATH",
    "SHOWN_TEXT",
    "Anything",
    "ArtefactSchema",
    "Boolean",
    "Contents",
    "Document",
    "Integer",
    "JsonText",
    "ListOf",
    "MapOf",
    "Null",
    "Number",
    "OneOf",
    "Record",
    "Related",
    "SchemaError",
    "String",
    "Tensor",
    "TensorLayout",
    "Text",
    "TupleOf",
    "Value",
    "check_layout",
    "check_values",
    "nullable",
    "parse_json",
    "read_document",
    "settings_record",
]
