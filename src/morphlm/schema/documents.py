"""JSON from outside: bounded in size and depth, without what JSON does not have, checked against a schema."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.errors import FormatError
from morphlm.files import read_regular
from morphlm.schema.values import INT64, Integer, Record, SchemaError, Value

LARGEST_DOCUMENT = 1 << 26  # bytes
DEEPEST = 64  # levels of lists and objects


@dataclass(frozen=True)
class Document:
    """A JSON file with a schema."""

    name: str  # what it is, for messages: "a record of preparation"
    value: Value
    largest: int = LARGEST_DOCUMENT  # bytes
    cure: str = "make it again"
    version: int | None = None  # what `format` in it must be

    def parse(self, raw: bytes, source: str) -> Any:
        """The checked value of some bytes; FormatError names what does not fit."""
        try:
            content = parse_json(raw, "the content")
            self.check_version(content, source)
            self.value.check(content, "the content")
        except SchemaError as problem:
            raise self.refusal(source, problem) from problem
        return content

    def check_version(self, content: Any, source: str) -> None:
        """Another version may have other fields, so it is looked at first."""
        if self.version is None:
            return
        Record({"format": Integer()}, is_open=True).check(content, "the content")
        if content["format"] != self.version:
            problem = f"format {content['format']}, this morphlm reads {self.version}"
            raise FormatError(f"{source}: {problem}; use the version that wrote it")

    def refusal(self, source: str, problem: SchemaError) -> FormatError:
        """The error for a file that is something else."""
        return FormatError(f"{source}: not {self.name} ({problem}); {self.cure}")


def read_document(path: str | Path, document: Document) -> Any:
    """Read and check a JSON file. A file that is not there raises FileNotFoundError, one that does not fit FormatError.

    Only regular files are read.
    """
    return document.parse(read_regular(path, document.largest), str(path))


def parse_json(raw: bytes, where: str) -> Any:
    """The value of JSON in UTF-8. Raises SchemaError for anything that is no JSON, too deep, or no text in Unicode."""
    try:
        content = json.loads(
            raw.decode(), parse_constant=_refuse_constant, parse_int=_parse_int, object_pairs_hook=_parse_object
        )
    except RecursionError as error:
        raise SchemaError(f"{where} is nested too deeply") from error
    except ValueError as error:
        raise SchemaError(f"{where} is no JSON ({_reason(error)})") from error
    _check_all(content, where, DEEPEST)
    return content


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    return str(error)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _parse_int(digits: str) -> int:
    if len(digits) > 20 or not -INT64 <= int(digits) < 2 * INT64:
        raise ValueError("a whole number has more than 64 bits")
    return int(digits)


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two readers of an object with a key twice could take it for two different things."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("an object has a key twice")
    return content


def _check_all(value: Any, where: str, levels: int) -> None:
    if levels == 0:
        raise SchemaError(f"{where} is nested more than {DEEPEST} levels deep")
    if isinstance(value, float) and not math.isfinite(value):  # 1e999
        raise SchemaError(f"{where} has a number that is not finite")
    if isinstance(value, str):
        _check_unicode(value, where)
    elif isinstance(value, list):
        for item in value:
            _check_all(item, where, levels - 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_unicode(key, where)
            _check_all(item, where, levels - 1)


def _check_unicode(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SchemaError(f"{where} has half of a surrogate pair, which is no character") from error
