"""Control characters in what a terminal shows: words of a text or model must not move the cursor or hide other text."""

from __future__ import annotations

# C0 but for tab and newline, DEL, C1, the marks that change the direction of text, and bytes of C1 that are no UTF-8.
CONTROLS = (
    *(code for code in range(0x20) if code not in (0x09, 0x0A)),
    *range(0x7F, 0xA0),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_ESCAPES = {
    **{code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in CONTROLS},
    **{0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0xA0)},
}


def escaped(text: str) -> str:
    """The text with its control characters written out: `\\x1b`; newlines and tabs stay."""
    return text if text.isprintable() else text.translate(_ESCAPES)
