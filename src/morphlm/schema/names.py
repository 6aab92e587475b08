"""Texts that many schemas share: digests, names of files, and what is shown in a message."""

from __future__ import annotations

from morphlm.schema.values import String

# Control characters, which a terminal would obey; ends of lines; marks that turn the direction of a text around.
_UNSHOWN = r"\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_SEGMENT = rf"(?!\.{{1,2}}(?:/|$))[^/{_UNSHOWN}]{{1,255}}"  # of a path; not up and not out

DIGEST = String(pattern="[0-9a-f]{64}")  # SHA-256
FILE_NAME = String(pattern=_SEGMENT)  # without a path, so that it stays in its folder
RELATIVE_PATH = String(pattern=f"{_SEGMENT}(?:/{_SEGMENT}){{0,15}}", longest=4095)  # downwards only
SHOWN_TEXT = String(pattern=f"[^{_UNSHOWN}]{{0,1000}}")  # for messages
