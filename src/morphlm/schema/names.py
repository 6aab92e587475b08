"""Texts that many schemas share: digests, names of files, and what is shown in a message."""

from __future__ import annotations

from morphlm.schema.values import String

_PRINTABLE = r"[^\x00-\x1f\x7f-\x9f]"  # no control characters, which a terminal would obey
_SEGMENT = r"(?!\.{1,2}(?:/|$))[^\x00-\x1f\x7f-\x9f/]{1,255}"  # of a path; not up and not out

DIGEST = String(pattern="[0-9a-f]{64}")  # SHA-256
FILE_NAME = String(pattern=_SEGMENT)  # without a path, so that it stays in its folder
RELATIVE_PATH = String(pattern=f"{_SEGMENT}(?:/{_SEGMENT}){{0,15}}", longest=4095)  # downwards only
SHOWN_TEXT = String(pattern=f"{_PRINTABLE}{{0,1000}}")
